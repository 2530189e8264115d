#include "coord/async_over_sync.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

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

bool AsyncOverSync::deliver() {
  if (pending_.empty()) return false;
  auto next = std::move(pending_.front());
  pending_.pop_front();
  next();
  return true;
}

template <class T, class E, class Call>
void AsyncOverSync::answer(Completion<T, E> done, const Call& call) {
  Result<T, E> result =
      pending_.size() < kPendingMax
          ? call()
          : Result<T, E>(
                base::fail(E(transient("async.queue", "too many answers wait to be delivered"))));
  pending_.push_back(
      [done = std::move(done), result = std::move(result)]() mutable { done(std::move(result)); });
}

// NOLINTBEGIN(readability-function-size): an operation of five parameters, and its completion

void AsyncOverSync::acquire_and_restore_into(LogicalTime now,
                                             const TenantId& tenant,
                                             const ShardKey& key,
                                             WorkerId worker,
                                             AcquireScratch& out,
                                             Completion<AcquireResultView, AcquireError> done) {
  answer<AcquireResultView, AcquireError>(std::move(done), [&] {
    return backend_->acquire_and_restore_into(now, tenant, key, worker, out);
  });
}

void AsyncOverSync::renew(LogicalTime now,
                          const TenantId& tenant,
                          const Lease& lease,
                          Completion<RenewResult, RenewError> done) {
  answer<RenewResult, RenewError>(std::move(done),
                                  [&] { return backend_->renew(now, tenant, lease); });
}

void AsyncOverSync::renew_many(
    LogicalTime now,
    const TenantId& tenant,
    std::span<const Lease> leases,
    Completion<CoordinationBackend::RenewedLeases, RenewManyError> done) {
  answer<CoordinationBackend::RenewedLeases, RenewManyError>(
      std::move(done), [&] { return backend_->renew_many(now, tenant, leases); });
}

void AsyncOverSync::checkpoint(LogicalTime now,
                               const TenantId& tenant,
                               const Lease& lease,
                               const CursorUpdate& cursor,
                               OpId op,
                               Completion<IdempotentOutcome<Unit>, CheckpointError> done) {
  answer<IdempotentOutcome<Unit>, CheckpointError>(
      std::move(done), [&] { return backend_->checkpoint(now, tenant, lease, cursor, op); });
}

void AsyncOverSync::complete(LogicalTime now,
                             const TenantId& tenant,
                             const Lease& lease,
                             const CursorUpdate& cursor,
                             OpId op,
                             Completion<IdempotentOutcome<Unit>, CompleteError> done) {
  answer<IdempotentOutcome<Unit>, CompleteError>(
      std::move(done), [&] { return backend_->complete(now, tenant, lease, cursor, op); });
}

void AsyncOverSync::park_shard(LogicalTime now,
                               const TenantId& tenant,
                               const Lease& lease,
                               ParkReason reason,
                               OpId op,
                               Completion<IdempotentOutcome<Unit>, ParkError> done) {
  answer<IdempotentOutcome<Unit>, ParkError>(
      std::move(done), [&] { return backend_->park_shard(now, tenant, lease, reason, op); });
}

void AsyncOverSync::release_shard(LogicalTime now,
                                  const TenantId& tenant,
                                  const Lease& lease,
                                  const CursorUpdate& cursor,
                                  OpId op,
                                  Completion<IdempotentOutcome<Unit>, ReleaseError> done) {
  answer<IdempotentOutcome<Unit>, ReleaseError>(
      std::move(done), [&] { return backend_->release_shard(now, tenant, lease, cursor, op); });
}

void AsyncOverSync::split_replace(
    LogicalTime now,
    const TenantId& tenant,
    const Lease& lease,
    const SplitReplacePlan& plan,
    OpId op,
    Completion<IdempotentOutcome<SplitReplaceResult>, SplitReplaceError> done) {
  answer<IdempotentOutcome<SplitReplaceResult>, SplitReplaceError>(
      std::move(done), [&] { return backend_->split_replace(now, tenant, lease, plan, op); });
}

void AsyncOverSync::split_residual(
    LogicalTime now,
    const TenantId& tenant,
    const Lease& lease,
    const SplitResidualPlan& plan,
    OpId op,
    Completion<IdempotentOutcome<SplitResidualResult>, SplitResidualError> done) {
  answer<IdempotentOutcome<SplitResidualResult>, SplitResidualError>(
      std::move(done), [&] { return backend_->split_residual(now, tenant, lease, plan, op); });
}

void AsyncOverSync::create_run(LogicalTime now,
                               const TenantId& tenant,
                               RunId run,
                               const RunConfig& config,
                               Completion<RunRecord, CreateRunError> done) {
  answer<RunRecord, CreateRunError>(std::move(done),
                                    [&] { return backend_->create_run(now, tenant, run, config); });
}

void AsyncOverSync::register_shards(
    LogicalTime now,
    const TenantId& tenant,
    RunId run,
    std::span<const InitialShardInput> shards,
    OpId op,
    Completion<IdempotentOutcome<std::vector<ShardId>>, RegisterShardsError> done) {
  answer<IdempotentOutcome<std::vector<ShardId>>, RegisterShardsError>(
      std::move(done), [&] { return backend_->register_shards(now, tenant, run, shards, op); });
}

void AsyncOverSync::get_run(const TenantId& tenant,
                            RunId run,
                            Completion<RunRecord, GetRunError> done) {
  answer<RunRecord, GetRunError>(std::move(done), [&] { return backend_->get_run(tenant, run); });
}

void AsyncOverSync::get_run_progress(LogicalTime now,
                                     const TenantId& tenant,
                                     RunId run,
                                     Completion<RunProgress, GetRunError> done) {
  answer<RunProgress, GetRunError>(std::move(done),
                                   [&] { return backend_->get_run_progress(now, tenant, run); });
}

void AsyncOverSync::get_shard(const TenantId& tenant,
                              const ShardKey& key,
                              Completion<ShardDump, GetShardError> done) {
  answer<ShardDump, GetShardError>(std::move(done),
                                   [&] { return backend_->get_shard(tenant, key); });
}

void AsyncOverSync::list_shards(LogicalTime now,
                                const TenantId& tenant,
                                RunId run,
                                const ShardFilter& filter,
                                const ShardPage& page,
                                Completion<std::vector<ShardSummary>, ListShardsError> done) {
  answer<std::vector<ShardSummary>, ListShardsError>(
      std::move(done), [&]() -> Result<std::vector<ShardSummary>, ListShardsError> {
        std::vector<ShardSummary> shards;
        CAD_TRY(backend_->list_shards_into(now, tenant, run, filter, page, shards));
        return shards;
      });
}

void AsyncOverSync::list_runs(const TenantId& tenant,
                              std::optional<RunId> after,
                              std::size_t limit,
                              Completion<std::vector<RunId>, InfraError> done) {
  answer<std::vector<RunId>, InfraError>(std::move(done),
                                         [&] { return backend_->list_runs(tenant, after, limit); });
}

void AsyncOverSync::collect_claim_candidates(LogicalTime now,
                                             const TenantId& tenant,
                                             RunId run,
                                             Completion<ClaimCandidates, GetRunError> done) {
  answer<ClaimCandidates, GetRunError>(
      std::move(done), [&]() -> Result<ClaimCandidates, GetRunError> {
        ClaimCandidates candidates;
        candidates.earliest_deadline =
            CAD_TRY(backend_->collect_claim_candidates_into(now, tenant, run, candidates.shards));
        return candidates;
      });
}

void AsyncOverSync::complete_run(LogicalTime now,
                                 const TenantId& tenant,
                                 RunId run,
                                 OpId op,
                                 Completion<IdempotentOutcome<Unit>, RunTransitionError> done) {
  answer<IdempotentOutcome<Unit>, RunTransitionError>(
      std::move(done), [&] { return backend_->complete_run(now, tenant, run, op); });
}

void AsyncOverSync::fail_run(LogicalTime now,
                             const TenantId& tenant,
                             RunId run,
                             OpId op,
                             Completion<IdempotentOutcome<Unit>, RunTransitionError> done) {
  answer<IdempotentOutcome<Unit>, RunTransitionError>(
      std::move(done), [&] { return backend_->fail_run(now, tenant, run, op); });
}

void AsyncOverSync::cancel_run(LogicalTime now,
                               const TenantId& tenant,
                               RunId run,
                               OpId op,
                               Completion<IdempotentOutcome<Unit>, RunTransitionError> done) {
  answer<IdempotentOutcome<Unit>, RunTransitionError>(
      std::move(done), [&] { return backend_->cancel_run(now, tenant, run, op); });
}

void AsyncOverSync::unpark_shard(LogicalTime now,
                                 const TenantId& tenant,
                                 const ShardKey& key,
                                 OpId op,
                                 Completion<IdempotentOutcome<FenceEpoch>, UnparkError> done) {
  answer<IdempotentOutcome<FenceEpoch>, UnparkError>(
      std::move(done), [&] { return backend_->unpark_shard(now, tenant, key, op); });
}

void AsyncOverSync::gc_terminal_runs(const TenantId& tenant,
                                     LogicalTime completed_before,
                                     Completion<std::size_t, InfraError> done) {
  answer<std::size_t, InfraError>(
      std::move(done), [&] { return backend_->gc_terminal_runs(tenant, completed_before); });
}

void AsyncOverSync::claim_next_available(LogicalTime now,
                                         const TenantId& tenant,
                                         RunId run,
                                         WorkerId worker,
                                         AcquireScratch& out,
                                         Completion<AcquireResultView, ClaimError> done) {
  answer<AcquireResultView, ClaimError>(std::move(done), [&] {
    return backend_->claim_next_available(now, tenant, run, worker, out);
  });
}

// NOLINTEND(readability-function-size)

}  // namespace cadastre::coord
