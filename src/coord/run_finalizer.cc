#include "coord/run_finalizer.h"

#include "base/result.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/op_log.h"
#include "coord/progress.h"
#include "coord/states.h"

namespace cadastre::coord {
namespace {

FinalizeRunError unsettled(const RunProgress& progress) {
  return RunNotSettled{progress.active, progress.parked};
}

}  // namespace

Result<RunStatus, FinalizeRunError> finalize_run(
    RunManagement& runs, LogicalTime now, const TenantId& tenant, RunId run, OpId op) {
  // A retry: the run ended by this op id, whatever its shards are now.
  const auto record = CAD_TRY(runs.get_run(tenant, run));
  if (is_terminal(record.status) && find_op(record.op_log, op) != nullptr) return record.status;
  const RunProgress progress = CAD_TRY(runs.get_run_progress(now, tenant, run));
  if (!progress.is_settled()) return base::fail(unsettled(progress));
  if (progress.has_failures()) {
    CAD_TRY(runs.fail_run(now, tenant, run, op));
    return RunStatus::kFailed;
  }
  CAD_TRY(runs.complete_run(now, tenant, run, op));
  return RunStatus::kDone;
}

Result<void, FinalizeRunError> complete_run_strictly(
    RunManagement& runs, LogicalTime now, const TenantId& tenant, RunId run, OpId op) {
  const auto record = CAD_TRY(runs.get_run(tenant, run));
  if (!is_terminal(record.status)) {
    const RunProgress progress = CAD_TRY(runs.get_run_progress(now, tenant, run));
    if (!progress.is_success()) return base::fail(unsettled(progress));
  }
  CAD_TRY(runs.complete_run(now, tenant, run, op));
  return {};
}

}  // namespace cadastre::coord
