// ReplicatedBackend: the protocol on a log group. A mutating operation is one command and one proposal; it is
// answered when its entry is committed and applied. Reads wait for the log's read barrier and see one
// applied state.
//
// Whatever the log cannot say for certain is a transient error: repeat the same op id. A command that no
// log entry can hold is refused before it is proposed.
//
// Safe from any thread. Completions run on threads of the log, and must not block; they may call operations.
// Borrows group and machine.

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
#include "coord/replicated/command.h"
#include "coord/replicated/machine.h"
#include "coord/replicated/settings.h"
#include "coord/run_record.h"
#include "coord/shard_summary.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "log/group.h"
#include "shard/cursor.h"
#include "shard/manifest.h"
#include "shard/split_plan.h"

namespace cadastre::coord::replicated {

class ReplicatedBackend final : public AsyncCoordinationFacade {
 public:
  ReplicatedBackend(log::Group& group CAD_LIFETIMEBOUND,
                    Machine& machine CAD_LIFETIMEBOUND) noexcept
      : group_(group), machine_(machine) {}

  // Other settings from now on; they are valid.
  void configure(const Settings& settings, Completion<std::size_t, InfraError> done);

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
  // Proposes and answers with what the reply's bytes say.
  template <class Reply, class Done>
  void propose(const Command& command, const char* label, Done done);
  // The same with bytes that fit an entry.
  template <class Reply, class Done>
  void propose_bytes(base::ByteView command, const char* label, Done done);
  // Answers with what `read` finds once everything that was answered before is visible.
  template <class T, class E, class Read>
  void read(const char* label, Read read, Completion<T, E> done);
  template <class T, class E, class Read>
  void read_in(log::ReadMode mode, const char* label, Read read, Completion<T, E> done);

  log::Group& group_;
  Machine& machine_;
};

}  // namespace cadastre::coord::replicated
