#include "log/membership.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "log/frame_bodies.h"
#include "log/limits.h"

namespace cadastre::log {
namespace {

using Refused = std::unexpected<base::Error<ConfError>>;
using Checked = base::Result<void, ConfError>;

bool in(const std::vector<NodeId>& list, NodeId node) noexcept {
  return std::ranges::find(list, node) != list.end();
}

const MemberSight* sight_of(const MembershipView& view, NodeId node) noexcept {
  const auto found = std::ranges::find(view.members, node, &MemberSight::node);
  return found == view.members.end() ? nullptr : &*found;
}

bool heard(const MembershipView& view, NodeId node) noexcept {
  const MemberSight* const sight = sight_of(view, node);
  return node == view.self || (sight != nullptr && sight->heard);
}

// Whether the step takes a vote away.
bool takes_vote(const ConfState& conf, const ConfStep& step) noexcept {
  return step.op != ConfOp::kAddVoter && in(conf.voters, step.node);
}

std::vector<NodeId> voters_after(const ConfState& conf, const MembershipChange& change) {
  std::vector<NodeId> voters = conf.voters;
  for (const ConfStep& step : change.steps) {
    std::erase(voters, step.node);
    if (step.op == ConfOp::kAddVoter) voters.push_back(step.node);
  }
  return voters;
}

Checked check_form(const MembershipView& view, const MembershipChange& change) {
  if (change.steps.empty() || change.steps.size() > kMembersMax)
    return base::fail(ConfError::kInvalid, "a change has one step, or a few");
  for (const ConfStep& step : change.steps) {
    if (step.node == kNoNode) return base::fail(ConfError::kInvalid, "0 is no node");
    const auto same = [&](const ConfStep& other) {
      return other.node == step.node;
    };
    if (std::ranges::count_if(change.steps, same) > 1) {
      return base::fail(ConfError::kInvalid,
                        fmt::format("node {} is named twice in one change", step.node.value()));
    }
  }
  if (change.expected_conf_index != view.record.index) {
    return base::fail(ConfError::kStale,
                      fmt::format("the membership is that of entry {}, not of "
                                  "entry {}: look at it again",
                                  view.record.index.value(), change.expected_conf_index.value()));
  }
  if (view.record.conf.joint()) {
    return base::fail(ConfError::kBusy,
                      "the membership is joint and will be left by itself: wait for it");
  }
  return {};
}

Checked check_learner(const MembershipView& view,
                      const ConfContext& context,
                      const MembershipChange& change,
                      NodeId node) {
  const ConfState& conf = view.record.conf;
  if (in(conf.voters, node)) return {};  // A demotion.
  if (conf.has(node)) {
    return base::fail(ConfError::kInvalid,
                      fmt::format("node {} is a learner of the group already", node.value()));
  }
  if (context.has_left(node)) {
    return base::fail(ConfError::kInvalid,
                      fmt::format("node {} was removed from the group, and its id is never used "
                                  "again: give the machine a new raft_id and an empty directory",
                                  node.value()));
  }
  const auto address = std::ranges::find(change.addresses, node, &PeerAddress::node);
  if (address == change.addresses.end() || !is_address(address->address.peer) ||
      (!address->address.service.empty() && !is_address(address->address.service))) {
    return base::fail(
        ConfError::kInvalid,
        fmt::format("where node {} is to be found must be said when it joins", node.value()));
  }
  if (conf.voters.size() + conf.learners.size() >= kMembersMax)
    return base::fail(ConfError::kInvalid,
                      fmt::format("a group has at most {} members", kMembersMax));
  return {};
}

Checked check_voter(const MembershipView& view, const MembershipChange& change, NodeId node) {
  if (in(view.record.conf.voters, node)) {
    return base::fail(ConfError::kInvalid,
                      fmt::format("node {} is a voter of the group already", node.value()));
  }
  if (!in(view.record.conf.learners, node)) {
    return base::fail(
        ConfError::kInvalid,
        fmt::format("node {} is no learner of the group: add it as one first", node.value()));
  }
  if (change.force) return {};
  if (change.min_match == Index{0})
    return base::fail(ConfError::kInvalid, "a promotion says which entry the learner must have");
  const MemberSight* const sight = sight_of(view, node);
  const Index match = sight == nullptr ? Index{0} : sight->match;
  if (sight == nullptr || !sight->caught_up || match < change.min_match) {
    return base::fail(ConfError::kBusy,
                      fmt::format("learner {} has not caught up: it has entry {} of {}; wait for "
                                  "it, and see that it runs",
                                  node.value(), match.value(), view.last.value()));
  }
  return {};
}

Checked check_removal(const MembershipView& view,
                      const ConfContext& context,
                      const MembershipChange& change,
                      NodeId node) {
  if (!view.record.conf.has(node)) {
    return base::fail(ConfError::kInvalid,
                      fmt::format("node {} is no member of the group", node.value()));
  }
  const auto leaving =
      static_cast<std::size_t>(std::ranges::count(change.steps, ConfOp::kRemove, &ConfStep::op));
  if (context.removed.size() + leaving > kRemovedMax) {
    return base::fail(
        ConfError::kInvalid,
        fmt::format("{} nodes have left the group, and it remembers no more: begin a new "
                    "cluster, where their ids are free again",
                    kRemovedMax));
  }
  return {};
}

// A majority of them was heard from.
bool quorum_heard(const MembershipView& view, const std::vector<NodeId>& voters) {
  const auto present = static_cast<std::size_t>(
      std::ranges::count_if(voters, [&](NodeId node) { return heard(view, node); }));
  return 2 * present > voters.size();
}

Checked check_quorum(const MembershipView& view, const MembershipChange& change) {
  const ConfState& conf = view.record.conf;
  const std::vector<NodeId> after = voters_after(conf, change);
  if (after.empty()) return base::fail(ConfError::kInvalid, "a group keeps at least one voter");
  const bool takes = std::ranges::any_of(
      change.steps, [&](const ConfStep& step) { return takes_vote(conf, step); });
  if (!takes || change.force) return {};
  if (quorum_heard(view, after) && (change.steps.size() == 1 || quorum_heard(view, conf.voters)))
    return {};
  std::string away;
  for (const NodeId node : after) {
    if (!heard(view, node)) away += fmt::format("{}{}", away.empty() ? "" : ", ", node.value());
  }
  return base::fail(ConfError::kBusy,
                    fmt::format("those who would remain have no quorum: node {} was not heard "
                                "lately; bring it back first, or force the change",
                                away));
}

std::string_view form_of(const ConfStep& step) {
  return step.op == ConfOp::kRemove ? "removed" : "demoted";
}

Checked check_leader(const MembershipView& view, const MembershipChange& change) {
  for (const ConfStep& step : change.steps) {
    if (step.node != view.self || !takes_vote(view.record.conf, step)) continue;
    return base::fail(ConfError::kNotLeader, fmt::format("node {} leads and cannot be {}",
                                                         view.self.value(), form_of(step)));
  }
  return {};
}

ConfContext context_after(ConfContext context, const MembershipChange& change) {
  for (const ConfStep& step : change.steps) {
    const auto place =
        std::ranges::lower_bound(context.addresses, step.node, {}, &PeerAddress::node);
    const bool known = place != context.addresses.end() && place->node == step.node;
    if (step.op == ConfOp::kRemove) {
      if (known) context.addresses.erase(place);
      context.removed.insert(std::ranges::lower_bound(context.removed, step.node), step.node);
      continue;
    }
    const auto said = std::ranges::find(change.addresses, step.node, &PeerAddress::node);
    if (said == change.addresses.end()) continue;
    if (known) {
      place->address = said->address;
    } else {
      context.addresses.insert(place, *said);
    }
  }
  return context;
}

}  // namespace

base::Result<ConfChange, ConfError> plan_change(const MembershipView& view,
                                                const MembershipChange& change) {
  CAD_TRY(check_form(view, change));
  const auto context = decode_conf_context(view.record.context);
  if (!context) {
    return base::fail(ConfError::kInvalid,
                      "a newer release wrote this membership: change it with that one");
  }
  for (const ConfStep& step : change.steps) {
    switch (step.op) {
      case ConfOp::kAddVoter: CAD_TRY(check_voter(view, change, step.node)); break;
      case ConfOp::kAddLearner: CAD_TRY(check_learner(view, *context, change, step.node)); break;
      case ConfOp::kRemove: CAD_TRY(check_removal(view, *context, change, step.node)); break;
    }
  }
  CAD_TRY(check_quorum(view, change));
  CAD_TRY(check_leader(view, change));
  ConfChange planned{.steps = change.steps,
                     .context = encode_conf_context(context_after(*context, change))};
  if (planned.context.size() > kConfContextBytesMax)
    return base::fail(ConfError::kInvalid, "the addresses of all members are too long together");
  return planned;
}

NodeId successor_of(const MembershipView& view, const MembershipChange& change) {
  const std::vector<NodeId> after = voters_after(view.record.conf, change);
  const MemberSight* best = nullptr;
  for (const MemberSight& member : view.members) {
    const bool votes_now_and_then =
        in(after, member.node) && in(view.record.conf.voters, member.node);
    if (member.node == view.self || !votes_now_and_then || !member.heard) continue;
    if (entries_between(member.match, view.last) > kLagMax) continue;
    if (best == nullptr || member.match > best->match) best = &member;
  }
  return best == nullptr ? kNoNode : best->node;
}

ConfChange leaving(const ConfRecord& record) {
  return {.steps = {}, .context = record.context};
}

bool learns_removal(const ConfRecord& own, NodeId self, const NotWanted& told) noexcept {
  return own.conf.has(self) && own.conf.has(told.by) && told.configuration > own.index;
}

}  // namespace cadastre::log
