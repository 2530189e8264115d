#include "coord/run_creation.h"

#include <utility>

#include "base/result.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/outcome.h"
#include "coord/run_record.h"

namespace cadastre::coord {
namespace {

// The run is there afterwards, with this configuration.
Result<void, CreateWithShardsError> ensure_run(RunManagement& runs,
                                               LogicalTime now,
                                               const TenantId& tenant,
                                               const NewRun& run) {
  const auto created = runs.create_run(now, tenant, run.run, run.config);
  if (created) return {};
  const CreateRunError& error = created.error();
  if (error.is<InvalidConfig>()) return base::fail(CreateWithShardsError(InvalidConfig{}));
  if (const auto* infra = error.get_if<InfraError>()) {
    return base::fail(CreateWithShardsError(*infra));
  }
  const RunRecord stored = CAD_TRY(runs.get_run(tenant, run.run));
  if (stored.config != run.config)
    return base::fail(CreateWithShardsError(ConfigMismatch{run.run}));
  return {};
}

}  // namespace

Result<IdempotentOutcome<RunRecord>, CreateWithShardsError> create_run_with_shards(
    RunManagement& runs, LogicalTime now, const TenantId& tenant, const NewRun& run, OpId op) {
  CAD_TRY(ensure_run(runs, now, tenant, run));
  const auto registered = CAD_TRY(runs.register_shards(now, tenant, run.run, run.shards, op));
  RunRecord record = CAD_TRY(runs.get_run(tenant, run.run));
  return IdempotentOutcome<RunRecord>(registered.outcome(), std::move(record));
}

}  // namespace cadastre::coord
