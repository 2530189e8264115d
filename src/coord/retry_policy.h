// What an orchestrator does about parked shards and shards that change hands too often. Advice on top
// of the protocol: pure functions of a summary, nothing is done here.

#pragma once

#include <cstdint>

#include "coord/identity.h"
#include "coord/run_record.h"
#include "coord/shard_summary.h"

namespace cadastre::coord {

struct RetryPolicy {
  std::uint64_t unpark_delay = 0;  // ticks between parking and an automatic unpark
  std::uint32_t unparks_max = 0;   // automatic unparks of one shard
};

// What the orchestrator knows of a shard beyond its summary.
struct ParkHistory {
  LogicalTime parked_at;
  std::uint32_t unparks = 0;
};

// Whether to unpark now: only shards parked for too many errors, after the delay, so often.
[[nodiscard]] bool should_unpark(const ShardSummary& shard,
                                 const ParkHistory& history,
                                 const RetryPolicy& policy,
                                 LogicalTime now) noexcept;

// Whether a shard has changed hands more often than its run allows; unparks do not count.
[[nodiscard]] bool should_park(const ShardSummary& shard,
                               std::uint32_t unparks,
                               const RunConfig& config) noexcept;

}  // namespace cadastre::coord
