#include "client/remote_worker.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "base/result.h"
#include "client/lease_keeper.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/states.h"
#include "coord/worker_session.h"
#include "shard/cursor.h"
#include "shard/split_plan.h"

namespace cadastre::client {
namespace {

// Whether an operation's error says that the shard is another's, or over.
template <class E>
bool says_lost(const E& error) {
  return error.template is<coord::StaleFence>() || error.template is<coord::LeaseExpired>() ||
         error.template is<coord::ShardTerminal>() || error.template is<coord::ShardNotFound>();
}

}  // namespace

RemoteWorker::RemoteWorker(const WorkerParts& parts, coord::AcquiredShard acquired)
    : parts_(parts), acquired_(std::move(acquired)) {
  if (parts_.keeper == nullptr) return;
  kept_ = parts_.keeper->add(acquired_.lease(),
                             [this](const coord::RenewError& /*why*/) { lost_.store(true); });
}

RemoteWorker::~RemoteWorker() {
  const bool gives_up = !ended_ && !lost_.load();
  end();
  if (gives_up && !lost_.load()) {
    // A release that does not arrive leaves the shard to its deadline.
    (void)parts_.backend.release_shard(now(), acquired_.lease().tenant(), acquired_.lease(),
                                       shard::CursorUpdate::initial(), next_op());
  }
}

void RemoteWorker::end() {
  ended_ = true;
  if (kept_) parts_.keeper->remove(*std::exchange(kept_, std::nullopt));
}

coord::LogicalTime RemoteWorker::now() const {
  const auto since_epoch = parts_.clock.now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
  return coord::LogicalTime::from_raw(static_cast<std::uint64_t>(std::max<std::int64_t>(ms, 1)));
}

template <class Result, class Ask>
Result RemoteWorker::guarded(const Ask& ask) {
  CAD_CHECK(!ended_, "a worker that ended its shard does nothing more with it");
  const coord::FenceEpoch fence = acquired_.lease().fence();
  if (lost_.load()) {
    return base::fail(typename Result::error_type(coord::StaleFence{fence, fence}));
  }
  Result answer = ask();
  if (!answer && says_lost(answer.error())) lost_.store(true);
  return answer;
}

template <class Result, class Ask>
Result RemoteWorker::ending(const Ask& ask) {
  Result answer = guarded<Result>(ask);
  if (answer) end();
  return answer;
}

base::Result<coord::RenewResult, coord::RenewError> RemoteWorker::renew() {
  return guarded<base::Result<coord::RenewResult, coord::RenewError>>(
      [&] { return parts_.backend.renew(now(), acquired_.lease().tenant(), acquired_.lease()); });
}

RemoteWorker::Answer<coord::Unit, coord::CheckpointError> RemoteWorker::checkpoint(
    const shard::CursorUpdate& cursor) {
  return guarded<Answer<coord::Unit, coord::CheckpointError>>([&] {
    return parts_.backend.checkpoint(now(), acquired_.lease().tenant(), acquired_.lease(), cursor,
                                     next_op());
  });
}

RemoteWorker::Answer<coord::SplitResidualResult, coord::SplitResidualError>
RemoteWorker::split_residual(const shard::SplitResidualPlan& plan) {
  return guarded<Answer<coord::SplitResidualResult, coord::SplitResidualError>>([&] {
    return parts_.backend.split_residual(now(), acquired_.lease().tenant(), acquired_.lease(), plan,
                                         next_op());
  });
}

RemoteWorker::Answer<coord::Unit, coord::CompleteError> RemoteWorker::complete(
    const shard::CursorUpdate& cursor) {
  return ending<Answer<coord::Unit, coord::CompleteError>>([&] {
    return parts_.backend.complete(now(), acquired_.lease().tenant(), acquired_.lease(), cursor,
                                   next_op());
  });
}

RemoteWorker::Answer<coord::Unit, coord::ParkError> RemoteWorker::park(coord::ParkReason reason) {
  return ending<Answer<coord::Unit, coord::ParkError>>([&] {
    return parts_.backend.park_shard(now(), acquired_.lease().tenant(), acquired_.lease(), reason,
                                     next_op());
  });
}

RemoteWorker::Answer<coord::Unit, coord::ReleaseError> RemoteWorker::release(
    const shard::CursorUpdate& cursor) {
  return ending<Answer<coord::Unit, coord::ReleaseError>>([&] {
    return parts_.backend.release_shard(now(), acquired_.lease().tenant(), acquired_.lease(),
                                        cursor, next_op());
  });
}

RemoteWorker::Answer<coord::SplitReplaceResult, coord::SplitReplaceError>
RemoteWorker::split_replace(const shard::SplitReplacePlan& plan) {
  return ending<Answer<coord::SplitReplaceResult, coord::SplitReplaceError>>([&] {
    return parts_.backend.split_replace(now(), acquired_.lease().tenant(), acquired_.lease(), plan,
                                        next_op());
  });
}

}  // namespace cadastre::client
