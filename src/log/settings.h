// What an operator may set of the log. The defaults are the specification's; limits.h says why.

#pragma once

#include <chrono>
#include <cstdint>

#include "log/limits.h"

namespace cadastre::log {

struct RetentionSettings {
  std::chrono::nanoseconds truncate_every = kTruncateEvery;
  std::uint64_t truncate_bytes_min = kTruncateBytesMin;
  std::uint64_t truncate_entries_min = kTruncateEntriesMin;
  std::uint64_t unflushed_bytes_max = kUnflushedBytesMax;
  std::chrono::nanoseconds unflushed_age_max = kUnflushedAgeMax;
};

struct Settings {
  RetentionSettings retention;
  std::uint64_t log_bytes_max = kLogBytesMax;
  std::chrono::nanoseconds housekeeping_every = kHousekeepingEvery;
};

}  // namespace cadastre::log
