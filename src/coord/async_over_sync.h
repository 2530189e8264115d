// AsyncOverSync: the asynchronous interface over a synchronous backend.
//
// An operation takes effect during its call; its completion waits in a queue until deliver() is
// called, so that callers cannot come to rely on answers that are there at once. A queue of
// kPendingMax answers is full: further operations are refused, not executed, with a transient error.
//
// Borrows the backend. One thread. Completions may call operations; they are queued behind.

#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <span>
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

class AsyncOverSync final : public AsyncCoordinationFacade {
 public:
  static constexpr std::size_t kPendingMax = 4096;

  explicit AsyncOverSync(CoordinationFacade& backend CAD_LIFETIMEBOUND) noexcept
      : backend_(&backend) {}

  // Runs the oldest completion; false if none waits.
  bool deliver();
  [[nodiscard]] std::size_t pending() const noexcept { return pending_.size(); }

  void acquire_and_restore_into(LogicalTime now,
                                const TenantId& tenant,
                                const ShardKey& key,
                                WorkerId worker,
                                AcquireScratch& out,
                                Completion<AcquireResultView, AcquireError> done) override;
  void renew(LogicalTime now,
             const TenantId& tenant,
             const Lease& lease,
             Completion<RenewResult, RenewError> done) override;
  void renew_many(LogicalTime now,
                  const TenantId& tenant,
                  std::span<const Lease> leases,
                  Completion<CoordinationBackend::RenewedLeases, RenewManyError> done) override;
  void checkpoint(LogicalTime now,
                  const TenantId& tenant,
                  const Lease& lease,
                  const CursorUpdate& cursor,
                  OpId op,
                  Completion<IdempotentOutcome<Unit>, CheckpointError> done) override;
  void complete(LogicalTime now,
                const TenantId& tenant,
                const Lease& lease,
                const CursorUpdate& cursor,
                OpId op,
                Completion<IdempotentOutcome<Unit>, CompleteError> done) override;
  void park_shard(LogicalTime now,
                  const TenantId& tenant,
                  const Lease& lease,
                  ParkReason reason,
                  OpId op,
                  Completion<IdempotentOutcome<Unit>, ParkError> done) override;
  void release_shard(LogicalTime now,
                     const TenantId& tenant,
                     const Lease& lease,
                     const CursorUpdate& cursor,
                     OpId op,
                     Completion<IdempotentOutcome<Unit>, ReleaseError> done) override;
  void split_replace(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const SplitReplacePlan& plan,
      OpId op,
      Completion<IdempotentOutcome<SplitReplaceResult>, SplitReplaceError> done) override;
  void split_residual(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const SplitResidualPlan& plan,
      OpId op,
      Completion<IdempotentOutcome<SplitResidualResult>, SplitResidualError> done) override;
  void create_run(LogicalTime now,
                  const TenantId& tenant,
                  RunId run,
                  const RunConfig& config,
                  Completion<RunRecord, CreateRunError> done) override;
  void register_shards(
      LogicalTime now,
      const TenantId& tenant,
      RunId run,
      std::span<const InitialShardInput> shards,
      OpId op,
      Completion<IdempotentOutcome<std::vector<ShardId>>, RegisterShardsError> done) override;
  void get_run(const TenantId& tenant, RunId run, Completion<RunRecord, GetRunError> done) override;
  void get_run_progress(LogicalTime now,
                        const TenantId& tenant,
                        RunId run,
                        Completion<RunProgress, GetRunError> done) override;
  void get_shard(const TenantId& tenant,
                 const ShardKey& key,
                 Completion<ShardDump, GetShardError> done) override;
  void list_shards(LogicalTime now,
                   const TenantId& tenant,
                   RunId run,
                   const ShardFilter& filter,
                   const ShardPage& page,
                   Completion<std::vector<ShardSummary>, ListShardsError> done) override;
  void list_runs(const TenantId& tenant,
                 std::optional<RunId> after,
                 std::size_t limit,
                 Completion<std::vector<RunId>, InfraError> done) override;
  void collect_claim_candidates(LogicalTime now,
                                const TenantId& tenant,
                                RunId run,
                                Completion<ClaimCandidates, GetRunError> done) override;
  void complete_run(LogicalTime now,
                    const TenantId& tenant,
                    RunId run,
                    OpId op,
                    Completion<IdempotentOutcome<Unit>, RunTransitionError> done) override;
  void fail_run(LogicalTime now,
                const TenantId& tenant,
                RunId run,
                OpId op,
                Completion<IdempotentOutcome<Unit>, RunTransitionError> done) override;
  void cancel_run(LogicalTime now,
                  const TenantId& tenant,
                  RunId run,
                  OpId op,
                  Completion<IdempotentOutcome<Unit>, RunTransitionError> done) override;
  void unpark_shard(LogicalTime now,
                    const TenantId& tenant,
                    const ShardKey& key,
                    OpId op,
                    Completion<IdempotentOutcome<FenceEpoch>, UnparkError> done) override;
  void gc_terminal_runs(const TenantId& tenant,
                        LogicalTime completed_before,
                        Completion<std::size_t, InfraError> done) override;
  void claim_next_available(LogicalTime now,
                            const TenantId& tenant,
                            RunId run,
                            WorkerId worker,
                            AcquireScratch& out,
                            Completion<AcquireResultView, ClaimError> done) override;

 private:
  // Executes `call`, unless the queue is full, and queues the answer.
  template <class T, class E, class Call>
  void answer(Completion<T, E> done, const Call& call);

  CoordinationFacade* backend_;
  std::deque<std::move_only_function<void()>> pending_;
};

}  // namespace cadastre::coord
