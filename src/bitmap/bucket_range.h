// Keys by bucket (bucket_key.h), as a table's records hold them: which buckets of a key there are, and
// how all keys of a stretch of buckets go.
//
// Both walk what exists, never the numbers between: one lookup for each bucket that is present.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/bucket_key.h"
#include "bitmap/error.h"
#include "kv/kv.h"

namespace cadastre::bitmap {

// Of one call: each is an operand of a union.
inline constexpr std::size_t kBucketsMax = 4096;

// Ascending. kBadRange if the range is empty, kKeyTooLong, kTooManyBuckets.
[[nodiscard]] Result<std::vector<std::uint64_t>, Error> find_buckets(kv::Cursor& cursor,
                                                                     ByteView key,
                                                                     BucketRange range);

// Every base key of these buckets, whatever its own part. One stroke for each length of keys.
[[nodiscard]] Result<void, Error> erase_bucket_records(kv::Writer& writer,
                                                       kv::Cursor& cursor,
                                                       BucketRange range);

}  // namespace cadastre::bitmap
