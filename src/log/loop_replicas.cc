// Loop: what replicated groups need beyond it: ticks, frames of peers, leadership.

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "log/loop.h"

namespace cadastre::log {

void Loop::tick(base::Elapsed now) {
  const base::Elapsed since = now - std::exchange(last_pass_, now);
  if (replicated_.empty()) return;
  if (since > parts_.settings.raft.election_timeout() / 2) {
    parts_.metrics.stalls.fetch_add(1, std::memory_order_relaxed);
    notices_.stood_still({.gap = since, .took = last_took_, .frames = last_frames_});
  }
  if (!peers_.tick_due(now)) return;
  for (GroupLog* group : replicated_)
    tick(*group, now);
}

void Loop::tick(GroupLog& group, base::Elapsed now) {
  if (group.halted) return;
  group.engine->tick();
  const bool watched = watch_members(group, now);
  leave_joint(group);
  // A lease is looked after even in a quiet group: its clock may have failed.
  if (watched || group.lease || group.engine->has_output()) touch(group);
  for (ReadRounds::Reader& reader :
       group.reads.expire(parts_.settings.raft.election_timeout() / 2, now))
    reader.done(base::fail(ReadError::kUnavailable, "no quorum answered in time"));
  if (group.transfer && now >= group.transfer->until) {
    auto transfer = std::exchange(group.transfer, std::nullopt);
    transfer->done(base::fail(TransferError::kTimedOut, "the receiver did not take over in time"));
  }
  finish_halt(group);
  while (!group.outcome_waits.empty() && now >= group.outcome_waits.front().until) {
    const Term term = group.outcome_waits.front().term;
    group.outcome_waits.pop_front();
    const std::string reason = "the leader of term " + to_string(term) + " lost sight of it";
    for (EntryWaiters& waiters : group.waiters.take_upto(term)) {
      group.metrics.record(ProposeError::kOutcomeUnknown, waiters.done.size());
      group.queue.settled(amount_of(waiters));
      for (Done& done : waiters.done)
        done(base::fail(ProposeError::kOutcomeUnknown, reason));
    }
    if (group.conf_waiter && group.conf_waiter->at.term <= term) {
      auto waiter = std::exchange(group.conf_waiter, std::nullopt);
      waiter->done(base::fail(ConfError::kOutcomeUnknown, reason));
    }
  }
}

void Loop::receive() {
  Inbound::Some some = parts_.inbound.take(kPassMessagesMax);
  // Read behind the frames: a thread that stood still since the pass began would think that it heard its
  // leader then, and take its promise for shorter than it is (L-61).
  const base::Elapsed now = parts_.clock.elapsed();
  more_frames_ = some.more;
  last_frames_ = some.frames.size();
  for (const Frame& frame : some.frames) {
    const auto found = groups_.find(frame.group);
    if (found == groups_.end()) {
      parts_.metrics.frames_unknown.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    switch (peers_.receive(*found->second, frame, now)) {
      case Peers::Received::kDropped: break;
      case Peers::Received::kStepped: touch(*found->second); break;
      case Peers::Received::kSnapshot: hold_snapshot(*found->second, frame, now); break;
    }
  }
  for (const NodeId peer : some.unreachable) {
    for (GroupLog* group : replicated_) {
      if (group->leading == Term{0}) continue;
      group->engine->replica()->report_unreachable(peer);
      give_up_fetch(*group, peer);
    }
  }
}

// Leadership as the engine has it now (section 10). Whoever waited on a leadership that ended is told, or
// waits for the outcome for a while.
void Loop::follow_leadership(GroupLog& group, const EngineStatus& status, base::Elapsed now) {
  if (group.engine->replica() == nullptr) return;
  const Term term = status.role == Role::kLeader ? status.term : Term{0};
  if (term == group.leading) return;
  const Term before = std::exchange(group.leading, term);
  group.offer.forget_peers();
  group.trailing.lead(now);
  group.ticks_led = 0;
  group.members.on_lost();
  group.members_shown.reset();
  if (term != Term{0}) show_members(group, group.engine->replica()->progress(), status, now);
  if (before == Term{0}) return;
  for (ReadRounds::Reader& reader : group.reads.forget())
    reader.done(base::fail(ReadError::kNotLeader, "leadership was lost"));
  if (auto transfer = std::exchange(group.transfer, std::nullopt)) transfer->done({});
  group.outcome_waits.push_back(
      {before, now + kOutcomeWaitTimeouts * parts_.settings.raft.election_timeout()});
  if (group.announced != before) return;
  std::vector<ApplyWork> work;
  work.emplace_back(LeadershipLost{before});
  if (group.applier.push_quietly(std::move(work))) to_wake_.push_back(group.id);
}

void Loop::heed_appliers(base::Elapsed now) {
  for (const GroupId id : parts_.attention.take()) {
    const auto found = groups_.find(id);
    if (found == groups_.end()) continue;
    GroupLog& group = *found->second;
    heed_halt(group, now);
    if (group.halted) continue;
    note_applied(group);
    touch(group);
    if (group.ended()) continue;
    if (const auto entry = group.applier.take_conf()) begin_conf(group, *entry);
  }
}

}  // namespace cadastre::log
