#include "bitmap/descriptor.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "base/endian.h"
#include "base/result.h"
#include "base/xxh3.h"
#include "bitmap/config.h"
#include "bitmap/faults.h"

namespace cadastre::bitmap {
namespace {

constexpr std::string_view kMagic = "cadbmtbl";
constexpr std::uint8_t kLayoutRanged = 2;
constexpr std::uint8_t kHashConcatenated = 1;
constexpr std::uint8_t kFlagStats = 1;

constexpr std::size_t kLayoutAt = 8;
constexpr std::size_t kFlagsAt = 9;
constexpr std::size_t kShardCountAt = 10;
constexpr std::size_t kShardGrainBitsAt = 12;
constexpr std::size_t kHashAt = 13;
constexpr std::size_t kFirstZeroAt = 14;
constexpr std::size_t kSegmentBytesMaxAt = 16;
constexpr std::size_t kSecondZeroAt = 20;
constexpr std::size_t kChecksumAt = 24;

std::uint8_t byte_at(base::ByteView bytes, std::size_t at) noexcept {
  return std::to_integer<std::uint8_t>(bytes[at]);
}

}  // namespace

std::array<std::byte, kDescriptorBytes> encode_descriptor(const Config& config) noexcept {
  CAD_CHECK(in_range(config), "settings are checked before a table is created");
  std::array<std::byte, kDescriptorBytes> bytes{};
  std::ranges::copy(base::as_bytes(kMagic), bytes.begin());
  bytes[kLayoutAt] = std::byte{kLayoutRanged};
  bytes[kFlagsAt] = std::byte{config.stats == Stats::kKept ? kFlagStats : std::uint8_t{0}};
  base::store_le(&bytes[kShardCountAt], config.shard_count);
  bytes[kShardGrainBitsAt] = std::byte{config.shard_grain_bits};
  bytes[kHashAt] = std::byte{kHashConcatenated};
  base::store_le(&bytes[kSegmentBytesMaxAt], config.segment_bytes_max);
  base::store_le(&bytes[kChecksumAt], base::xxh3_64(base::ByteView(bytes).first(kChecksumAt)));
  return bytes;
}

base::Result<Config, RecordFault> decode_descriptor(base::ByteView bytes) {
  if (bytes.size() != kDescriptorBytes) return base::fail(RecordFault::kBadLength);
  if (base::as_text(bytes.first(kMagic.size())) != kMagic)
    return base::fail(RecordFault::kBadMagic);
  if (base::load_le<std::uint64_t>(&bytes[kChecksumAt]) !=
      base::xxh3_64(bytes.first(kChecksumAt))) {
    return base::fail(RecordFault::kBadChecksum);
  }
  const std::uint8_t flags = byte_at(bytes, kFlagsAt);
  if (byte_at(bytes, kLayoutAt) != kLayoutRanged || byte_at(bytes, kHashAt) != kHashConcatenated ||
      (flags & ~kFlagStats) != 0) {
    return base::fail(RecordFault::kUnsupported);
  }
  if (base::load_le<std::uint16_t>(&bytes[kFirstZeroAt]) != 0 ||
      base::load_le<std::uint32_t>(&bytes[kSecondZeroAt]) != 0) {
    return base::fail(RecordFault::kNotZero);
  }
  const Config config{.shard_count = base::load_le<std::uint16_t>(&bytes[kShardCountAt]),
                      .shard_grain_bits = byte_at(bytes, kShardGrainBitsAt),
                      .segment_bytes_max = base::load_le<std::uint32_t>(&bytes[kSegmentBytesMaxAt]),
                      .stats = flags == kFlagStats ? Stats::kKept : Stats::kNone};
  if (!in_range(config)) return base::fail(RecordFault::kOutOfRange);
  return config;
}

}  // namespace cadastre::bitmap
