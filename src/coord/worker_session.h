// WorkerSession: one worker's hold on one shard, from acquisition to the end.
//
//   auto session = CAD_TRY(WorkerSession::open(backend, now, tenant, key, worker));
//   while (...) { ...; CAD_TRY(session.checkpoint(now, cursor, op)); }
//   auto done = std::move(session).complete(now, cursor, op);
//
// Terminal operations consume the session, also when they fail; the failure then carries a handle to
// retry the same op id on the backend. Using a consumed or moved-from session aborts. Nothing is
// renewed behind the worker's back, and dropping a session does nothing: the shard stays leased until
// its deadline (release() gives it up at once).
//
// Borrows the backend, which outlives it. One thread.

#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/outcome.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/shard_spec.h"
#include "shard/split_plan.h"

namespace cadastre::coord {

// An acquisition's own copy.
class AcquiredShard {
 public:
  explicit AcquiredShard(const AcquireResultView& acquired);

  [[nodiscard]] const Lease& lease() const noexcept CAD_LIFETIMEBOUND { return lease_; }
  [[nodiscard]] ShardSpecRef spec() const noexcept CAD_LIFETIMEBOUND { return spec_.ref(); }
  [[nodiscard]] CursorUpdate cursor() const noexcept CAD_LIFETIMEBOUND;
  [[nodiscard]] CursorSemantics semantics() const noexcept { return semantics_; }
  [[nodiscard]] std::optional<ShardId> parent() const noexcept { return parent_; }
  [[nodiscard]] const std::vector<ShardId>& spawned() const noexcept CAD_LIFETIMEBOUND {
    return spawned_;
  }
  [[nodiscard]] CapacityHint capacity() const noexcept { return capacity_; }

 private:
  friend class WorkerSession;

  Lease lease_;
  shard::ShardSpec spec_;
  base::Bytes last_key_;  // empty: absent
  base::Bytes token_;     // empty: absent
  CursorSemantics semantics_;
  std::optional<ShardId> parent_;
  std::vector<ShardId> spawned_;
  CapacityHint capacity_;
};

// What a caller needs to repeat a terminal operation that failed.
struct RetryHandle {
  TenantId tenant;
  Lease lease;
  ShardKey key;
};

template <class E>
struct FailedTerminal {
  E error;
  RetryHandle retry_handle;
};

class [[nodiscard]] WorkerSession {
 public:
  [[nodiscard]] static Result<WorkerSession, AcquireError> open(CoordinationBackend& backend
                                                                    CAD_LIFETIMEBOUND,
                                                                LogicalTime now,
                                                                const TenantId& tenant,
                                                                const ShardKey& key,
                                                                WorkerId worker);
  // For example after claim_next_available.
  [[nodiscard]] static WorkerSession from_acquired(CoordinationBackend& backend CAD_LIFETIMEBOUND,
                                                   AcquiredShard acquired);

  WorkerSession(const WorkerSession&) = delete;
  WorkerSession& operator=(const WorkerSession&) = delete;
  WorkerSession(WorkerSession&& other) noexcept;
  WorkerSession& operator=(WorkerSession&& other) noexcept;
  ~WorkerSession();

  [[nodiscard]] const Lease& lease() const CAD_LIFETIMEBOUND { return held().lease_; }
  [[nodiscard]] const TenantId& tenant() const CAD_LIFETIMEBOUND { return lease().tenant(); }
  [[nodiscard]] WorkerId worker() const { return lease().owner(); }
  [[nodiscard]] ShardKey shard_key() const { return lease().shard_key(); }
  // As of the acquisition; a residual split that was executed narrows the spec.
  [[nodiscard]] ShardSpecRef spec() const CAD_LIFETIMEBOUND { return held().spec(); }
  // As of the acquisition.
  [[nodiscard]] CursorUpdate cursor() const CAD_LIFETIMEBOUND { return held().cursor(); }
  [[nodiscard]] const AcquiredShard& initial_snapshot() const CAD_LIFETIMEBOUND { return held(); }
  // As of the last renewal.
  [[nodiscard]] CapacityHint capacity() const { return held().capacity_; }

  [[nodiscard]] Result<RenewResult, RenewError> renew(LogicalTime now) &;
  [[nodiscard]] Result<IdempotentOutcome<Unit>, CheckpointError> checkpoint(
      LogicalTime now, const CursorUpdate& cursor, OpId op) &;
  [[nodiscard]] Result<IdempotentOutcome<SplitResidualResult>, SplitResidualError> split_residual(
      LogicalTime now, const SplitResidualPlan& plan, OpId op) &;

  template <class T, class E>
  using Terminal = std::expected<IdempotentOutcome<T>, FailedTerminal<E>>;

  [[nodiscard]] Terminal<Unit, CompleteError> complete(LogicalTime now,
                                                       const CursorUpdate& cursor,
                                                       OpId op) &&;
  // Where nothing was found: completes where the cursor stood, or at the start.
  [[nodiscard]] Terminal<Unit, CompleteError> complete_empty(LogicalTime now, OpId op) &&;
  [[nodiscard]] Terminal<Unit, ParkError> park(LogicalTime now, ParkReason reason, OpId op) &&;
  [[nodiscard]] Terminal<Unit, ReleaseError> release(LogicalTime now,
                                                     const CursorUpdate& cursor,
                                                     OpId op) &&;
  [[nodiscard]] Terminal<SplitReplaceResult, SplitReplaceError> split_replace(
      LogicalTime now, const SplitReplacePlan& plan, OpId op) &&;

 private:
  WorkerSession(CoordinationBackend& backend, AcquiredShard acquired);

  [[nodiscard]] const AcquiredShard& held() const;
  [[nodiscard]] AcquiredShard& held();
  [[nodiscard]] RetryHandle retry_handle() const;
  void end() noexcept;

  CoordinationBackend* backend_;  // null: consumed or moved from
  // Behind a pointer: moving a session moves no bytes.
  std::unique_ptr<AcquiredShard> held_;
};

}  // namespace cadastre::coord
