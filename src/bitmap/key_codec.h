// Keys of a table: its records in one ordered key space (2.1), and the shard of an id (2.2).
//
//   segment     u32_be key_len || base_key || u16_be shard || u64_be fence
//   stats       u32_be key_len || base_key || u16_be shard
//   key prefix  u32_be key_len || base_key               every record of one base key
//   descriptor  ff ff ff ff || "descriptor"              behind everything else
//   rolled      u32_be key_len || base_key || u16_be shard || u16_be segment    read by the importer
//
// key_len is the exact length of base_key and at most kBaseKeyBytesMax (B-7). A stats key sorts
// directly before the segments of its shard (B-8). A rolled key differs from every other in length.
//
// Whoever builds a key has checked its base key with check_base_key. Everything here is pure.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"

namespace cadastre::bitmap {

using base::ByteView;
using base::Result;

// A key that owns its bytes, without the heap.
class StoredKey {
 public:
  [[nodiscard]] ByteView view() const noexcept CAD_LIFETIMEBOUND {
    return ByteView(bytes_).first(size_);
  }
  // NOLINTNEXTLINE(google-explicit-constructor): a key is its bytes
  operator ByteView() const noexcept CAD_LIFETIMEBOUND { return view(); }

  void append(ByteView bytes) noexcept;

 private:
  std::array<std::byte, kStoredKeyBytesMax> bytes_{};
  std::size_t size_ = 0;
};

// kTooLong, or nothing to say (B-18).
[[nodiscard]] Result<void, KeyFault> check_base_key(ByteView base_key);

[[nodiscard]] StoredKey segment_key(ByteView base_key, Shard shard, Id fence) noexcept;
[[nodiscard]] StoredKey rolled_segment_key(ByteView base_key,
                                           Shard shard,
                                           std::uint16_t segment) noexcept;
// Also the prefix of all records of one shard.
[[nodiscard]] StoredKey stats_key(ByteView base_key, Shard shard) noexcept;
[[nodiscard]] StoredKey key_prefix(ByteView base_key) noexcept;
// Where keys of one length that begin with `start` are (B-10). `start` is at most that long.
[[nodiscard]] StoredKey listing_prefix(std::size_t base_key_bytes, ByteView start) noexcept;
[[nodiscard]] StoredKey descriptor_key() noexcept;

// The least key above every key that begins with `prefix`, or nothing if there is none (B-9).
[[nodiscard]] std::optional<StoredKey> prefix_end(ByteView prefix) noexcept;

// ---- Decoding --------------------------------------------------------------------------------

// Base keys are borrowed from the decoded bytes.
struct SegmentKey {
  ByteView base_key;
  Shard shard;
  Id fence;
};
struct StatsKey {
  ByteView base_key;
  Shard shard;
};
struct RolledSegmentKey {
  ByteView base_key;
  Shard shard;
  std::uint16_t segment = 0;
};
struct DescriptorKey {};

using DecodedKey = std::variant<SegmentKey, StatsKey, RolledSegmentKey, DescriptorKey>;

[[nodiscard]] Result<DecodedKey, KeyFault> decode_key(ByteView key CAD_LIFETIMEBOUND);

// ---- Shards ----------------------------------------------------------------------------------

// How ids spread over shards; fixed when a table is created.
struct ShardRule {
  std::uint16_t count = 1;       // 1..65535
  std::uint8_t grain_bits = 16;  // 0..48: ids that agree above these bits share a shard
};

// XXH3 of base_key || u64_be(id >> grain_bits).
[[nodiscard]] std::uint64_t shard_hash(ByteView base_key, Id id, std::uint8_t grain_bits) noexcept;

// shard_hash mod count; not computed for a single shard (B-11).
[[nodiscard]] Shard choose_shard(ByteView base_key, Id id, ShardRule rule) noexcept;

}  // namespace cadastre::bitmap
