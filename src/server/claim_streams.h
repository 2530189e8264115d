// ClaimStreams: carries out what ClaimWaiters decides: claims for those who wait, grants to them, shards
// that nobody takes given back.
//
// A sink is borrowed from open() until its end() is called, or leave() said kGone, or close() was called
// for it; then it is never touched again. grant() is called at most once between open() or again() and
// the next again().
//
// A claim that is committed for a caller who has left is released at once: the next one need not wait for
// the lease to end. A server that dies in between leaves it to the deadline.
//
// Safe from any thread. No lock is held while a sink or the backend is called.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "client/wire_error.h"
#include "coord/async_backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/snapshot.h"
#include "server/claim_waiters.h"
#include "server/stamper.h"

namespace cadastre::server {

// One who waits for shards.
class ClaimSink {
 public:
  ClaimSink() = default;
  ClaimSink(const ClaimSink&) = delete;
  ClaimSink& operator=(const ClaimSink&) = delete;
  virtual ~ClaimSink() = default;

  // The view is good for the call. Answered by again(), close() or give_back() and close().
  virtual void grant(const coord::AcquireResultView& granted) = 0;
  // Nothing comes any more. OK: the run has ended.
  virtual void end(const client::WireStatus& status) = 0;
};

// Calls on_alarm() of those who asked, at about that time and not before; a later set replaces an earlier
// one. Milliseconds of the server's clock.
class AlarmClock {
 public:
  AlarmClock() = default;
  AlarmClock(const AlarmClock&) = delete;
  AlarmClock& operator=(const AlarmClock&) = delete;
  virtual ~AlarmClock() = default;

  virtual void set(coord::LogicalTime at) = 0;
};

struct ClaimStreamsParts {
  coord::AsyncCoordinationFacade& backend;
  const Stamper& stamper;
  AlarmClock& alarm;
  base::Random& random;  // for the op ids of releases; used by this alone
};

class ClaimStreams {
 public:
  // The parts outlive it, and the backend's completions have run when it goes.
  explicit ClaimStreams(const ClaimStreamsParts& parts) : parts_(parts) {}

  enum class OpenError : std::uint8_t {
    kTooMany,   // Try later.
    kStopping,  // Try another server, or later.
  };
  // Lines up. Nothing is claimed before run().
  [[nodiscard]] base::Result<WaiterId, OpenError> open(const RunName& run,
                                                       coord::WorkerId worker,
                                                       ClaimSink& sink) CAD_EXCLUDES(mutex_);
  // Lines up once more; false: the server stops, and the sink is closed.
  [[nodiscard]] bool again(WaiterId waiter) CAD_EXCLUDES(mutex_);
  // One who was granted something wants no more.
  void close(WaiterId waiter) CAD_EXCLUDES(mutex_);
  // One who waits goes. kBeingTried: end() follows.
  [[nodiscard]] ClaimWaiters::Leaving leave(WaiterId waiter) CAD_EXCLUDES(mutex_);
  // A shard that was granted and did not reach its worker.
  void give_back(const coord::Lease& lease) CAD_EXCLUDES(mutex_);

  // Something of the run may be free; runs.
  void wake(const RunName& run) CAD_EXCLUDES(mutex_);
  // The alarm; runs.
  void on_alarm() CAD_EXCLUDES(mutex_);
  // Claims for those whose turn it is, as long as there are some.
  void run() CAD_EXCLUDES(mutex_);

  // Ends everybody with UNAVAILABLE; those who are being tried once they are answered.
  void stop() CAD_EXCLUDES(mutex_);

  // This server leads no more: those who wait are told to ask again, elsewhere, for nothing wakes them here. Those
  // who are being tried find out by themselves.
  void send_away() CAD_EXCLUDES(mutex_);

  // For metrics: how many are open.
  [[nodiscard]] std::size_t size() const CAD_EXCLUDES(mutex_);

 private:
  struct Stream {
    ClaimSink* sink;
    coord::WorkerId worker;
  };
  // A sink, out of the lock.
  struct Ending {
    ClaimSink* sink;
    client::WireStatus status;
  };
  using Claimed = base::Result<coord::AcquireResultView, coord::ClaimError>;

  void claim(const ClaimWaiters::Attempt& attempt) CAD_EXCLUDES(mutex_);
  void finish(const ClaimWaiters::Attempt& attempt, const Claimed& claimed) CAD_EXCLUDES(mutex_);
  void finish_granted(const ClaimWaiters::Attempt& attempt, const coord::AcquireResultView& granted)
      CAD_EXCLUDES(mutex_);
  void finish_failed(const ClaimWaiters::Attempt& attempt, const client::WireStatus& status)
      CAD_EXCLUDES(mutex_);
  // Nothing was free: is the run over, or is it worth waiting?
  void look_at_run(const ClaimWaiters::Attempt& attempt,
                   std::optional<coord::LogicalTime> earliest_deadline) CAD_EXCLUDES(mutex_);
  void finish_ended(const ClaimWaiters::Attempt& attempt) CAD_EXCLUDES(mutex_);
  void finish_none(const ClaimWaiters::Attempt& attempt,
                   std::optional<coord::LogicalTime> earliest_deadline) CAD_EXCLUDES(mutex_);
  // Who is to be told that it is over after an attempt that gave nothing, if anyone.
  [[nodiscard]] std::optional<Ending> after_nothing(WaiterId waiter,
                                                    ClaimWaiters::Presence presence)
      CAD_REQUIRES(mutex_);
  // The sink of one who is forgotten.
  [[nodiscard]] ClaimSink& take_sink(WaiterId waiter) CAD_REQUIRES(mutex_);

  const ClaimStreamsParts parts_;
  mutable base::Mutex mutex_;
  ClaimWaiters waiters_ CAD_GUARDED_BY(mutex_);
  std::map<WaiterId, Stream> streams_ CAD_GUARDED_BY(mutex_);
  bool running_ CAD_GUARDED_BY(mutex_) = false;
  bool stopping_ CAD_GUARDED_BY(mutex_) = false;
};

}  // namespace cadastre::server
