// Ends a run by what became of its shards.

#pragma once

#include "base/result.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/states.h"

namespace cadastre::coord {

// Completes a run whose shards are all Done or Split, fails one that has parked shards, and answers
// with the new status; RunNotSettled while a shard is Active. Safe to repeat with the same op id.
[[nodiscard]] Result<RunStatus, FinalizeRunError> finalize_run(
    RunManagement& runs, LogicalTime now, const TenantId& tenant, RunId run, OpId op);

// Completes a run only if every shard is Done or Split; RunNotSettled otherwise.
[[nodiscard]] Result<void, FinalizeRunError> complete_run_strictly(
    RunManagement& runs, LogicalTime now, const TenantId& tenant, RunId run, OpId op);

}  // namespace cadastre::coord
