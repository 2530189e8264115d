#include "bitmap/bucket_key.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/endian.h"
#include "base/result.h"
#include "bitmap/faults.h"
#include "bitmap/key_codec.h"

namespace cadastre::bitmap {

Result<StoredKey, KeyFault> bucket_key(std::uint64_t bucket, ByteView key) {
  if (key.size() > kBucketedKeyBytesMax) return base::fail(KeyFault::kTooLong);
  std::array<std::byte, kBucketBytes> number{};
  base::store_be(number.data(), bucket);
  StoredKey bucketed;
  bucketed.append(number);
  bucketed.append(key);
  return bucketed;
}

Result<BucketedKey, KeyFault> decode_bucket_key(ByteView base_key) {
  if (base_key.size() < kBucketBytes) return base::fail(KeyFault::kTruncated);
  return BucketedKey{base::load_be<std::uint64_t>(base_key.data()), base_key.subspan(kBucketBytes)};
}

}  // namespace cadastre::bitmap
