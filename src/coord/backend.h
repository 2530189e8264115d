// The protocol as interfaces: what workers, operators and schedulers may ask of a backend.
//
// Time is an argument. `now` is never 0; callers that share a backend share a time source, but a
// `now` that goes back does no harm. Bytes are borrowed for the length of the call only. Whatever
// arrives from outside is answered with an error and changes nothing; a call either takes effect as
// a whole or not at all.
//
// An operation with an op id may be repeated with the same arguments as often as needed: it takes
// effect once, and repeats are answered kReplayed. After an InfraError of kind kTransient the
// outcome is unknown: repeat it.
//
// Implementations say whether they may be called from several threads.

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/function_ref.h"
#include "base/result.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/outcome.h"
#include "coord/progress.h"
#include "coord/run_record.h"
#include "coord/shard_record.h"
#include "coord/shard_summary.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/manifest.h"
#include "shard/split_plan.h"

namespace cadastre::coord {

using base::Result;
using shard::CursorUpdate;
using shard::InitialShardInput;
using shard::SplitReplacePlan;
using shard::SplitResidualPlan;

// For workers: everything about one shard. All but acquire need its lease.
class CoordinationBackend {
 public:
  CoordinationBackend() = default;
  virtual ~CoordinationBackend() = default;

  // Takes a free shard, under a new epoch; any older lease is worthless from then on. The result
  // borrows `out`.
  [[nodiscard]] virtual Result<AcquireResultView, AcquireError> acquire_and_restore_into(
      LogicalTime now,
      const TenantId& tenant,
      const ShardKey& key,
      WorkerId worker,
      AcquireScratch& out) = 0;

  [[nodiscard]] virtual Result<RenewResult, RenewError> renew(LogicalTime now,
                                                              const TenantId& tenant,
                                                              const Lease& lease) = 0;

  // One result for each lease, in order; at most kRenewManyMax.
  using RenewedLeases = std::vector<Result<RenewResult, RenewError>>;
  [[nodiscard]] virtual Result<RenewedLeases, RenewManyError> renew_many(
      LogicalTime now, const TenantId& tenant, std::span<const Lease> leases) = 0;

  // The cursor moves forward; a token is replaced as a whole, and erased by its absence.
  [[nodiscard]] virtual Result<IdempotentOutcome<Unit>, CheckpointError> checkpoint(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const CursorUpdate& cursor,
      OpId op) = 0;

  [[nodiscard]] virtual Result<IdempotentOutcome<Unit>, CompleteError> complete(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const CursorUpdate& cursor,
      OpId op) = 0;

  [[nodiscard]] virtual Result<IdempotentOutcome<Unit>, ParkError> park_shard(
      LogicalTime now, const TenantId& tenant, const Lease& lease, ParkReason reason, OpId op) = 0;

  // An orderly hand-over: a checkpoint, unless `cursor` is the initial one, and the end of the lease
  // in one step. The shard can be claimed at once.
  [[nodiscard]] virtual Result<IdempotentOutcome<Unit>, ReleaseError> release_shard(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const CursorUpdate& cursor,
      OpId op) = 0;

  // The shard ends and its children take its range.
  [[nodiscard]] virtual Result<IdempotentOutcome<SplitReplaceResult>, SplitReplaceError>
  split_replace(LogicalTime now,
                const TenantId& tenant,
                const Lease& lease,
                const SplitReplacePlan& plan,
                OpId op) = 0;

  // The shard keeps the left part and its lease; a new one takes the right part.
  [[nodiscard]] virtual Result<IdempotentOutcome<SplitResidualResult>, SplitResidualError>
  split_residual(LogicalTime now,
                 const TenantId& tenant,
                 const Lease& lease,
                 const SplitResidualPlan& plan,
                 OpId op) = 0;

  // Sessions tell that they begin and end (worker_session.h): none outlives its backend.
  void session_opened() noexcept { ++open_sessions_; }
  void session_ended() noexcept { --open_sessions_; }
  [[nodiscard]] std::size_t open_sessions() const noexcept { return open_sessions_; }

 protected:
  CoordinationBackend(const CoordinationBackend&) = default;
  CoordinationBackend(CoordinationBackend&&) = default;
  CoordinationBackend& operator=(const CoordinationBackend&) = default;
  CoordinationBackend& operator=(CoordinationBackend&&) = default;

 private:
  std::size_t open_sessions_ = 0;
};

// What a record looks like from outside: a copy of all of it.
struct ShardDump {
  ShardState state;
  base::Bytes start;
  base::Bytes end;
  base::Bytes metadata;
  base::Bytes last_key;  // empty: absent
  base::Bytes token;     // empty: absent
  std::vector<ShardId> spawned;

  friend bool operator==(const ShardDump&, const ShardDump&) = default;
};

[[nodiscard]] ShardDump dump(const ShardRecordView& record);

// For operators and orchestrators. Who may call is decided elsewhere.
class RunManagement {
 public:
  RunManagement() = default;
  virtual ~RunManagement() = default;

  [[nodiscard]] virtual Result<RunRecord, CreateRunError> create_run(LogicalTime now,
                                                                     const TenantId& tenant,
                                                                     RunId run,
                                                                     const RunConfig& config) = 0;

  // The ids in the order of the first registration, whatever the order of a retry.
  [[nodiscard]] virtual Result<IdempotentOutcome<std::vector<ShardId>>, RegisterShardsError>
  register_shards(LogicalTime now,
                  const TenantId& tenant,
                  RunId run,
                  std::span<const InitialShardInput> shards,
                  OpId op) = 0;

  [[nodiscard]] virtual Result<RunRecord, GetRunError> get_run(const TenantId& tenant,
                                                               RunId run) = 0;
  [[nodiscard]] virtual Result<RunProgress, GetRunError> get_run_progress(LogicalTime now,
                                                                          const TenantId& tenant,
                                                                          RunId run) = 0;

  // One shard's record, for whoever plans a split or looks into a single shard.
  [[nodiscard]] virtual Result<ShardDump, GetShardError> get_shard(const TenantId& tenant,
                                                                   const ShardKey& key) = 0;

  // Replaces what is in `out`. ShardNotFound if the page begins behind an unknown shard.
  [[nodiscard]] virtual Result<void, ListShardsError> list_shards_into(
      LogicalTime now,
      const TenantId& tenant,
      RunId run,
      const ShardFilter& filter,
      const ShardPage& page,
      std::vector<ShardSummary>& out) = 0;

  // The tenant's runs above `after`, ascending, at most `limit`.
  [[nodiscard]] virtual Result<std::vector<RunId>, InfraError> list_runs(const TenantId& tenant,
                                                                         std::optional<RunId> after,
                                                                         std::size_t limit) = 0;

  // Whom a claim would try: Active and free at `now`, by id; and when the next lease ends. Nobody,
  // unless the run is Active.
  [[nodiscard]] virtual Result<std::optional<LogicalTime>, GetRunError>
  collect_claim_candidates_into(LogicalTime now,
                                const TenantId& tenant,
                                RunId run,
                                std::vector<ShardId>& out) = 0;

  // These three look at the run only, not at its shards; finalize_run() (run_finalizer.h) does.
  [[nodiscard]] virtual Result<IdempotentOutcome<Unit>, RunTransitionError> complete_run(
      LogicalTime now, const TenantId& tenant, RunId run, OpId op) = 0;
  [[nodiscard]] virtual Result<IdempotentOutcome<Unit>, RunTransitionError> fail_run(
      LogicalTime now, const TenantId& tenant, RunId run, OpId op) = 0;
  [[nodiscard]] virtual Result<IdempotentOutcome<Unit>, RunTransitionError> cancel_run(
      LogicalTime now, const TenantId& tenant, RunId run, OpId op) = 0;

  // Back to Active, under a new epoch, where its cursor stands. Answers with the epoch in force.
  [[nodiscard]] virtual Result<IdempotentOutcome<FenceEpoch>, UnparkError> unpark_shard(
      LogicalTime now, const TenantId& tenant, const ShardKey& key, OpId op) = 0;

  // Forgets the terminal runs that completed before this time, with their shards. How many.
  [[nodiscard]] virtual Result<std::size_t, InfraError> gc_terminal_runs(
      const TenantId& tenant, LogicalTime completed_before) = 0;

 protected:
  RunManagement(const RunManagement&) = default;
  RunManagement(RunManagement&&) = default;
  RunManagement& operator=(const RunManagement&) = default;
  RunManagement& operator=(RunManagement&&) = default;
};

// For workers that take whatever is free.
class ShardClaiming {
 public:
  ShardClaiming() = default;
  virtual ~ShardClaiming() = default;

  // Acquires one of the run's free shards: of n by id, the one at place (worker mod n), so that
  // workers spread. The result borrows `out`.
  [[nodiscard]] virtual Result<AcquireResultView, ClaimError> claim_next_available(
      LogicalTime now, const TenantId& tenant, RunId run, WorkerId worker, AcquireScratch& out) = 0;

 protected:
  ShardClaiming(const ShardClaiming&) = default;
  ShardClaiming(ShardClaiming&&) = default;
  ShardClaiming& operator=(const ShardClaiming&) = default;
  ShardClaiming& operator=(ShardClaiming&&) = default;
};

// Whom a claim would try, by id, and when the next lease ends.
struct ClaimCandidates {
  std::vector<ShardId> shards;
  std::optional<LogicalTime> earliest_deadline;

  friend bool operator==(const ClaimCandidates&, const ClaimCandidates&) = default;
};

class CoordinationFacade : public CoordinationBackend,
                           public RunManagement,
                           public ShardClaiming {};

// Read-only: everything that a backend holds, ordered by tenant, run and id.
class Introspection {
 public:
  Introspection() = default;
  virtual ~Introspection() = default;

  // Each record without a copy: by tenant and run, within a run by start key and id. `visit` calls
  // nothing of the backend and keeps no view.
  virtual void visit_shards(base::FunctionRef<void(const ShardRecordView&)> visit) const = 0;
  [[nodiscard]] virtual std::vector<ShardDump> dump_shards() const = 0;
  [[nodiscard]] virtual std::vector<RunRecord> dump_runs() const = 0;
  // Aborts unless every invariant, index and counter agrees with a full recount.
  virtual void verify() const = 0;

 protected:
  Introspection(const Introspection&) = default;
  Introspection(Introspection&&) = default;
  Introspection& operator=(const Introspection&) = default;
  Introspection& operator=(Introspection&&) = default;
};

}  // namespace cadastre::coord
