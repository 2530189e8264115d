#include "coord/shard_change.h"

#include "base/check.h"
#include "coord/op_log.h"
#include "coord/shard_record.h"

namespace cadastre::coord {

ShardChange unchanged(const ShardState& state) noexcept {
  ShardChange change;
  change.status = state.status;
  change.park_reason = state.park_reason;
  change.lease = state.lease;
  change.fence = state.fence;
  return change;
}

void apply_to_state(const ShardChange& change, ShardState& state) noexcept {
  CAD_CHECK(is_legal_transition(state.status, change.status),
            "a shard changes by the table of states");
  CAD_CHECK(change.fence >= state.fence, "a fence never falls");
  state.status = change.status;
  state.park_reason = change.park_reason;
  state.lease = change.lease;
  state.fence = change.fence;
  if (!change.entry) return;
  CAD_CHECK(change.entry->payload_hash != 0, "0 is no payload hash");
  state.op_log.push_back_overwrite(*change.entry);
}

}  // namespace cadastre::coord
