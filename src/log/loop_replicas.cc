// Loop, third part: what replicated groups need beyond it: ticks, frames of peers, leadership, membership.

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "log/loop.h"

namespace cadastre::log {
namespace {

// Entries that the receiver of a transfer may lack (L-92).
constexpr std::uint64_t kTransferLagMax = 64;

}  // namespace

void Loop::tick(base::Elapsed now) {
  const base::Elapsed since = now - std::exchange(last_pass_, now);
  if (replicated_.empty()) return;
  if (since > parts_.settings.raft.election_timeout() / 2)
    parts_.metrics.stalls.fetch_add(1, std::memory_order_relaxed);
  if (!peers_.tick_due(now)) return;
  for (GroupLog* group : replicated_)
    tick(*group, now);
}

void Loop::tick(GroupLog& group, base::Elapsed now) {
  if (group.halted) return;
  group.engine->tick();
  with_output_.push_back(&group);
  leave_joint(group);
  for (ReadRounds::Reader& reader :
       group.reads.expire(parts_.settings.raft.election_timeout() / 2, now))
    reader.done(base::fail(ReadError::kUnavailable, "no quorum answered in time"));
  if (group.transfer && now >= group.transfer->until) {
    auto transfer = std::exchange(group.transfer, std::nullopt);
    transfer->done(base::fail(TransferError::kTimedOut, "the receiver did not take over in time"));
  }
  while (!group.outcome_waits.empty() && now >= group.outcome_waits.front().until) {
    const Term term = group.outcome_waits.front().term;
    group.outcome_waits.pop_front();
    const std::string reason = "the leader of term " + to_string(term) + " lost sight of it";
    for (EntryWaiters& waiters : group.waiters.take_upto(term)) {
      group.metrics.record(ProposeError::kOutcomeUnknown, waiters.done.size());
      group.queue.settled(waiters.done.size(), waiters.bytes);
      for (Done& done : waiters.done)
        done(base::fail(ProposeError::kOutcomeUnknown, reason));
    }
    if (group.conf_waiter && group.conf_waiter->at.term <= term) {
      auto waiter = std::exchange(group.conf_waiter, std::nullopt);
      waiter->done(base::fail(ConfError::kOutcomeUnknown, reason));
    }
  }
}

// Whoever leads and has applied an entry of its own term leaves a joint configuration, again and again until
// it is left (L-89).
void Loop::leave_joint(GroupLog& group) {
  const bool at_rest = !group.conf_waiter && !group.conf_in_disk && !group.transfer;
  if (group.leading == Term{0} || !group.confs.back().conf.joint() || !at_rest) return;
  const EngineStatus status = group.engine->status();
  if (status.term_start == Index{0} || group.applier.applied() < status.term_start) return;
  (void)group.engine->replica()->propose_conf({});  // Refused: it is under way.
}

void Loop::receive(base::Elapsed now) {
  Inbound::Some some = parts_.inbound.take(kPassMessagesMax);
  more_frames_ = some.more;
  for (const Frame& frame : some.frames) {
    const auto found = groups_.find(frame.group);
    if (found == groups_.end()) {
      parts_.metrics.frames_unknown.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    if (peers_.receive(*found->second, frame, now)) with_output_.push_back(found->second);
  }
  for (const NodeId peer : some.unreachable) {
    for (GroupLog* group : replicated_) {
      if (group->leading != Term{0}) group->engine->replica()->report_unreachable(peer);
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

void Loop::heed_appliers() {
  for (const GroupId id : parts_.attention.take()) {
    const auto found = groups_.find(id);
    if (found == groups_.end()) continue;
    GroupLog& group = *found->second;
    if (group.halted) continue;
    note_applied(group);
    with_output_.push_back(&group);
    if (const auto entry = group.applier.take_conf()) begin_conf(group, *entry);
  }
}

void Loop::begin_conf(GroupLog& group, const Entry& entry) {
  CAD_CHECK(!group.conf_in_disk, "an applier stops behind each change");
  if (entry.at.index <= group.confs.back().index) {  // The durable configuration has it (L-56).
    group.applier.go_on();
    return;
  }
  auto conf = group.engine->replica()->apply_conf(entry);
  CAD_CHECK(conf.has_value(), "a change is tried before it is proposed");
  filling_.change_conf(group, {entry.at.index, std::move(*conf), {}});
  group.conf_in_disk = ConfInDisk{entry.at};
  filling_notes_.confs.push_back(&group);
}

void Loop::finish_conf(GroupLog& group) {
  const Position at = std::exchange(group.conf_in_disk, std::nullopt)->at;
  group.conf_shown = std::make_shared<const ConfRecord>(group.confs.back());
  group.applied = at.index;
  group.engine->on_applied(at.index);
  with_output_.push_back(&group);
  if (group.conf_waiter && group.conf_waiter->at == at) {
    auto waiter = std::exchange(group.conf_waiter, std::nullopt);
    waiter->done(*group.conf_shown);
  }
  if (group.conf_shown->conf.has(parts_.self)) return group.applier.go_on();
  for (Done& done : group.queue.close())
    done(base::fail(ProposeError::kStopped, "this node was removed from the group"));
  halt(group, "this node was removed from the group");
}

// A change succeeds only if the entry at its position is that change (L-15).
void Loop::settle_conf_waiter(GroupLog& group, const Entry& entry) {
  if (!group.conf_waiter || group.conf_waiter->at.index != entry.at.index) return;
  if (group.conf_waiter->at == entry.at && entry.type == EntryType::kConfChange) return;
  auto waiter = std::exchange(group.conf_waiter, std::nullopt);
  waiter->done(base::fail(ConfError::kSuperseded, "another entry took its place"));
}

void Loop::propose_conf(Membership& request) {
  GroupLog& group = *request.group;
  Replica* const replica = group.engine->replica();
  if (group.halted || stopping_ || replica == nullptr)
    return request.done(base::fail(ConfError::kStopped, "the group takes no changes here"));
  if (request.change.change.context.size() > kConfContextBytesMax ||
      request.change.change.steps.size() > kMembersMax)
    return request.done(base::fail(ConfError::kInvalid, "the change is too large"));
  if (group.leading == Term{0})
    return request.done(base::fail(ConfError::kNotLeader, "this node does not lead the group"));
  if (group.conf_waiter || group.conf_in_disk || group.transfer)
    return request.done(base::fail(ConfError::kBusy, "a change or a transfer is under way"));
  if (request.change.expected_conf_index != group.confs.back().index) {
    return request.done(base::fail(ConfError::kStale, "the membership is that of entry " +
                                                          to_string(group.confs.back().index)));
  }
  const auto at = replica->propose_conf(request.change.change);
  if (!at) return request.done(std::unexpected(at.error()));
  group.conf_waiter = ConfWaiter{*at, std::move(request.done)};
  with_output_.push_back(&group);
}

void Loop::begin_transfer(GroupLog& group, TransferRequest& request, base::Elapsed now) {
  Replica* const replica = group.engine->replica();
  if (group.halted || stopping_ || replica == nullptr)
    return request.done(base::fail(TransferError::kStopped, "the group does not move from here"));
  if (group.leading == Term{0})
    return request.done(base::fail(TransferError::kNotLeader, "this node does not lead the group"));
  const auto peers = replica->progress();
  const auto peer = std::ranges::find(peers, request.to, &PeerProgress::node);
  if (peer == peers.end() || request.to == parts_.self)
    return request.done(base::fail(TransferError::kUnknownPeer, "not another voter of the group"));
  const Index last = group.engine->status().last;
  if (!request.options.force && entries_between(peer->match, last) > kTransferLagMax)
    return request.done(base::fail(TransferError::kBehind, "it lacks entries of the log"));
  if (const auto begun = replica->transfer(request.to); !begun)
    return request.done(std::unexpected(begun.error()));
  group.transfer = Transfer{group.leading, now + parts_.settings.raft.election_timeout(),
                            std::move(request.done)};
  with_output_.push_back(&group);
}

}  // namespace cadastre::log
