// Canonical bytes and what is hashed from them: derived shard ids and payload hashes.
//
// Integers are little-endian and bare; byte strings have a u32 length before them; optional fields a
// presence byte 0 or 1; a 32-byte array is bare. BLAKE3 in derive-key mode with one context for
// each use, cut to its first 8 bytes read as a little-endian integer. The context strings and the
// bytes under them are fixed: stored records and published values depend on them.
//
// Everything here is a pure function and allocates nothing (a manifest's hash apart).

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/attributes.h"
#include "base/blake3.h"
#include "base/bytes.h"
#include "coord/identity.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/manifest.h"
#include "shard/shard_spec.h"
#include "shard/split_plan.h"

namespace cadastre::coord {

using shard::CursorUpdate;
using shard::InitialShardInput;
using shard::ShardSpecRef;
using shard::SplitReplacePlan;
using shard::SplitResidualPlan;

inline constexpr std::string_view kSplitIdDomain = "gossip/coord/v1/split-id";
inline constexpr std::string_view kOpPayloadDomain = "gossip/coord/v1/op-payload";
inline constexpr std::array kHashDomains{kSplitIdDomain, kOpPayloadDomain};

// Collects short fields and hands them to the hash in one piece.
class CanonicalHasher {
 public:
  // Borrows the context.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): only the first used_ bytes are read
  explicit CanonicalHasher(const base::Blake3Context& context CAD_LIFETIMEBOUND) noexcept
      : context_(&context) {}

  void raw(ByteView bytes) noexcept;
  void u8(std::uint8_t value) noexcept { integer(value); }
  void u32(std::uint32_t value) noexcept { integer(value); }
  void u64(std::uint64_t value) noexcept { integer(value); }
  void str(ByteView bytes) noexcept;  // at most 2^32 - 1 bytes
  void cursor(const CursorUpdate& cursor) noexcept;
  void spec(const ShardSpecRef& spec) noexcept;

  [[nodiscard]] base::Blake3Digest finalize_32() noexcept;
  [[nodiscard]] std::uint64_t finalize_64() noexcept;

 private:
  static constexpr std::size_t kPendingMax = 1024;  // what a context hashes at once

  template <class T>
  void integer(T value) noexcept {
    if (sizeof value > pending_.size() - used_) flush();
    base::store_le(pending_.data() + used_, value);
    used_ += sizeof value;
  }
  void flush() noexcept;

  const base::Blake3Context* context_;
  std::optional<base::Blake3Hasher> stream_;  // once there are more than kPendingMax bytes
  std::size_t used_ = 0;
  std::array<std::byte, kPendingMax> pending_;
};

[[nodiscard]] CanonicalHasher split_id_hasher() noexcept;
[[nodiscard]] CanonicalHasher op_payload_hasher() noexcept;

// What a split's new shard is called. `index` is its place in the parent's list of spawned shards.
struct DerivedShardSource {
  RunId run;
  ShardId parent;
  OpId op;
  DerivedShardKind kind = DerivedShardKind::kChild;
  std::uint32_t index = 0;
};
[[nodiscard]] ShardId derive_split_shard_id(const DerivedShardSource& source) noexcept;

// Never 0, which stands for "no hash". Equal requests have equal hashes; requests of different kinds
// differ by their tag.
[[nodiscard]] std::uint64_t hash_checkpoint(const CursorUpdate& cursor) noexcept;
[[nodiscard]] std::uint64_t hash_complete(const CursorUpdate& cursor) noexcept;
[[nodiscard]] std::uint64_t hash_release(const CursorUpdate& cursor) noexcept;
[[nodiscard]] std::uint64_t hash_park(ParkReason reason) noexcept;
[[nodiscard]] std::uint64_t hash_split_replace(const SplitReplacePlan& plan) noexcept;
[[nodiscard]] std::uint64_t hash_split_residual(const SplitResidualPlan& plan) noexcept;
[[nodiscard]] std::uint64_t hash_unpark(const ShardKey& key) noexcept;
// Of the rows in the order of their ids, whatever their order is here.
[[nodiscard]] std::uint64_t hash_register(std::span<const InitialShardInput> shards);
[[nodiscard]] std::uint64_t hash_run_transition(RunOpKind kind) noexcept;

// 0 becomes 1.
[[nodiscard]] constexpr std::uint64_t nonzero_hash(std::uint64_t hash) noexcept {
  return hash == 0 ? 1 : hash;
}

}  // namespace cadastre::coord
