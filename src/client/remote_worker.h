// RemoteWorker: one worker's hold on one shard, which keeps its lease alive and gives it up in an orderly way.
//
//   RemoteWorker work({backend, keeper, clock, random}, AcquiredShard(grant));
//   while (...) if (!work.checkpoint(cursor)) return;       // lost: stop at once
//   work.complete(cursor);
//
// The lease is renewed by the keeper. Once it is lost (a renewal or an operation said so), `is_lost()` is true and
// every later call is refused with StaleFence and not sent. A worker that goes without having ended its shard
// releases it where the last checkpoint stands, so that another one can take it at once.
//
// Each operation has a fresh op id and is final: the backend repeats what may be repeated. Unlike WorkerSession it
// chooses times and op ids itself. One thread, beside the keeper's.

#pragma once

#include <atomic>
#include <optional>

#include "base/attributes.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "client/lease_keeper.h"
#include "coord/backend.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/outcome.h"
#include "coord/states.h"
#include "coord/worker_session.h"
#include "shard/cursor.h"
#include "shard/split_plan.h"

namespace cadastre::client {

// Borrowed; they outlive the worker.
struct WorkerParts {
  coord::CoordinationBackend& backend;  // one that this thread may call
  LeaseKeeper* keeper;                  // absent: the lease is renewed by renew() only
  const base::Clock& clock;
  base::Random& random;
};

class RemoteWorker {
 public:
  RemoteWorker(const WorkerParts& parts, coord::AcquiredShard acquired);
  RemoteWorker(const RemoteWorker&) = delete;
  RemoteWorker& operator=(const RemoteWorker&) = delete;
  ~RemoteWorker();

  // As of the acquisition.
  [[nodiscard]] const coord::AcquiredShard& acquired() const noexcept CAD_LIFETIMEBOUND {
    return acquired_;
  }
  [[nodiscard]] bool is_lost() const noexcept { return lost_.load(); }

  template <class T, class E>
  using Answer = base::Result<coord::IdempotentOutcome<T>, E>;

  [[nodiscard]] base::Result<coord::RenewResult, coord::RenewError> renew();
  [[nodiscard]] Answer<coord::Unit, coord::CheckpointError> checkpoint(
      const shard::CursorUpdate& cursor);
  [[nodiscard]] Answer<coord::SplitResidualResult, coord::SplitResidualError> split_residual(
      const shard::SplitResidualPlan& plan);
  // These end the hold, if they succeed.
  [[nodiscard]] Answer<coord::Unit, coord::CompleteError> complete(
      const shard::CursorUpdate& cursor);
  [[nodiscard]] Answer<coord::Unit, coord::ParkError> park(coord::ParkReason reason);
  [[nodiscard]] Answer<coord::Unit, coord::ReleaseError> release(const shard::CursorUpdate& cursor);
  [[nodiscard]] Answer<coord::SplitReplaceResult, coord::SplitReplaceError> split_replace(
      const shard::SplitReplacePlan& plan);

 private:
  // Refuses if the shard is lost, and notices that it is.
  template <class Result, class Ask>
  [[nodiscard]] Result guarded(const Ask& ask);
  template <class Result, class Ask>
  [[nodiscard]] Result ending(const Ask& ask);
  void end();
  [[nodiscard]] coord::LogicalTime now() const;
  [[nodiscard]] coord::OpId next_op() { return coord::OpId::from_raw(parts_.random.next_u64()); }

  const WorkerParts parts_;
  const coord::AcquiredShard acquired_;
  std::optional<KeptLease> kept_;
  std::atomic<bool> lost_{false};
  bool ended_ = false;
};

}  // namespace cadastre::client
