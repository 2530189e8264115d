#include "coord/retry_policy.h"

#include <cstdint>

#include "coord/identity.h"
#include "coord/run_record.h"
#include "coord/shard_summary.h"
#include "coord/states.h"

namespace cadastre::coord {

bool should_unpark(const ShardSummary& shard,
                   const ParkHistory& history,
                   const RetryPolicy& policy,
                   LogicalTime now) noexcept {
  if (shard.status != ShardStatus::kParked) return false;
  if (shard.park_reason != ParkReason::kTooManyErrors) return false;
  if (history.unparks >= policy.unparks_max) return false;
  return now >= saturating_add(history.parked_at, policy.unpark_delay);
}

bool should_park(const ShardSummary& shard,
                 std::uint32_t unparks,
                 const RunConfig& config) noexcept {
  if (shard.status != ShardStatus::kActive || !config.max_shard_retries) return false;
  const std::uint32_t acquisitions =
      shard.acquire_count > unparks ? shard.acquire_count - unparks : 0;
  return acquisitions > *config.max_shard_retries;
}

}  // namespace cadastre::coord
