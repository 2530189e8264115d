// The small records of bitmap tables: whatever decodes encodes to itself. A descriptor is run as given
// and with its checksum made right.

#include <cstddef>

#include "base/bytes.h"
#include "base/check.h"
#include "base/endian.h"
#include "base/xxh3.h"
#include "bitmap/config.h"
#include "bitmap/descriptor.h"
#include "bitmap/faults.h"
#include "bitmap/stats_record.h"
#include "fuzz/target.h"

namespace cadastre::fuzz {
namespace {

constexpr std::size_t kSummedBytes = 24;

void check_descriptor(base::ByteView bytes) {
  const auto config = bitmap::decode_descriptor(bytes);
  if (!config) {
    CAD_CHECK(name(config.error().code) != "unknown", "a fault has a name");
    return;
  }
  CAD_CHECK(in_range(*config), "settings are in range");
  CAD_CHECK(base::equal(encode_descriptor(*config), bytes), "a descriptor has one encoding");
}

}  // namespace

void run_one(base::ByteView input) {
  check_descriptor(input);
  if (input.size() >= bitmap::kDescriptorBytes) {
    base::Bytes bytes = base::to_owned(input.first(bitmap::kDescriptorBytes));
    base::store_le(&bytes[kSummedBytes], base::xxh3_64(base::ByteView(bytes).first(kSummedBytes)));
    check_descriptor(bytes);
  }
  const auto stats = bitmap::decode_stats(input);
  if (stats) CAD_CHECK(base::equal(encode_stats(*stats), input), "statistics have one encoding");
}

}  // namespace cadastre::fuzz
