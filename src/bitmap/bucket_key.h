// BucketKey: a base key for each stretch of a sequence, such as an hour (8).
//
//   bucket key   u64_be bucket || key         bucket = sequence / bucket size
//
// A set that is kept by bucket can be read between two points of the sequence without looking at the
// rest, and old buckets go in one stroke. Buckets of one key sort by number under plain byte order.
//
//   const Buckets hours{3600};
//   CAD_TRY(table.insert(CAD_TRY(bucket_key(hours.of(now), as_bytes("red"))), Id{42}));
//
// Everything here is pure; bucket_stream.h reads.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/faults.h"
#include "bitmap/key_codec.h"
#include "bitmap/limits.h"

namespace cadastre::bitmap {

inline constexpr std::size_t kBucketBytes = sizeof(std::uint64_t);
inline constexpr std::size_t kBucketedKeyBytesMax = kBaseKeyBytesMax - kBucketBytes;

// Closed at both ends.
struct BucketRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  friend bool operator==(const BucketRange&, const BucketRange&) = default;
};

// Points of a sequence, closed at both ends: the greatest number is a legal one.
struct SequenceRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

// How a sequence is cut; the same for as long as the data lives.
class Buckets {
 public:
  // Nothing for a size of 0.
  [[nodiscard]] static constexpr std::optional<Buckets> of_size(std::uint64_t size) noexcept {
    return size == 0 ? std::nullopt : std::optional(Buckets(size));
  }

  [[nodiscard]] constexpr std::uint64_t of(std::uint64_t sequence) const noexcept {
    return sequence / size_;
  }
  // Those that hold some of the range. Its ends share their buckets with what lies outside of it.
  [[nodiscard]] constexpr BucketRange covering(SequenceRange range) const noexcept {
    return {of(range.first), of(range.last)};
  }
  [[nodiscard]] constexpr std::uint64_t size() const noexcept { return size_; }

 private:
  explicit constexpr Buckets(std::uint64_t size) noexcept : size_(size) {}

  std::uint64_t size_;
};

// kTooLong above kBucketedKeyBytesMax.
[[nodiscard]] Result<StoredKey, KeyFault> bucket_key(std::uint64_t bucket, ByteView key);

// Borrows the key.
struct BucketedKey {
  std::uint64_t bucket = 0;
  ByteView key;
};
// kTruncated for a base key that is shorter than a bucket number.
[[nodiscard]] Result<BucketedKey, KeyFault> decode_bucket_key(ByteView base_key CAD_LIFETIMEBOUND);

}  // namespace cadastre::bitmap
