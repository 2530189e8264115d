// Config: the settings that a table's descriptor keeps (2.7).

#pragma once

#include <cstdint>

#include "bitmap/limits.h"

namespace cadastre::bitmap {

enum class Stats : std::uint8_t {
  kNone,
  kKept,  // A record of counts for every shard of two or more segments.
};

struct Config {
  std::uint16_t shard_count = kShardCountMin;
  std::uint8_t shard_grain_bits = 16;
  std::uint32_t segment_bytes_max = kSegmentBytesDefault;
  Stats stats = Stats::kKept;

  friend bool operator==(const Config&, const Config&) = default;
};

// Whether every setting lies in its range (B-16). What a backend adds to this it checks itself.
[[nodiscard]] constexpr bool in_range(const Config& config) noexcept {
  return config.shard_count >= kShardCountMin && config.shard_grain_bits <= kShardGrainBitsMax &&
         config.segment_bytes_max >= kSegmentBytesLeast &&
         config.segment_bytes_max <= kSegmentBytesMost;
}

}  // namespace cadastre::bitmap
