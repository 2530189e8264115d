// S2, S3, S5, S6, S8: what one step may do to a record. Pure comparisons of before and after.

#pragma once

#include "coord/backend.h"
#include "coord/run_record.h"
#include "sim/coord/oracles/violation.h"

namespace cadastre::sim {

// S2: the fence never falls.
// S3: Done and Split are final; Parked becomes Active only under a larger fence.
// S5: the last key never goes back and never disappears.
// S6: the last key lies inside the range.
// And: identity, start and metadata never change, the end only moves left and leaves a new shard
// behind, spawned shards are only appended.
void check_shard_step(const coord::ShardDump& before,
                      const coord::ShardDump& after,
                      Violations& out);

// S6 alone, and what a new record looks like.
void check_new_shard(const coord::ShardDump& record, Violations& out);

// S8: terminal runs never change; configuration and roots stay as registered.
void check_run_step(const coord::RunRecord& before, const coord::RunRecord& after, Violations& out);

}  // namespace cadastre::sim
