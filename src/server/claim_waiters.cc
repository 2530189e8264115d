#include "server/claim_waiters.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "coord/identity.h"
#include "server/limits.h"

namespace cadastre::server {
namespace {

constexpr WaiterId kOfTheLine{0};

}  // namespace

base::Result<WaiterId, ClaimWaiters::AddError> ClaimWaiters::add(const RunName& run) {
  if (waiters_.size() >= kClaimStreamsMax) return base::fail(AddError::kTooMany);
  std::size_t& of_tenant = of_tenant_[run.tenant];
  if (of_tenant >= kClaimStreamsPerTenantMax) return base::fail(AddError::kTooMany);
  ++of_tenant;
  const WaiterId id{++last_id_};
  Waiter& waiter = waiters_.emplace(id, Waiter{.run = run}).first->second;
  Line& line = lines_[run];
  ++line.members;
  enqueue(id, waiter, line, ++last_place_);
  give_turns(run, line, 1);
  return id;
}

ClaimWaiters::Leaving ClaimWaiters::leave(WaiterId waiter) {
  const auto at = waiters_.find(waiter);
  CAD_CHECK(at != waiters_.end(), "a waiter leaves once");
  if (at->second.state == State::kTrying) {
    at->second.state = State::kTryingLeft;
    return Leaving::kBeingTried;
  }
  if (at->second.state == State::kServed) return Leaving::kServed;
  CAD_CHECK(at->second.state != State::kTryingLeft, "a waiter leaves once");
  forget(at, lines_.find(at->second.run));
  return Leaving::kGone;
}

void ClaimWaiters::wake(const RunName& run) {
  const auto line = lines_.find(run);
  if (line == lines_.end()) return;
  ++line->second.wakes;
  give_turns(run, line->second, 1);
}

void ClaimWaiters::advance(coord::LogicalTime now) {
  while (!alarms_.empty() && alarms_.begin()->at <= now) {
    const Alarm alarm = *alarms_.begin();
    alarms_.erase(alarms_.begin());
    Line& line = lines_.at(alarm.run);
    if (alarm.throttled == kOfTheLine) {
      line.alarm.reset();
    } else {
      Waiter& waiter = waiters_.at(alarm.throttled);
      enqueue(alarm.throttled, waiter, line, waiter.place);
    }
    ++line.wakes;
    give_turns(alarm.run, line, 1);
  }
}

std::optional<coord::LogicalTime> ClaimWaiters::next_alarm() const {
  if (alarms_.empty()) return std::nullopt;
  return alarms_.begin()->at;
}

std::vector<ClaimWaiters::Attempt> ClaimWaiters::take_attempts() {
  std::vector<Attempt> attempts;
  for (auto run = ready_.begin(); run != ready_.end();) {
    Line& line = lines_.at(*run);
    while (line.turns > 0 && !line.waiting.empty() && line.trying < kClaimsPerRunMax) {
      const WaiterId id = line.waiting.begin()->second;
      line.waiting.erase(line.waiting.begin());
      Waiter& waiter = waiters_.at(id);
      waiter.state = State::kTrying;
      waiter.began = line.wakes;
      ++line.trying;
      --line.turns;
      attempts.push_back({id, *run});
    }
    // A full house takes its turns when an attempt ends.
    if (line.waiting.empty()) line.turns = 0;
    run = ready_.erase(run);
  }
  return attempts;
}

ClaimWaiters::Presence ClaimWaiters::granted(WaiterId waiter, std::uint32_t available) {
  const auto at = trying(waiter);
  const auto line = lines_.find(at->second.run);
  // What a backend says of the rest is advice: one more always looks for itself.
  give_turns(line->first, line->second, std::max<std::size_t>(available, 1));
  if (end_attempt(at, line) == Presence::kLeft) return Presence::kLeft;
  at->second.state = State::kServed;
  return Presence::kThere;
}

ClaimWaiters::Presence ClaimWaiters::none(WaiterId waiter,
                                          std::optional<coord::LogicalTime> earliest_deadline) {
  const auto at = trying(waiter);
  const auto line = lines_.find(at->second.run);
  // A claim that began before the last wake says nothing of what that may have freed.
  const bool outdated = at->second.began != line->second.wakes;
  if (outdated) {
    give_turns(line->first, line->second, 1);
  } else {
    line->second.turns = 0;
  }
  if (earliest_deadline) set_alarm(line->first, line->second, *earliest_deadline);
  if (end_attempt(at, line) == Presence::kLeft) return Presence::kLeft;
  enqueue(waiter, at->second, line->second, at->second.place);
  return Presence::kThere;
}

ClaimWaiters::Presence ClaimWaiters::throttled(WaiterId waiter, coord::LogicalTime until) {
  const auto at = trying(waiter);
  const auto line = lines_.find(at->second.run);
  give_turns(line->first, line->second, 1);  // It has not looked: the next one does.
  if (end_attempt(at, line) == Presence::kLeft) return Presence::kLeft;
  at->second.state = State::kThrottled;
  alarms_.insert({until, at->second.run, waiter});
  return Presence::kThere;
}

void ClaimWaiters::failed(WaiterId waiter) {
  const auto at = trying(waiter);
  const auto line = lines_.find(at->second.run);
  give_turns(line->first, line->second, 1);
  if (end_attempt(at, line) == Presence::kThere) forget(at, line);
}

std::vector<WaiterId> ClaimWaiters::run_ended(WaiterId waiter) {
  const auto at = trying(waiter);
  const RunName run = at->second.run;
  std::vector<WaiterId> gone;
  if (end_attempt(at, lines_.find(run)) == Presence::kThere) {
    gone.push_back(waiter);
    forget(at, lines_.find(run));
  }
  for (auto other = waiters_.begin(); other != waiters_.end();) {
    const auto next = std::next(other);
    const State state = other->second.state;
    if (other->second.run == run && (state == State::kWaiting || state == State::kThrottled)) {
      gone.push_back(other->first);
      forget(other, lines_.find(run));
    }
    other = next;
  }
  return gone;
}

void ClaimWaiters::again(WaiterId waiter) {
  Waiter& served = waiters_.at(waiter);
  CAD_CHECK(served.state == State::kServed, "only who was served lines up again");
  Line& line = lines_.at(served.run);
  enqueue(waiter, served, line, ++last_place_);
  give_turns(served.run, line, 1);
}

void ClaimWaiters::served_last(WaiterId waiter) {
  const auto at = waiters_.find(waiter);
  CAD_CHECK(at != waiters_.end() && at->second.state == State::kServed,
            "only who was served goes by itself");
  forget(at, lines_.find(at->second.run));
}

std::vector<WaiterId> ClaimWaiters::clear() {
  std::vector<WaiterId> gone;
  for (auto at = waiters_.begin(); at != waiters_.end();) {
    const auto next = std::next(at);
    if (at->second.state == State::kWaiting || at->second.state == State::kThrottled) {
      gone.push_back(at->first);
      forget(at, lines_.find(at->second.run));
    }
    at = next;
  }
  return gone;
}

void ClaimWaiters::enqueue(WaiterId id, Waiter& waiter, Line& line, std::uint64_t place) {
  waiter.state = State::kWaiting;
  waiter.place = place;
  line.waiting.emplace(place, id);
}

void ClaimWaiters::give_turns(const RunName& run, Line& line, std::size_t turns) {
  line.turns = std::max(line.turns, turns);
  ready_.insert(run);
}

void ClaimWaiters::set_alarm(const RunName& run, Line& line, coord::LogicalTime at) {
  if (line.alarm && *line.alarm <= at) return;
  if (line.alarm) alarms_.erase({*line.alarm, run, kOfTheLine});
  line.alarm = at;
  alarms_.insert({at, run, kOfTheLine});
}

ClaimWaiters::Presence ClaimWaiters::end_attempt(Waiters::iterator waiter, Lines::iterator line) {
  --line->second.trying;
  if (line->second.turns > 0) ready_.insert(line->first);
  if (waiter->second.state == State::kTrying) return Presence::kThere;
  forget(waiter, line);
  return Presence::kLeft;
}

void ClaimWaiters::forget(Waiters::iterator waiter, Lines::iterator line) {
  Line& members = line->second;
  if (waiter->second.state == State::kWaiting) members.waiting.erase(waiter->second.place);
  if (waiter->second.state == State::kThrottled) {
    std::erase_if(alarms_, [&](const Alarm& alarm) { return alarm.throttled == waiter->first; });
  }
  const auto tenant = of_tenant_.find(waiter->second.run.tenant);
  if (--tenant->second == 0) of_tenant_.erase(tenant);
  waiters_.erase(waiter);
  if (--members.members > 0) return;
  if (members.alarm) alarms_.erase({*members.alarm, line->first, kOfTheLine});
  ready_.erase(line->first);
  lines_.erase(line);
}

ClaimWaiters::Waiters::iterator ClaimWaiters::trying(WaiterId waiter) {
  const auto at = waiters_.find(waiter);
  CAD_CHECK(at != waiters_.end() &&
                (at->second.state == State::kTrying || at->second.state == State::kTryingLeft),
            "an attempt is answered once");
  return at;
}

}  // namespace cadastre::server
