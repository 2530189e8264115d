// What an operator may set of the log. The defaults are the specification's; limits.h says why.

#pragma once

#include <chrono>
#include <cstdint>

#include "log/limits.h"

namespace cadastre::log {

struct RetentionSettings {
  friend bool operator==(const RetentionSettings&, const RetentionSettings&) = default;

  std::chrono::nanoseconds truncate_every = kTruncateEvery;
  std::uint64_t truncate_bytes_min = kTruncateBytesMin;
  std::uint64_t truncate_entries_min = kTruncateEntriesMin;
  std::uint64_t unflushed_bytes_max = kUnflushedBytesMax;
  std::chrono::nanoseconds unflushed_age_max = kUnflushedAgeMax;
  // Of replicated groups (L-73, L-78).
  std::uint64_t leader_trail_bytes = kLeaderTrailBytes;
  std::uint64_t leader_trail_entries = kLeaderTrailEntries;
  std::uint64_t follower_trail_bytes = kFollowerTrailBytes;
  std::chrono::nanoseconds peer_silent_after = kPeerSilentAfter;
  std::uint64_t fetch_kept_bytes_max = kFetchKeptBytesMax;
};

// Of snapshots between nodes (L-71, L-75).
struct SnapshotSettings {
  std::chrono::nanoseconds reused_for = kCheckpointReusedFor;
  std::chrono::nanoseconds report_wait = kSnapshotReportWait;
  std::chrono::nanoseconds retry_after = kSnapshotRetryAfter;
  std::chrono::nanoseconds taken_within = kSnapshotTakenWithin;
};

// Of replicated groups (5.3). A wide-area profile scales the tick.
struct RaftSettings {
  std::chrono::nanoseconds tick = kTick;
  std::uint32_t heartbeat_ticks = kHeartbeatTicks;
  std::uint32_t election_ticks = kElectionTicks;
  // Leaders serve reads by lease (lease.h). It trusts clocks: not where a hypervisor pauses or moves guests
  // together with their clocks.
  bool lease_reads = false;

  [[nodiscard]] constexpr std::chrono::nanoseconds election_timeout() const noexcept {
    return tick * election_ticks;
  }
  // For so long after hearing a leader a voter helps nobody else (L-60).
  [[nodiscard]] constexpr std::chrono::nanoseconds promise() const noexcept {
    return tick * (election_ticks - 1);
  }
};

struct Settings {
  RetentionSettings retention;
  SnapshotSettings snapshots;
  RaftSettings raft;
  std::uint64_t log_bytes_max = kLogBytesMax;
  std::uint64_t group_log_bytes_soft = kGroupLogBytesSoft;
  std::uint64_t group_log_bytes_hard = kGroupLogBytesHard;
  std::chrono::nanoseconds housekeeping_every = kHousekeepingEvery;
  std::uint64_t truncation_told = kTruncationTold;  // More than that at once is a line.
};

}  // namespace cadastre::log
