// A run and its shards in one call, safe to repeat after a crash between the steps.

#pragma once

#include <span>

#include "base/result.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/outcome.h"
#include "coord/run_record.h"
#include "shard/manifest.h"

namespace cadastre::coord {

struct NewRun {
  RunId run;
  RunConfig config;
  std::span<const InitialShardInput> shards;
};

// Creates the run unless it exists with this configuration, registers its shards under `op`, and
// answers with the record.
[[nodiscard]] Result<IdempotentOutcome<RunRecord>, CreateWithShardsError> create_run_with_shards(
    RunManagement& runs, LogicalTime now, const TenantId& tenant, const NewRun& run, OpId op);

}  // namespace cadastre::coord
