// Loop: membership and transfer. The rules are membership.h; here they are asked, and what they allow
// is carried out.

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "log/loop.h"
#include "log/membership.h"

namespace cadastre::log {

// At each heartbeat of a leader: who was heard, and who is close behind. False: it was none.
bool Loop::watch_members(GroupLog& group, base::Elapsed now) {
  const RaftSettings& raft = parts_.settings.raft;
  if (group.leading == Term{0} || ++group.ticks_led % raft.heartbeat_ticks != 0) return false;
  const std::vector<PeerProgress> progress = group.engine->replica()->progress();
  const EngineStatus status = group.engine->status();
  group.members.on_heartbeat({.progress = progress,
                              .conf = group.confs.back().conf,
                              .committed = status.committed,
                              .now = now,
                              .silence_max = raft.election_timeout()});
  show_members(group, progress, status, now);
  return true;
}

void Loop::show_members(GroupLog& group,
                        std::span<const PeerProgress> progress,
                        const EngineStatus& status,
                        base::Elapsed now) {
  auto shown = std::make_shared<std::vector<MemberStatus>>();
  for (const PeerProgress& peer : progress) {
    const auto heard = peer.node == parts_.self ? now : group.members.last_heard(peer.node);
    shown->push_back({.node = peer.node,
                      .match = peer.match,
                      .behind = entries_between(peer.match, status.last),
                      .state = peer.state,
                      .silent_for = heard ? std::optional(now - *heard) : std::nullopt,
                      .round_trip = group.members.round_trip(peer.node),
                      .caught_up = group.members.caught_up(peer.node)});
  }
  group.members_shown = std::move(shown);
}

// Whoever leads and has applied an entry of its own term leaves a joint configuration, again and again until
// it is left (L-89).
void Loop::leave_joint(GroupLog& group) {
  const bool at_rest = !group.conf_waiter && !group.conf_in_disk && !group.transfer;
  if (group.leading == Term{0} || !group.confs.back().conf.joint() || !at_rest) return;
  const EngineStatus status = group.engine->status();
  if (status.term_start == Index{0} || group.applier.applied() < status.term_start) return;
  // Refused: it is under way.
  (void)group.engine->replica()->propose_conf(leaving(group.confs.back()));
}

void Loop::begin_conf(GroupLog& group, const Entry& entry) {
  CAD_CHECK(!group.conf_in_disk, "an applier stops before each change");
  if (entry.at.index <= group.confs.back().index) {
    // The durable configuration has it (L-56); that of an install is durable with its first set, and lets the applier go.
    const bool durable = !group.install || group.install->step != Install::Step::kRecording;
    if (durable) group.applier.go_on(entry.at.index);
    return;
  }
  if (group.lease) group.lease->lease.end();
  // Whoever proposes one tries it before; but what a leader of another kind makes of it is committed all the same.
  auto conf = group.engine->replica()->apply_conf(entry);
  if (!conf || !fits_record(*conf)) {
    return end_group(group, "entry " + to_string(entry.at) +
                                " is a change of membership that this release cannot make");
  }
  filling_.change_conf(group, std::move(*conf));
  group.conf_in_disk = ConfInDisk{entry.at};
  filling_notes_.confs.push_back(&group);
}

void Loop::finish_conf(GroupLog& group) {
  const Position at = std::exchange(group.conf_in_disk, std::nullopt)->at;
  group.conf_shown = std::make_shared<const ConfRecord>(group.confs.back());
  notices_.membership_changed(group.id, *group.conf_shown);
  touch(group);
  if (group.conf_waiter && group.conf_waiter->at == at) {
    auto waiter = std::exchange(group.conf_waiter, std::nullopt);
    waiter->done(*group.conf_shown);
  }
  if (group.conf_shown->conf.has(parts_.self)) return group.applier.go_on(at.index);
  leave_group(group);
}

// A change succeeds only if the entry at its position is that change (L-15).
void Loop::settle_conf_waiter(GroupLog& group, const Entry& entry) {
  if (!group.conf_waiter || group.conf_waiter->at.index != entry.at.index) return;
  if (group.conf_waiter->at == entry.at && entry.type == EntryType::kConfChange) return;
  auto waiter = std::exchange(group.conf_waiter, std::nullopt);
  waiter->done(base::fail(ConfError::kSuperseded, "another entry took its place"));
}

// This node is no member any more: it does nothing in the group, now and after a restart. Its log stays (L-88, L-90).
void Loop::leave_group(GroupLog& group) {
  const std::string reason = "this node was removed from the group";
  filling_.bury(group);
  end_group(group, reason);
}

void Loop::take_not_wanted(const NotWanted& told) {
  const auto found = groups_.find(told.group);
  if (found == groups_.end()) return;
  GroupLog& group = *found->second;
  if (group.ended() || group.conf_in_disk || group.engine->replica() == nullptr) return;
  if (learns_removal(group.confs.back(), parts_.self, told)) leave_group(group);
}

MembershipView Loop::view_of(GroupLog& group, base::Elapsed now) const {
  MembershipView view{
      .record = group.confs.back(), .self = parts_.self, .last = group.engine->status().last};
  const base::Elapsed since = now - kAwayTimeouts * parts_.settings.raft.election_timeout();
  for (const PeerProgress& peer : group.engine->replica()->progress()) {
    view.members.push_back({.node = peer.node,
                            .match = peer.match,
                            .heard = group.members.heard_since(peer.node, since),
                            .caught_up = group.members.caught_up(peer.node)});
  }
  return view;
}

void Loop::propose_conf(Membership& request, base::Elapsed now) {
  GroupLog& group = *request.group;
  Replica* const replica = group.engine->replica();
  if (group.ended() || stopping_ || replica == nullptr)
    return request.done(base::fail(ConfError::kStopped, "the group takes no changes here"));
  if (group.leading == Term{0})
    return request.done(base::fail(ConfError::kNotLeader, "this node does not lead the group"));
  if (group.conf_waiter || group.conf_in_disk || group.transfer)
    return request.done(base::fail(ConfError::kBusy, "a change or a transfer is under way"));
  const MembershipView view = view_of(group, now);
  const auto planned = plan_change(view, request.change);
  if (!planned && planned.error().code == ConfError::kNotLeader)
    return hand_over_first(request, view, now);
  if (!planned) return request.done(std::unexpected(planned.error()));
  const auto at = replica->propose_conf(*planned);
  if (!at) return request.done(std::unexpected(at.error()));
  group.conf_waiter = ConfWaiter{*at, std::move(request.done)};
  touch(group);
}

// The leader itself is concerned: another one leads, and is to be asked (L-88).
void Loop::hand_over_first(Membership& request, const MembershipView& view, base::Elapsed now) {
  const NodeId to = successor_of(view, request.change);
  if (to == kNoNode) {
    return request.done(base::fail(
        ConfError::kBusy, "no other voter is near enough to lead, and the leader stays: wait"));
  }
  TransferRequest transfer{
      to,
      {},
      [to, done = std::move(request.done)](const base::Result<void, TransferError>& said) mutable {
        if (said)
          return done(base::fail(ConfError::kNotLeader,
                                 "node " + to_string(to) + " leads now: ask it for the change"));
        done(base::fail(ConfError::kBusy, "leadership did not move: " + said.error().detail));
      }};
  begin_transfer(*request.group, transfer, now);
}

void Loop::begin_transfer(GroupLog& group, TransferRequest& request, base::Elapsed now) {
  Replica* const replica = group.engine->replica();
  if (group.halted || stopping_ || replica == nullptr)
    return request.done(base::fail(TransferError::kStopped, "the group does not move from here"));
  if (group.leading == Term{0})
    return request.done(base::fail(TransferError::kNotLeader, "this node does not lead the group"));
  if (group.conf_waiter || group.conf_in_disk || group.transfer) {
    return request.done(base::fail(TransferError::kBusy,
                                   "a change of membership or another transfer is under way"));
  }
  const auto peers = replica->progress();
  const auto peer = std::ranges::find(peers, request.to, &PeerProgress::node);
  if (peer == peers.end() || request.to == parts_.self)
    return request.done(base::fail(TransferError::kUnknownPeer, "not another voter of the group"));
  const Index last = group.engine->status().last;
  if (!request.options.force && entries_between(peer->match, last) > kLagMax) {
    return request.done(base::fail(TransferError::kBehind,
                                   "it lacks entries of the log: wait until it has them, or "
                                   "give --force, and the group waits for it"));
  }
  if (const auto begun = replica->transfer(request.to); !begun)
    return request.done(std::unexpected(begun.error()));
  if (group.lease) group.lease->lease.forbid();
  group.transfer = Transfer{group.leading, now + parts_.settings.raft.election_timeout(),
                            std::move(request.done)};
  touch(group);
}

}  // namespace cadastre::log
