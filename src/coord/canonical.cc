#include "coord/canonical.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/blake3.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/endian.h"
#include "coord/identity.h"
#include "coord/states.h"
#include "shard/limits.h"
#include "shard/split_plan.h"

namespace cadastre::coord {

void CanonicalHasher::raw(ByteView bytes) noexcept {
  if (bytes.size() > pending_.size() - used_) {
    flush();
    if (bytes.size() > pending_.size()) {
      stream_->update(bytes);
      return;
    }
  }
  if (!bytes.empty()) std::memcpy(pending_.data() + used_, bytes.data(), bytes.size());
  used_ += bytes.size();
}

void CanonicalHasher::flush() noexcept {
  if (!stream_) stream_.emplace(context_->hasher());
  stream_->update(ByteView(pending_).first(used_));
  used_ = 0;
}

void CanonicalHasher::str(ByteView bytes) noexcept {
  CAD_CHECK(bytes.size() <= std::numeric_limits<std::uint32_t>::max(),
            "a hashed string is shorter than 4 GiB");
  u32(static_cast<std::uint32_t>(bytes.size()));
  raw(bytes);
}

void CanonicalHasher::cursor(const CursorUpdate& cursor) noexcept {
  const auto field = [this](std::optional<ByteView> bytes) {
    u8(bytes ? 1 : 0);
    if (bytes) str(*bytes);
  };
  field(cursor.last_key());
  field(cursor.token());
}

void CanonicalHasher::spec(const ShardSpecRef& spec) noexcept {
  str(spec.start());
  str(spec.end());
  str(spec.metadata());
}

base::Blake3Digest CanonicalHasher::finalize_32() noexcept {
  if (!stream_) return context_->hash(ByteView(pending_).first(used_));
  flush();
  return stream_->finalize();
}

std::uint64_t CanonicalHasher::finalize_64() noexcept {
  return base::load_le<std::uint64_t>(finalize_32().data());
}

CanonicalHasher split_id_hasher() noexcept {
  static const base::Blake3Context kContext(kSplitIdDomain);
  return CanonicalHasher(kContext);
}

CanonicalHasher op_payload_hasher() noexcept {
  static const base::Blake3Context kContext(kOpPayloadDomain);
  return CanonicalHasher(kContext);
}

ShardId derive_split_shard_id(const DerivedShardSource& source) noexcept {
  auto hasher = split_id_hasher();
  hasher.u64(source.run.raw());
  hasher.u64(source.parent.raw());
  hasher.u64(source.op.raw());
  hasher.u8(static_cast<std::uint8_t>(source.kind));
  hasher.u32(source.index);
  return ShardId::from_raw(hasher.finalize_64() | shard::kDerivedShardBit);
}

namespace {

CanonicalHasher tagged(std::string_view tag) noexcept {
  auto hasher = op_payload_hasher();
  hasher.raw(base::as_bytes(tag));
  return hasher;
}

std::uint64_t hash_cursor(std::string_view tag, const CursorUpdate& cursor) noexcept {
  auto hasher = tagged(tag);
  hasher.cursor(cursor);
  return nonzero_hash(hasher.finalize_64());
}

template <class Plan>
std::uint64_t hash_plan(std::string_view tag, const Plan& plan) noexcept {
  auto hasher = tagged(tag);
  shard::visit_canonical_bytes(plan, [&hasher](ByteView piece) { hasher.raw(piece); });
  return nonzero_hash(hasher.finalize_64());
}

std::string_view transition_tag(RunOpKind kind) noexcept {
  CAD_CHECK(kind != RunOpKind::kRegisterShards, "a registration is hashed with its manifest");
  return name(kind);
}

}  // namespace

std::uint64_t hash_checkpoint(const CursorUpdate& cursor) noexcept {
  return hash_cursor("checkpoint", cursor);
}

std::uint64_t hash_complete(const CursorUpdate& cursor) noexcept {
  return hash_cursor("complete", cursor);
}

std::uint64_t hash_release(const CursorUpdate& cursor) noexcept {
  return hash_cursor("release", cursor);
}

std::uint64_t hash_park(ParkReason reason) noexcept {
  auto hasher = tagged("park");
  hasher.u8(static_cast<std::uint8_t>(reason));
  return nonzero_hash(hasher.finalize_64());
}

std::uint64_t hash_split_replace(const SplitReplacePlan& plan) noexcept {
  return hash_plan("split_replace", plan);
}

std::uint64_t hash_split_residual(const SplitResidualPlan& plan) noexcept {
  return hash_plan("split_residual", plan);
}

std::uint64_t hash_unpark(const ShardKey& key) noexcept {
  auto hasher = tagged("unpark_shard");
  hasher.u64(key.run.raw());
  hasher.u64(key.shard.raw());
  return nonzero_hash(hasher.finalize_64());
}

std::uint64_t hash_register(std::span<const InitialShardInput> shards) {
  std::vector<std::uint32_t> order(shards.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t index) {
    return std::pair(shards[index].shard, index);  // equal ids in the caller's order
  });
  auto hasher = tagged("register_shards");
  hasher.u32(static_cast<std::uint32_t>(shards.size()));
  for (const std::uint32_t index : order) {
    hasher.u64(shards[index].shard.raw());
    hasher.spec(shards[index].spec);
    hasher.cursor(shards[index].cursor);
  }
  return nonzero_hash(hasher.finalize_64());
}

std::uint64_t hash_run_transition(RunOpKind kind) noexcept {
  return nonzero_hash(tagged(transition_tag(kind)).finalize_64());
}

}  // namespace cadastre::coord
