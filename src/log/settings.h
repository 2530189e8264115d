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

// Of replicated groups (5.3). A wide-area profile scales the tick.
struct RaftSettings {
  std::chrono::nanoseconds tick = kTick;
  std::uint32_t heartbeat_ticks = kHeartbeatTicks;
  std::uint32_t election_ticks = kElectionTicks;

  [[nodiscard]] std::chrono::nanoseconds election_timeout() const noexcept {
    return tick * election_ticks;
  }
  // For so long after hearing a leader a voter helps nobody else (L-60).
  [[nodiscard]] std::chrono::nanoseconds promise() const noexcept {
    return tick * (election_ticks - 1);
  }
};

struct Settings {
  RetentionSettings retention;
  RaftSettings raft;
  std::uint64_t log_bytes_max = kLogBytesMax;
  std::chrono::nanoseconds housekeeping_every = kHousekeepingEvery;
};

}  // namespace cadastre::log
