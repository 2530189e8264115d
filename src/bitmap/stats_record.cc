#include "bitmap/stats_record.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "bitmap/faults.h"

namespace cadastre::bitmap {
namespace {

constexpr std::byte kVersion{1};
constexpr std::size_t kCardinalityAt = 1;
constexpr std::size_t kSegmentsAt = 9;
constexpr std::size_t kValueBytesAt = 13;

}  // namespace

std::array<std::byte, kStatsRecordBytes> encode_stats(const StatsRecord& record) noexcept {
  std::array<std::byte, kStatsRecordBytes> bytes{};
  bytes[0] = kVersion;
  base::store_le(&bytes[kCardinalityAt], record.cardinality);
  base::store_le(&bytes[kSegmentsAt], record.segments);
  base::store_le(&bytes[kValueBytesAt], record.value_bytes);
  return bytes;
}

base::Result<StatsRecord, RecordFault> decode_stats(base::ByteView bytes) {
  if (bytes.size() != kStatsRecordBytes) return base::fail(RecordFault::kBadLength);
  if (bytes[0] != kVersion) return base::fail(RecordFault::kUnsupported);
  return StatsRecord{.cardinality = base::load_le<std::uint64_t>(&bytes[kCardinalityAt]),
                     .segments = base::load_le<std::uint32_t>(&bytes[kSegmentsAt]),
                     .value_bytes = base::load_le<std::uint64_t>(&bytes[kValueBytesAt])};
}

}  // namespace cadastre::bitmap
