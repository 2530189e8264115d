// Descriptor: a table's settings as stored (2.6). Written when a table is created, compared whenever
// it is opened.
//
//   offset  size  field
//        0     8  magic "cadbmtbl"
//        8     1  layout             2 = ranged
//        9     1  flags              bit 0: statistics are kept; other bits are zero
//       10     2  shard_count        little-endian, 1..65535
//       12     1  shard_grain_bits   0..48
//       13     1  hash               1 = XXH3 of the concatenation (B-11)
//       14     2  zero
//       16     4  segment_bytes_max  little-endian
//       20     4  zero
//       24     8  XXH3_64bits of bytes 0..23, little-endian

#pragma once

#include <array>
#include <cstddef>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/config.h"
#include "bitmap/faults.h"

namespace cadastre::bitmap {

inline constexpr std::size_t kDescriptorBytes = 32;

// `config` is in range.
[[nodiscard]] std::array<std::byte, kDescriptorBytes> encode_descriptor(
    const Config& config) noexcept;

// Whatever this accepts, encode_descriptor writes the same way.
[[nodiscard]] base::Result<Config, RecordFault> decode_descriptor(base::ByteView bytes);

}  // namespace cadastre::bitmap
