// The protocol with completion callbacks, for backends that wait for a disk or a peer.
//
// The same operations, arguments and answers as backend.h. Arguments are borrowed until the call
// returns; an AcquireScratch until its completion has run. A completion runs exactly once: perhaps
// before the call returns, perhaps later, perhaps on another thread, as the implementation says.
// Completions of one caller need not run in the order of its calls.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
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

template <class T, class E>
using Completion = std::move_only_function<void(Result<T, E>)>;

class AsyncCoordinationBackend {
 public:
  AsyncCoordinationBackend() = default;
  virtual ~AsyncCoordinationBackend() = default;
  AsyncCoordinationBackend(const AsyncCoordinationBackend&) = delete;
  AsyncCoordinationBackend& operator=(const AsyncCoordinationBackend&) = delete;

  virtual void acquire_and_restore_into(LogicalTime now,
                                        const TenantId& tenant,
                                        const ShardKey& key,
                                        WorkerId worker,
                                        AcquireScratch& out,
                                        Completion<AcquireResultView, AcquireError> done) = 0;
  virtual void renew(LogicalTime now,
                     const TenantId& tenant,
                     const Lease& lease,
                     Completion<RenewResult, RenewError> done) = 0;
  virtual void renew_many(LogicalTime now,
                          const TenantId& tenant,
                          std::span<const Lease> leases,
                          Completion<CoordinationBackend::RenewedLeases, RenewManyError> done) = 0;
  virtual void checkpoint(LogicalTime now,
                          const TenantId& tenant,
                          const Lease& lease,
                          const CursorUpdate& cursor,
                          OpId op,
                          Completion<IdempotentOutcome<Unit>, CheckpointError> done) = 0;
  virtual void complete(LogicalTime now,
                        const TenantId& tenant,
                        const Lease& lease,
                        const CursorUpdate& cursor,
                        OpId op,
                        Completion<IdempotentOutcome<Unit>, CompleteError> done) = 0;
  virtual void park_shard(LogicalTime now,
                          const TenantId& tenant,
                          const Lease& lease,
                          ParkReason reason,
                          OpId op,
                          Completion<IdempotentOutcome<Unit>, ParkError> done) = 0;
  virtual void release_shard(LogicalTime now,
                             const TenantId& tenant,
                             const Lease& lease,
                             const CursorUpdate& cursor,
                             OpId op,
                             Completion<IdempotentOutcome<Unit>, ReleaseError> done) = 0;
  virtual void split_replace(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const SplitReplacePlan& plan,
      OpId op,
      Completion<IdempotentOutcome<SplitReplaceResult>, SplitReplaceError> done) = 0;
  virtual void split_residual(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const SplitResidualPlan& plan,
      OpId op,
      Completion<IdempotentOutcome<SplitResidualResult>, SplitResidualError> done) = 0;
};

class AsyncRunManagement {
 public:
  AsyncRunManagement() = default;
  virtual ~AsyncRunManagement() = default;
  AsyncRunManagement(const AsyncRunManagement&) = delete;
  AsyncRunManagement& operator=(const AsyncRunManagement&) = delete;

  virtual void create_run(LogicalTime now,
                          const TenantId& tenant,
                          RunId run,
                          const RunConfig& config,
                          Completion<RunRecord, CreateRunError> done) = 0;
  virtual void register_shards(
      LogicalTime now,
      const TenantId& tenant,
      RunId run,
      std::span<const InitialShardInput> shards,
      OpId op,
      Completion<IdempotentOutcome<std::vector<ShardId>>, RegisterShardsError> done) = 0;
  virtual void get_run(const TenantId& tenant,
                       RunId run,
                       Completion<RunRecord, GetRunError> done) = 0;
  virtual void get_run_progress(LogicalTime now,
                                const TenantId& tenant,
                                RunId run,
                                Completion<RunProgress, GetRunError> done) = 0;
  virtual void get_shard(const TenantId& tenant,
                         const ShardKey& key,
                         Completion<ShardDump, GetShardError> done) = 0;
  virtual void list_shards(LogicalTime now,
                           const TenantId& tenant,
                           RunId run,
                           const ShardFilter& filter,
                           const ShardPage& page,
                           Completion<std::vector<ShardSummary>, ListShardsError> done) = 0;
  virtual void list_runs(const TenantId& tenant,
                         std::optional<RunId> after,
                         std::size_t limit,
                         Completion<std::vector<RunId>, InfraError> done) = 0;
  virtual void collect_claim_candidates(LogicalTime now,
                                        const TenantId& tenant,
                                        RunId run,
                                        Completion<ClaimCandidates, GetRunError> done) = 0;
  virtual void complete_run(LogicalTime now,
                            const TenantId& tenant,
                            RunId run,
                            OpId op,
                            Completion<IdempotentOutcome<Unit>, RunTransitionError> done) = 0;
  virtual void fail_run(LogicalTime now,
                        const TenantId& tenant,
                        RunId run,
                        OpId op,
                        Completion<IdempotentOutcome<Unit>, RunTransitionError> done) = 0;
  virtual void cancel_run(LogicalTime now,
                          const TenantId& tenant,
                          RunId run,
                          OpId op,
                          Completion<IdempotentOutcome<Unit>, RunTransitionError> done) = 0;
  virtual void unpark_shard(LogicalTime now,
                            const TenantId& tenant,
                            const ShardKey& key,
                            OpId op,
                            Completion<IdempotentOutcome<FenceEpoch>, UnparkError> done) = 0;
  virtual void gc_terminal_runs(const TenantId& tenant,
                                LogicalTime completed_before,
                                Completion<std::size_t, InfraError> done) = 0;
};

class AsyncShardClaiming {
 public:
  AsyncShardClaiming() = default;
  virtual ~AsyncShardClaiming() = default;
  AsyncShardClaiming(const AsyncShardClaiming&) = delete;
  AsyncShardClaiming& operator=(const AsyncShardClaiming&) = delete;

  virtual void claim_next_available(LogicalTime now,
                                    const TenantId& tenant,
                                    RunId run,
                                    WorkerId worker,
                                    AcquireScratch& out,
                                    Completion<AcquireResultView, ClaimError> done) = 0;
};

class AsyncCoordinationFacade : public AsyncCoordinationBackend,
                                public AsyncRunManagement,
                                public AsyncShardClaiming {};

}  // namespace cadastre::coord
