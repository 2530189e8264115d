// SyncOverAsync: the synchronous interface over an asynchronous backend.
//
// Each call starts the operation and returns when its completion has run. Where the backend has threads of
// its own, the caller sleeps meanwhile: any number of threads may call. Where it has none, the caller makes
// it progress by the function given, which returns false if nothing is left to do, our own mistake while
// an operation runs: one thread. Borrows the backend.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/attributes.h"
#include "base/result.h"
#include "coord/async_backend.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/outcome.h"
#include "coord/progress.h"
#include "coord/run_record.h"
#include "coord/shard_summary.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/manifest.h"
#include "shard/split_plan.h"

namespace cadastre::coord {

class SyncOverAsync : public CoordinationFacade {
 public:
  using Progress = std::move_only_function<bool()>;

  // For a backend that completes operations on other threads than its callers'.
  explicit SyncOverAsync(AsyncCoordinationFacade& backend CAD_LIFETIMEBOUND) : backend_(&backend) {}
  SyncOverAsync(AsyncCoordinationFacade& backend CAD_LIFETIMEBOUND, Progress progress)
      : backend_(&backend), progress_(std::move(progress)) {}

  [[nodiscard]] Result<AcquireResultView, AcquireError> acquire_and_restore_into(
      LogicalTime now,
      const TenantId& tenant,
      const ShardKey& key,
      WorkerId worker,
      AcquireScratch& out) override;
  [[nodiscard]] Result<RenewResult, RenewError> renew(LogicalTime now,
                                                      const TenantId& tenant,
                                                      const Lease& lease) override;
  [[nodiscard]] Result<RenewedLeases, RenewManyError> renew_many(
      LogicalTime now, const TenantId& tenant, std::span<const Lease> leases) override;
  [[nodiscard]] Result<IdempotentOutcome<Unit>, CheckpointError> checkpoint(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const CursorUpdate& cursor,
      OpId op) override;
  [[nodiscard]] Result<IdempotentOutcome<Unit>, CompleteError> complete(LogicalTime now,
                                                                        const TenantId& tenant,
                                                                        const Lease& lease,
                                                                        const CursorUpdate& cursor,
                                                                        OpId op) override;
  [[nodiscard]] Result<IdempotentOutcome<Unit>, ParkError> park_shard(LogicalTime now,
                                                                      const TenantId& tenant,
                                                                      const Lease& lease,
                                                                      ParkReason reason,
                                                                      OpId op) override;
  [[nodiscard]] Result<IdempotentOutcome<Unit>, ReleaseError> release_shard(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const CursorUpdate& cursor,
      OpId op) override;
  [[nodiscard]] Result<IdempotentOutcome<SplitReplaceResult>, SplitReplaceError> split_replace(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const SplitReplacePlan& plan,
      OpId op) override;
  [[nodiscard]] Result<IdempotentOutcome<SplitResidualResult>, SplitResidualError> split_residual(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const SplitResidualPlan& plan,
      OpId op) override;
  [[nodiscard]] Result<RunRecord, CreateRunError> create_run(LogicalTime now,
                                                             const TenantId& tenant,
                                                             RunId run,
                                                             const RunConfig& config) override;
  [[nodiscard]] Result<IdempotentOutcome<std::vector<ShardId>>, RegisterShardsError>
  register_shards(LogicalTime now,
                  const TenantId& tenant,
                  RunId run,
                  std::span<const InitialShardInput> shards,
                  OpId op) override;
  [[nodiscard]] Result<RunRecord, GetRunError> get_run(const TenantId& tenant, RunId run) override;
  [[nodiscard]] Result<RunProgress, GetRunError> get_run_progress(LogicalTime now,
                                                                  const TenantId& tenant,
                                                                  RunId run) override;
  [[nodiscard]] Result<ShardDump, GetShardError> get_shard(const TenantId& tenant,
                                                           const ShardKey& key) override;
  [[nodiscard]] Result<void, ListShardsError> list_shards_into(
      LogicalTime now,
      const TenantId& tenant,
      RunId run,
      const ShardFilter& filter,
      const ShardPage& page,
      std::vector<ShardSummary>& out) override;
  [[nodiscard]] Result<std::vector<RunId>, InfraError> list_runs(const TenantId& tenant,
                                                                 std::optional<RunId> after,
                                                                 std::size_t limit) override;
  [[nodiscard]] Result<std::optional<LogicalTime>, GetRunError> collect_claim_candidates_into(
      LogicalTime now, const TenantId& tenant, RunId run, std::vector<ShardId>& out) override;
  [[nodiscard]] Result<IdempotentOutcome<Unit>, RunTransitionError> complete_run(
      LogicalTime now, const TenantId& tenant, RunId run, OpId op) override;
  [[nodiscard]] Result<IdempotentOutcome<Unit>, RunTransitionError> fail_run(LogicalTime now,
                                                                             const TenantId& tenant,
                                                                             RunId run,
                                                                             OpId op) override;
  [[nodiscard]] Result<IdempotentOutcome<Unit>, RunTransitionError> cancel_run(
      LogicalTime now, const TenantId& tenant, RunId run, OpId op) override;
  [[nodiscard]] Result<IdempotentOutcome<FenceEpoch>, UnparkError> unpark_shard(
      LogicalTime now, const TenantId& tenant, const ShardKey& key, OpId op) override;
  [[nodiscard]] Result<std::size_t, InfraError> gc_terminal_runs(
      const TenantId& tenant, LogicalTime completed_before) override;
  [[nodiscard]] Result<AcquireResultView, ClaimError> claim_next_available(
      LogicalTime now,
      const TenantId& tenant,
      RunId run,
      WorkerId worker,
      AcquireScratch& out) override;

 private:
  // Starts an operation and waits for its answer.
  template <class T, class E, class Start>
  [[nodiscard]] Result<T, E> wait(const Start& start);

  AsyncCoordinationFacade* backend_;
  Progress progress_;  // Empty: the caller sleeps.
};

}  // namespace cadastre::coord
