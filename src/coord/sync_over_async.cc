#include "coord/sync_over_async.h"

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "base/result.h"
#include "coord/async_backend.h"
#include "coord/backend.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/outcome.h"
#include "coord/progress.h"
#include "coord/run_record.h"
#include "coord/shard_summary.h"
#include "coord/snapshot.h"
#include "coord/states.h"

namespace cadastre::coord {

namespace {

// One answer, from the thread that completes to the one that waits. It may be gone as soon as the waiter
// has it, so it is notified under the lock.
template <class T, class E>
class Handover {
 public:
  void put(Result<T, E> answer) CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    answer_.emplace(std::move(answer));
    there_.notify_one();
  }
  [[nodiscard]] Result<T, E> take() CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    while (!answer_)
      there_.wait(mutex_);
    return *std::move(answer_);
  }

 private:
  base::Mutex mutex_;
  base::CondVar there_;
  std::optional<Result<T, E>> answer_ CAD_GUARDED_BY(mutex_);
};

}  // namespace

template <class T, class E, class Start>
Result<T, E> SyncOverAsync::wait(const Start& start) {
  if (!progress_) {
    Handover<T, E> handover;
    start(Completion<T, E>([&handover](Result<T, E> result) { handover.put(std::move(result)); }));
    return handover.take();
  }
  std::optional<Result<T, E>> answer;
  start(Completion<T, E>([&answer](Result<T, E> result) { answer.emplace(std::move(result)); }));
  while (!answer)
    CAD_CHECK(progress_(), "an operation that was started is answered");
  return *std::move(answer);
}

Result<AcquireResultView, AcquireError> SyncOverAsync::acquire_and_restore_into(
    LogicalTime now,
    const TenantId& tenant,
    const ShardKey& key,
    WorkerId worker,
    AcquireScratch& out) {
  return wait<AcquireResultView, AcquireError>([&](auto done) {
    backend_->acquire_and_restore_into(now, tenant, key, worker, out, std::move(done));
  });
}

Result<RenewResult, RenewError> SyncOverAsync::renew(LogicalTime now,
                                                     const TenantId& tenant,
                                                     const Lease& lease) {
  return wait<RenewResult, RenewError>(
      [&](auto done) { backend_->renew(now, tenant, lease, std::move(done)); });
}

Result<CoordinationBackend::RenewedLeases, RenewManyError> SyncOverAsync::renew_many(
    LogicalTime now, const TenantId& tenant, std::span<const Lease> leases) {
  return wait<RenewedLeases, RenewManyError>(
      [&](auto done) { backend_->renew_many(now, tenant, leases, std::move(done)); });
}

Result<IdempotentOutcome<Unit>, CheckpointError> SyncOverAsync::checkpoint(
    LogicalTime now,
    const TenantId& tenant,
    const Lease& lease,
    const CursorUpdate& cursor,
    OpId op) {
  return wait<IdempotentOutcome<Unit>, CheckpointError>(
      [&](auto done) { backend_->checkpoint(now, tenant, lease, cursor, op, std::move(done)); });
}

Result<IdempotentOutcome<Unit>, CompleteError> SyncOverAsync::complete(LogicalTime now,
                                                                       const TenantId& tenant,
                                                                       const Lease& lease,
                                                                       const CursorUpdate& cursor,
                                                                       OpId op) {
  return wait<IdempotentOutcome<Unit>, CompleteError>(
      [&](auto done) { backend_->complete(now, tenant, lease, cursor, op, std::move(done)); });
}

Result<IdempotentOutcome<Unit>, ParkError> SyncOverAsync::park_shard(
    LogicalTime now, const TenantId& tenant, const Lease& lease, ParkReason reason, OpId op) {
  return wait<IdempotentOutcome<Unit>, ParkError>(
      [&](auto done) { backend_->park_shard(now, tenant, lease, reason, op, std::move(done)); });
}

Result<IdempotentOutcome<Unit>, ReleaseError> SyncOverAsync::release_shard(
    LogicalTime now,
    const TenantId& tenant,
    const Lease& lease,
    const CursorUpdate& cursor,
    OpId op) {
  return wait<IdempotentOutcome<Unit>, ReleaseError>(
      [&](auto done) { backend_->release_shard(now, tenant, lease, cursor, op, std::move(done)); });
}

Result<IdempotentOutcome<SplitReplaceResult>, SplitReplaceError> SyncOverAsync::split_replace(
    LogicalTime now,
    const TenantId& tenant,
    const Lease& lease,
    const SplitReplacePlan& plan,
    OpId op) {
  return wait<IdempotentOutcome<SplitReplaceResult>, SplitReplaceError>(
      [&](auto done) { backend_->split_replace(now, tenant, lease, plan, op, std::move(done)); });
}

Result<IdempotentOutcome<SplitResidualResult>, SplitResidualError> SyncOverAsync::split_residual(
    LogicalTime now,
    const TenantId& tenant,
    const Lease& lease,
    const SplitResidualPlan& plan,
    OpId op) {
  return wait<IdempotentOutcome<SplitResidualResult>, SplitResidualError>(
      [&](auto done) { backend_->split_residual(now, tenant, lease, plan, op, std::move(done)); });
}

Result<RunRecord, CreateRunError> SyncOverAsync::create_run(LogicalTime now,
                                                            const TenantId& tenant,
                                                            RunId run,
                                                            const RunConfig& config) {
  return wait<RunRecord, CreateRunError>(
      [&](auto done) { backend_->create_run(now, tenant, run, config, std::move(done)); });
}

Result<IdempotentOutcome<std::vector<ShardId>>, RegisterShardsError> SyncOverAsync::register_shards(
    LogicalTime now,
    const TenantId& tenant,
    RunId run,
    std::span<const InitialShardInput> shards,
    OpId op) {
  return wait<IdempotentOutcome<std::vector<ShardId>>, RegisterShardsError>(
      [&](auto done) { backend_->register_shards(now, tenant, run, shards, op, std::move(done)); });
}

Result<RunRecord, GetRunError> SyncOverAsync::get_run(const TenantId& tenant, RunId run) {
  return wait<RunRecord, GetRunError>(
      [&](auto done) { backend_->get_run(tenant, run, std::move(done)); });
}

Result<RunProgress, GetRunError> SyncOverAsync::get_run_progress(LogicalTime now,
                                                                 const TenantId& tenant,
                                                                 RunId run) {
  return wait<RunProgress, GetRunError>(
      [&](auto done) { backend_->get_run_progress(now, tenant, run, std::move(done)); });
}

Result<ShardDump, GetShardError> SyncOverAsync::get_shard(const TenantId& tenant,
                                                          const ShardKey& key) {
  return wait<ShardDump, GetShardError>(
      [&](auto done) { backend_->get_shard(tenant, key, std::move(done)); });
}

// NOLINTNEXTLINE(readability-function-size): the interface has these parameters
Result<void, ListShardsError> SyncOverAsync::list_shards_into(LogicalTime now,
                                                              const TenantId& tenant,
                                                              RunId run,
                                                              const ShardFilter& filter,
                                                              const ShardPage& page,
                                                              std::vector<ShardSummary>& out) {
  out.clear();
  out = CAD_TRY((wait<std::vector<ShardSummary>, ListShardsError>(
      [&](auto done) { backend_->list_shards(now, tenant, run, filter, page, std::move(done)); })));
  return {};
}

Result<std::vector<RunId>, InfraError> SyncOverAsync::list_runs(const TenantId& tenant,
                                                                std::optional<RunId> after,
                                                                std::size_t limit) {
  return wait<std::vector<RunId>, InfraError>(
      [&](auto done) { backend_->list_runs(tenant, after, limit, std::move(done)); });
}

Result<std::optional<LogicalTime>, GetRunError> SyncOverAsync::collect_claim_candidates_into(
    LogicalTime now, const TenantId& tenant, RunId run, std::vector<ShardId>& out) {
  out.clear();
  auto candidates = CAD_TRY((wait<ClaimCandidates, GetRunError>(
      [&](auto done) { backend_->collect_claim_candidates(now, tenant, run, std::move(done)); })));
  out = std::move(candidates.shards);
  return candidates.earliest_deadline;
}

Result<IdempotentOutcome<Unit>, RunTransitionError> SyncOverAsync::complete_run(
    LogicalTime now, const TenantId& tenant, RunId run, OpId op) {
  return wait<IdempotentOutcome<Unit>, RunTransitionError>(
      [&](auto done) { backend_->complete_run(now, tenant, run, op, std::move(done)); });
}

Result<IdempotentOutcome<Unit>, RunTransitionError> SyncOverAsync::fail_run(LogicalTime now,
                                                                            const TenantId& tenant,
                                                                            RunId run,
                                                                            OpId op) {
  return wait<IdempotentOutcome<Unit>, RunTransitionError>(
      [&](auto done) { backend_->fail_run(now, tenant, run, op, std::move(done)); });
}

Result<IdempotentOutcome<Unit>, RunTransitionError> SyncOverAsync::cancel_run(
    LogicalTime now, const TenantId& tenant, RunId run, OpId op) {
  return wait<IdempotentOutcome<Unit>, RunTransitionError>(
      [&](auto done) { backend_->cancel_run(now, tenant, run, op, std::move(done)); });
}

Result<IdempotentOutcome<FenceEpoch>, UnparkError> SyncOverAsync::unpark_shard(
    LogicalTime now, const TenantId& tenant, const ShardKey& key, OpId op) {
  return wait<IdempotentOutcome<FenceEpoch>, UnparkError>(
      [&](auto done) { backend_->unpark_shard(now, tenant, key, op, std::move(done)); });
}

Result<std::size_t, InfraError> SyncOverAsync::gc_terminal_runs(const TenantId& tenant,
                                                                LogicalTime completed_before) {
  return wait<std::size_t, InfraError>(
      [&](auto done) { backend_->gc_terminal_runs(tenant, completed_before, std::move(done)); });
}

Result<AcquireResultView, ClaimError> SyncOverAsync::claim_next_available(
    LogicalTime now, const TenantId& tenant, RunId run, WorkerId worker, AcquireScratch& out) {
  return wait<AcquireResultView, ClaimError>([&](auto done) {
    backend_->claim_next_available(now, tenant, run, worker, out, std::move(done));
  });
}

}  // namespace cadastre::coord
