#include "server/claim_streams.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "client/wire_error.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/outcome.h"
#include "coord/run_record.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "server/claim_waiters.h"
#include "server/limits.h"
#include "shard/cursor.h"

namespace cadastre::server {
namespace {

using Presence = ClaimWaiters::Presence;

client::WireStatus stopping() {
  return client::to_status(client::Refusal{client::StatusCode::kUnavailable, "stopping",
                                           "the server is stopping", coord::RetryAdvice::kLater});
}

client::WireStatus leads_no_more() {
  return client::to_status(client::Refusal{client::StatusCode::kUnavailable, "no_leader",
                                           "another node leads now: open the stream again",
                                           coord::RetryAdvice::kLater});
}

client::WireStatus left() {
  return {client::StatusCode::kCancelled, "the caller left", {}};
}

}  // namespace

base::Result<WaiterId, ClaimStreams::OpenError> ClaimStreams::open(const RunName& run,
                                                                   coord::WorkerId worker,
                                                                   ClaimSink& sink) {
  const base::MutexLock lock(mutex_);
  if (stopping_) return base::fail(OpenError::kStopping);
  const auto waiter = waiters_.add(run);
  if (!waiter) return base::fail(OpenError::kTooMany);
  streams_.emplace(*waiter, Stream{&sink, worker});
  return *waiter;
}

bool ClaimStreams::again(WaiterId waiter) {
  const base::MutexLock lock(mutex_);
  if (stopping_) {
    waiters_.served_last(waiter);
    (void)take_sink(waiter);
    return false;
  }
  waiters_.again(waiter);
  return true;
}

void ClaimStreams::close(WaiterId waiter) {
  const base::MutexLock lock(mutex_);
  waiters_.served_last(waiter);
  (void)take_sink(waiter);
}

ClaimWaiters::Leaving ClaimStreams::leave(WaiterId waiter) {
  const base::MutexLock lock(mutex_);
  // Ended meanwhile: the sink has been told, or is about to be.
  if (!streams_.contains(waiter)) return ClaimWaiters::Leaving::kBeingTried;
  const ClaimWaiters::Leaving leaving = waiters_.leave(waiter);
  if (leaving == ClaimWaiters::Leaving::kGone) (void)take_sink(waiter);
  return leaving;
}

void ClaimStreams::give_back(const coord::Lease& lease) {
  coord::OpId op;
  {
    const base::MutexLock lock(mutex_);
    op = coord::OpId::from_raw(parts_.random.next_u64());
  }
  const RunName run{lease.tenant(), lease.run()};
  parts_.backend.release_shard(parts_.stamper.stamp(lease.tenant()), lease.tenant(), lease,
                               shard::CursorUpdate::initial(), op,
                               [this, run](const base::Result<coord::IdempotentOutcome<coord::Unit>,
                                                              coord::ReleaseError>& released) {
                                 if (released) wake(run);  // Else the deadline frees it.
                               });
}

void ClaimStreams::wake(const RunName& run) {
  {
    const base::MutexLock lock(mutex_);
    waiters_.wake(run);
  }
  this->run();
}

void ClaimStreams::on_alarm() {
  {
    const base::MutexLock lock(mutex_);
    waiters_.advance(parts_.stamper.clock_now());
  }
  run();
}

void ClaimStreams::run() {
  {
    const base::MutexLock lock(mutex_);
    if (running_) return;  // Whoever runs looks once more before it stops.
    running_ = true;
  }
  for (;;) {
    std::vector<ClaimWaiters::Attempt> attempts;
    std::optional<coord::LogicalTime> alarm;
    {
      const base::MutexLock lock(mutex_);
      attempts = waiters_.take_attempts();
      running_ = !attempts.empty();
      alarm = waiters_.next_alarm();
    }
    if (attempts.empty()) {
      if (alarm) parts_.alarm.set(*alarm);
      return;
    }
    for (const ClaimWaiters::Attempt& attempt : attempts)
      claim(attempt);
  }
}

void ClaimStreams::claim(const ClaimWaiters::Attempt& attempt) {
  coord::WorkerId worker;
  {
    const base::MutexLock lock(mutex_);
    worker = streams_.at(attempt.waiter).worker;
  }
  auto scratch = std::make_unique_for_overwrite<coord::AcquireScratch>();
  coord::AcquireScratch& out = *scratch;
  const coord::TenantId tenant = attempt.run.tenant;
  parts_.backend.claim_next_available(
      parts_.stamper.stamp(tenant), tenant, attempt.run.run, worker, out,
      [this, attempt, kept = std::move(scratch)](const Claimed& claimed) {
        finish(attempt, claimed);
      });
}

void ClaimStreams::finish(const ClaimWaiters::Attempt& attempt, const Claimed& claimed) {
  if (claimed) return finish_granted(attempt, *claimed);
  const coord::ClaimError& error = claimed.error();
  if (const auto* none = error.get_if<coord::NoneAvailable>())
    return look_at_run(attempt, none->earliest_deadline);
  if (const auto* throttled = error.get_if<coord::Throttled>()) {
    std::optional<Ending> ending;
    {
      const base::MutexLock lock(mutex_);
      const Presence presence = waiters_.throttled(attempt.waiter, throttled->retry_after);
      ending = after_nothing(attempt.waiter, presence);
    }
    if (ending) ending->sink->end(ending->status);
    return run();
  }
  finish_failed(attempt, client::to_status(error));
}

void ClaimStreams::finish_granted(const ClaimWaiters::Attempt& attempt,
                                  const coord::AcquireResultView& granted) {
  ClaimSink* sink = nullptr;
  bool deliver = false;
  {
    const base::MutexLock lock(mutex_);
    deliver =
        waiters_.granted(attempt.waiter, granted.capacity.available_count) == Presence::kThere;
    sink = deliver ? streams_.at(attempt.waiter).sink : &take_sink(attempt.waiter);
  }
  if (deliver) {
    sink->grant(granted);
  } else {
    give_back(granted.lease);
    sink->end(left());
  }
  run();
}

void ClaimStreams::finish_failed(const ClaimWaiters::Attempt& attempt,
                                 const client::WireStatus& status) {
  ClaimSink* sink = nullptr;
  {
    const base::MutexLock lock(mutex_);
    waiters_.failed(attempt.waiter);
    sink = &take_sink(attempt.waiter);
  }
  sink->end(status);
  run();
}

void ClaimStreams::look_at_run(const ClaimWaiters::Attempt& attempt,
                               std::optional<coord::LogicalTime> earliest_deadline) {
  parts_.backend.get_run(attempt.run.tenant, attempt.run.run,
                         [this, attempt, earliest_deadline](
                             const base::Result<coord::RunRecord, coord::GetRunError>& run) {
                           if (!run) return finish_failed(attempt, client::to_status(run.error()));
                           if (coord::is_terminal(run->status)) return finish_ended(attempt);
                           finish_none(attempt, earliest_deadline);
                         });
}

void ClaimStreams::finish_ended(const ClaimWaiters::Attempt& attempt) {
  std::vector<ClaimSink*> sinks;
  {
    const base::MutexLock lock(mutex_);
    for (const WaiterId waiter : waiters_.run_ended(attempt.waiter))
      sinks.push_back(&take_sink(waiter));
    // One who left while it was tried is not among those of the run.
    const auto gone = streams_.find(attempt.waiter);
    if (gone != streams_.end()) {
      sinks.push_back(gone->second.sink);
      streams_.erase(gone);
    }
  }
  for (ClaimSink* const sink : sinks)
    sink->end({});
  run();
}

void ClaimStreams::finish_none(const ClaimWaiters::Attempt& attempt,
                               std::optional<coord::LogicalTime> earliest_deadline) {
  if (earliest_deadline) {
    const auto soon = coord::saturating_add(parts_.stamper.clock_now(),
                                            static_cast<std::uint64_t>(kClaimAgainMin.count()));
    earliest_deadline = std::max(*earliest_deadline, soon);
  }
  std::optional<Ending> ending;
  {
    const base::MutexLock lock(mutex_);
    ending = after_nothing(attempt.waiter, waiters_.none(attempt.waiter, earliest_deadline));
  }
  if (ending) ending->sink->end(ending->status);
  run();
}

std::optional<ClaimStreams::Ending> ClaimStreams::after_nothing(WaiterId waiter,
                                                                Presence presence) {
  if (presence == Presence::kLeft) return Ending{&take_sink(waiter), left()};
  if (!stopping_) return std::nullopt;
  (void)waiters_.leave(waiter);
  return Ending{&take_sink(waiter), stopping()};
}

void ClaimStreams::stop() {
  std::vector<ClaimSink*> sinks;
  {
    const base::MutexLock lock(mutex_);
    stopping_ = true;
    for (const WaiterId waiter : waiters_.clear())
      sinks.push_back(&take_sink(waiter));
  }
  const client::WireStatus status = stopping();
  for (ClaimSink* const sink : sinks)
    sink->end(status);
}

void ClaimStreams::send_away() {
  std::vector<ClaimSink*> sinks;
  {
    const base::MutexLock lock(mutex_);
    for (const WaiterId waiter : waiters_.clear())
      sinks.push_back(&take_sink(waiter));
  }
  const client::WireStatus status = leads_no_more();
  for (ClaimSink* const sink : sinks)
    sink->end(status);
}

std::size_t ClaimStreams::size() const {
  const base::MutexLock lock(mutex_);
  return streams_.size();
}

ClaimSink& ClaimStreams::take_sink(WaiterId waiter) {
  const auto stream = streams_.find(waiter);
  ClaimSink& sink = *stream->second.sink;
  streams_.erase(stream);
  return sink;
}

}  // namespace cadastre::server
