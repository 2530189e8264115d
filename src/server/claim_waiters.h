// ClaimWaiters: who waits for a shard of which run, and whose turn it is to try.
//
// A line forms for each run. Whatever may have freed a shard wakes the line; then the first in it tries
// to claim, and as long as claims succeed the next ones do, several at a time where the backend says
// that there is more. A claim that finds nothing puts the line to sleep, until the next wake or until
// the earliest lease ends.
//
//              add, wake, alarm                     none: back to its place
//   waiting ──────────────────────► trying ────────────────────────────────► waiting
//                                     │ granted        throttled: until its time ─► waiting
//                                     ▼
//                                  served ── again (behind all others) ────► waiting
//
// Invariants
//   1. Nobody is tried before one who has waited longer for the same run, unless that one is throttled.
//   2. A wake is never lost: a claim that began before it puts nobody to sleep.
//   3. A line with somebody in it and no attempt under way has nothing to claim, as far as its last
//      attempt could see, or an attempt is due.
//   4. Nothing is kept of a waiter that left, but while it is being tried; a line without waiters is gone.
//
// A pure step machine: no clock, no I/O, no locks. Times are the server's, in milliseconds.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/result.h"
#include "base/strong.h"
#include "coord/identity.h"

namespace cadastre::server {

using WaiterId = base::Strong<struct WaiterIdTag>;

struct RunName {
  coord::TenantId tenant;
  coord::RunId run;

  friend std::strong_ordering operator<=>(const RunName&, const RunName&) noexcept = default;
  friend bool operator==(const RunName&, const RunName&) noexcept = default;
};

class ClaimWaiters {
 public:
  enum class AddError : std::uint8_t {
    kTooMany,  // Streams, of this tenant or of all: try later.
  };
  // Somebody who should claim now.
  struct Attempt {
    WaiterId waiter;
    RunName run;
  };
  enum class Presence : std::uint8_t {
    kThere,
    kLeft,  // while it was being tried; it is forgotten now
  };

  // To the end of its line. Somebody of the line tries at once.
  [[nodiscard]] base::Result<WaiterId, AddError> add(const RunName& run);

  enum class Leaving : std::uint8_t {
    kGone,
    kBeingTried,  // Whoever tries learns from the answer's Presence that it left.
    kServed,  // Nothing changed: its grant is on the way, and who delivers it ends it by served_last().
  };
  // Whatever it does at the moment: one leaves when one likes.
  [[nodiscard]] Leaving leave(WaiterId waiter);

  // Something of the run may be free.
  void wake(const RunName& run);
  // Time has come to `now`.
  void advance(coord::LogicalTime now);
  // When to call advance() next, though nobody wakes.
  [[nodiscard]] std::optional<coord::LogicalTime> next_alarm() const;

  // Those whose turn it is. Each is answered with exactly one of the five below.
  [[nodiscard]] std::vector<Attempt> take_attempts();

  // It got a shard, and so many were left. Afterwards it is served: out of the line, still counted.
  [[nodiscard]] Presence granted(WaiterId waiter, std::uint32_t available);
  // There was none; the earliest lease ends then.
  [[nodiscard]] Presence none(WaiterId waiter, std::optional<coord::LogicalTime> earliest_deadline);
  // It claims too often.
  [[nodiscard]] Presence throttled(WaiterId waiter, coord::LogicalTime until);
  // It could not be tried, and goes.
  void failed(WaiterId waiter);
  // The run has ended: everybody who waits goes, and those who are being tried once they are answered.
  // `waiter` itself is among those returned, if it had not left.
  [[nodiscard]] std::vector<WaiterId> run_ended(WaiterId waiter);

  // One who was served: to the end of its line; out.
  void again(WaiterId waiter);
  void served_last(WaiterId waiter);

  // Everybody who waits goes.
  [[nodiscard]] std::vector<WaiterId> clear();

  [[nodiscard]] std::size_t size() const noexcept { return waiters_.size(); }

 private:
  enum class State : std::uint8_t {
    kWaiting,
    kThrottled,
    kTrying,
    kTryingLeft,
    kServed
  };
  struct Waiter {
    RunName run;
    State state = State::kWaiting;
    std::uint64_t place = 0;  // in its line
    std::uint64_t began = 0;  // the line's wakes when its attempt began
  };
  struct Line {
    std::map<std::uint64_t, WaiterId> waiting;  // by place
    std::size_t members = 0;                    // in any state
    std::size_t trying = 0;
    std::size_t turns = 0;    // attempts that may begin
    std::uint64_t wakes = 0;  // so far
    std::optional<coord::LogicalTime> alarm;
  };
  struct Alarm {
    coord::LogicalTime at;
    RunName run;
    WaiterId throttled;  // 0: of the line
    friend auto operator<=>(const Alarm&, const Alarm&) noexcept = default;
  };

  using Waiters = std::map<WaiterId, Waiter>;
  using Lines = std::map<RunName, Line>;

  void enqueue(WaiterId id, Waiter& waiter, Line& line, std::uint64_t place);
  void give_turns(const RunName& run, Line& line, std::size_t turns);
  // The earlier one of this and the one that is set: answers may come out of order.
  void set_alarm(const RunName& run, Line& line, coord::LogicalTime at);
  // Ends the attempt of one that is being tried. kLeft: it is forgotten.
  [[nodiscard]] Presence end_attempt(Waiters::iterator waiter, Lines::iterator line);
  void forget(Waiters::iterator waiter, Lines::iterator line);
  [[nodiscard]] Waiters::iterator trying(WaiterId waiter);

  Waiters waiters_;
  Lines lines_;
  std::set<RunName> ready_;  // lines with turns to give
  std::set<Alarm> alarms_;
  std::map<coord::TenantId, std::size_t> of_tenant_;
  std::uint64_t last_id_ = 0;
  std::uint64_t last_place_ = 0;
};

}  // namespace cadastre::server
