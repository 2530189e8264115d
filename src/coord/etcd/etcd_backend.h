// EtcdBackend: the protocol on an etcd, or on whatever else is a Store.
//
// Every operation is one transaction whose compares hold everything that its decision looked at (shapes.h); a
// lost race is tried again, a bounded number of times, and then answered as the store stands. After an answer
// of kind kTransient the outcome is unknown: repeat the same op id. Ownership is a key bound to an etcd lease
// beside the deadline in the record; a shard is owned as long as both last.
//
// Calls come from any thread. Completions run where the store's completions run, perhaps before the call returns.
// The destructor waits for the operations under way, so it is not called by one of them.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/attributes.h"
#include "base/gate.h"
#include "base/random.h"
#include "base/result.h"
#include "coord/async_backend.h"
#include "coord/backend.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/etcd/claim_operations.h"
#include "coord/etcd/collection_operations.h"
#include "coord/etcd/core.h"
#include "coord/etcd/delay.h"
#include "coord/etcd/list_operations.h"
#include "coord/etcd/run_operations.h"
#include "coord/etcd/shard_operations.h"
#include "coord/etcd/split_operations.h"
#include "coord/etcd/store.h"
#include "coord/etcd/task.h"
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

namespace cadastre::coord::etcd {

class EtcdBackend final : public AsyncCoordinationFacade {
 public:
  // Borrows the parts. The options are those that etcd_config checks.
  EtcdBackend(const EtcdParts& parts, EtcdOptions options);
  ~EtcdBackend() override;
  EtcdBackend(const EtcdBackend&) = delete;
  EtcdBackend& operator=(const EtcdBackend&) = delete;

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

  // Beyond the protocol, for operators.
  void list_active_runs(const TenantId& tenant, Completion<std::vector<RunId>, InfraError> done);
  // Runs that were created before `cutoff` and never got their shards. Which ones went.
  void gc_stale_initializing_runs(const TenantId& tenant,
                                  LogicalTime cutoff,
                                  Completion<std::vector<RunId>, InfraError> done);

  [[nodiscard]] const EtcdOptions& options() const noexcept CAD_LIFETIMEBOUND {
    return core_.options();
  }

 private:
  // Runs a task and tells its answer.
  template <class Answer>
  static Detached run(base::Gate::Pass pass,
                      Task<Answer> task,
                      std::move_only_function<void(Answer)> done);
  template <class Answer>
  void start(Task<Answer> task, std::move_only_function<void(Answer)> done);

  Core core_;
  ShardOperations shards_;
  SplitOperations splits_;
  RunOperations runs_;
  ListOperations lists_;
  ClaimOperations claims_;
  CollectionOperations collection_;
};

}  // namespace cadastre::coord::etcd
