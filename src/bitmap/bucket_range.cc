#include "bitmap/bucket_range.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "bitmap/bucket_key.h"
#include "bitmap/error.h"
#include "bitmap/key_codec.h"
#include "bitmap/key_cursor.h"
#include "bitmap/limits.h"
#include "bitmap/stored.h"
#include "kv/kv.h"

namespace cadastre::bitmap {
namespace {

Result<void, Error> check_range(BucketRange range) {
  if (range.last < range.first) return base::fail(misuse(Misuse::kBadRange));
  return {};
}

// The record of this key's bucket, or of whatever comes first behind it.
StoredKey place_of(std::uint64_t bucket, ByteView key) {
  const auto base_key = bucket_key(bucket, key);
  CAD_CHECK(base_key.has_value(), "lengths are checked before places are made");
  return key_prefix(*base_key);
}

// The first bucket at or behind `from` in which this key may be; nothing if no record of keys of this
// length follows.
Result<std::optional<BucketedKey>, Error> look_from(kv::Cursor& cursor,
                                                    ByteView key,
                                                    std::uint64_t from) {
  const auto entry = CAD_TRY(stored(cursor.seek_ceiling(place_of(from, key))));
  if (!entry) return std::nullopt;
  const auto owner = CAD_TRY(owner_of(entry->key));
  if (!owner || owner->base_key.size() != kBucketBytes + key.size()) return std::nullopt;
  const auto found = decode_bucket_key(owner->base_key);
  CAD_CHECK(found.has_value(), "it is as long as a bucket and a key");
  return *found;
}

}  // namespace

Result<std::vector<std::uint64_t>, Error> find_buckets(kv::Cursor& cursor,
                                                       ByteView key,
                                                       BucketRange range) {
  CAD_TRY(check_range(range));
  if (key.size() > kBucketedKeyBytesMax) return base::fail(misuse(Misuse::kKeyTooLong));
  std::vector<std::uint64_t> buckets;
  for (std::uint64_t from = range.first;;) {
    const auto found = CAD_TRY(look_from(cursor, key, from));
    if (!found || found->bucket > range.last) return buckets;
    const auto order = base::compare(found->key, key);
    if (order < 0) {  // Another key of that bucket, before ours: look there again.
      from = found->bucket;
      continue;
    }
    if (order == 0) {
      if (buckets.size() == kBucketsMax) return base::fail(misuse(Misuse::kTooManyBuckets));
      buckets.push_back(found->bucket);
    }
    if (found->bucket == range.last) return buckets;
    from = found->bucket + 1;
  }
}

Result<void, Error> erase_bucket_records(kv::Writer& writer,
                                         kv::Cursor& cursor,
                                         BucketRange range) {
  CAD_TRY(check_range(range));
  const auto first = bucket_key(range.first, {});
  const auto last = bucket_key(range.last, {});
  CAD_CHECK(first && last, "a bucket alone is a short key");
  for (std::size_t bytes = kBucketBytes; bytes <= kBaseKeyBytesMax;) {
    const auto entry = CAD_TRY(stored(cursor.seek_ceiling(listing_prefix(bytes, *first))));
    const auto owner = entry ? CAD_TRY(owner_of(entry->key)) : std::nullopt;
    if (!owner) return {};
    if (owner->base_key.size() != bytes) {  // No more of this length.
      bytes = owner->base_key.size();
      continue;
    }
    const auto end = prefix_end(listing_prefix(bytes, *last));
    CAD_CHECK(end.has_value(), "a key's length is never all ones");
    CAD_TRY(stored(writer.erase_range(listing_prefix(bytes, *first), *end)));
    ++bytes;
  }
  return {};
}

}  // namespace cadastre::bitmap
