#include "coord/shard_summary.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/progress.h"
#include "coord/shard_record.h"

namespace cadastre::coord {

bool ShardFilter::matches(const ShardState& state, LogicalTime now) const noexcept {
  if (status && *status != state.status) return false;
  if (is_leased && *is_leased != is_live(state.lease, now)) return false;
  return !root_only || !state.parent;
}

ShardSummary summarize(const ShardRecordView& record, LogicalTime now) noexcept {
  const ShardState& state = record.state;
  ShardSummary summary;
  summary.shard = state.shard;
  summary.status = state.status;
  summary.park_reason = state.park_reason;
  summary.is_leased = is_live(state.lease, now);
  if (summary.is_leased) {
    summary.lease_deadline = state.lease->deadline;
    summary.owner = state.lease->owner;
  }
  summary.fence = state.fence;
  summary.acquire_count = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(state.fence.raw() - 1, std::numeric_limits<std::uint32_t>::max()));
  if (const auto key = record.cursor.last_key()) summary.last_key.emplace(*key);
  summary.start = FixedKey(record.spec.start());
  summary.end = FixedKey(record.spec.end());
  summary.parent = state.parent;
  summary.spawned_count = static_cast<std::uint32_t>(record.spawned.size());
  return summary;
}

}  // namespace cadastre::coord
