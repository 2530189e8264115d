// StatsRecord: the counts of one shard of one key (2.5). It exists for shards of two or more
// segments; it counts data and is never used to find it.
//
//   offset  size  field          integers are little-endian
//        0     1  version        1
//        1     8  cardinality
//        9     4  segments
//       13     8  value_bytes    stored bytes, checksums included

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/faults.h"

namespace cadastre::bitmap {

struct StatsRecord {
  std::uint64_t cardinality = 0;
  std::uint32_t segments = 0;
  std::uint64_t value_bytes = 0;

  friend bool operator==(const StatsRecord&, const StatsRecord&) = default;
};

inline constexpr std::size_t kStatsRecordBytes = 21;

[[nodiscard]] std::array<std::byte, kStatsRecordBytes> encode_stats(
    const StatsRecord& record) noexcept;
[[nodiscard]] base::Result<StatsRecord, RecordFault> decode_stats(base::ByteView bytes);

}  // namespace cadastre::bitmap
