#include "server/admin_handlers.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cadastre/v1/admin.pb.h"

#include "base/result.h"
#include "client/wire_error.h"
#include "coord/errors.h"
#include "log/conf_context.h"
#include "log/conf_state.h"
#include "log/engine.h"
#include "log/frame_bodies.h"
#include "log/group.h"
#include "log/group_status.h"
#include "log/membership.h"
#include "log/replica.h"
#include "log/types.h"
#include "server/access.h"
#include "server/admission.h"

namespace cadastre::server {
namespace {

using client::Refusal;
using client::StatusCode;
using client::WireStatus;
using coord::RetryAdvice;

WireStatus bad_request(std::string_view detail) {
  return client::to_status(
      Refusal{StatusCode::kInvalidArgument, "bad_request", detail, RetryAdvice::kNever});
}

WireStatus to_status(const base::Error<log::ConfError>& error) {
  const auto refused = [&](StatusCode status, std::string_view code, RetryAdvice retry) {
    return client::to_status(Refusal{status, code, error.detail, retry});
  };
  switch (error.code) {
    case log::ConfError::kNotLeader:
      return refused(StatusCode::kUnavailable, "not_leader", RetryAdvice::kNow);
    case log::ConfError::kBusy:
      return refused(StatusCode::kFailedPrecondition, "busy", RetryAdvice::kLater);
    case log::ConfError::kInvalid:
      return refused(StatusCode::kFailedPrecondition, "invalid_change", RetryAdvice::kNever);
    case log::ConfError::kStale:
      return refused(StatusCode::kFailedPrecondition, "stale_membership", RetryAdvice::kNow);
    case log::ConfError::kStopped:
      return refused(StatusCode::kUnavailable, "stopped", RetryAdvice::kLater);
    case log::ConfError::kSuperseded:
      return refused(StatusCode::kAborted, "superseded", RetryAdvice::kNow);
    case log::ConfError::kOutcomeUnknown: break;
  }
  return refused(StatusCode::kUnknown, "outcome_unknown", RetryAdvice::kNow);
}

WireStatus to_status(const base::Error<log::TransferError>& error) {
  const auto refused = [&](StatusCode status, std::string_view code, RetryAdvice retry) {
    return client::to_status(Refusal{status, code, error.detail, retry});
  };
  switch (error.code) {
    case log::TransferError::kNotLeader:
      return refused(StatusCode::kUnavailable, "not_leader", RetryAdvice::kNow);
    case log::TransferError::kUnknownPeer:
      return refused(StatusCode::kFailedPrecondition, "invalid_change", RetryAdvice::kNever);
    case log::TransferError::kBehind:
    case log::TransferError::kBusy:
    case log::TransferError::kTimedOut:
      return refused(StatusCode::kFailedPrecondition, "busy", RetryAdvice::kLater);
    case log::TransferError::kStopped: break;
  }
  return refused(StatusCode::kUnavailable, "stopped", RetryAdvice::kLater);
}

v1::MemberState to_wire(log::PeerState state) noexcept {
  switch (state) {
    case log::PeerState::kProbe: return v1::MEMBER_STATE_PROBED;
    case log::PeerState::kReplicate: return v1::MEMBER_STATE_FOLLOWS;
    case log::PeerState::kSnapshot: return v1::MEMBER_STATE_SNAPSHOT;
  }
  return v1::MEMBER_STATE_UNSPECIFIED;
}

void encode_member(const AdminGroup& group,
                   const log::GroupStatus& status,
                   log::NodeId node,
                   v1::Member& out) {
  const log::ConfState& conf = status.conf->conf;
  const auto in = [node](const std::vector<log::NodeId>& list) {
    return std::ranges::find(list, node) != list.end();
  };
  out.set_node(node.value());
  out.set_kind(in(conf.voters)            ? v1::MEMBER_KIND_VOTER
               : in(conf.voters_outgoing) ? v1::MEMBER_KIND_LEAVING
                                          : v1::MEMBER_KIND_LEARNER);
  if (const auto address = group.address_of(node)) {
    out.set_peer_address(address->peer);
    out.set_service_address(address->service);
  }
  if (status.members == nullptr) return;
  const auto seen = std::ranges::find(*status.members, node, &log::MemberStatus::node);
  if (seen == status.members->end()) return;
  out.set_state(to_wire(seen->state));
  out.set_match(seen->match.value());
  out.set_caught_up(seen->caught_up);
  if (seen->silent_for) {
    const auto silent =
        std::chrono::duration_cast<std::chrono::milliseconds>(*seen->silent_for).count();
    out.set_silent_ms(static_cast<std::uint64_t>(std::max<std::int64_t>(silent, 0)));
  }
}

void encode_membership(const AdminGroup& group,
                       const log::GroupStatus& status,
                       v1::Membership& out) {
  out.set_cluster(group.cluster.value());
  out.set_group(group.group.id().value());
  out.set_node(group.self.value());
  out.set_role(std::string(log::name_of(status.role)));
  out.set_term(status.term.value());
  out.set_leader(status.leader.value());
  out.set_last(status.last.value());
  out.set_committed(status.committed.value());
  out.set_applied(status.applied.value());
  out.set_durable(status.durable.value());
  out.set_truncated(status.truncated.value());
  out.set_halted(status.halted);
  out.set_conf_pending(status.conf_pending);
  if (status.conf == nullptr) return;
  const log::ConfState& conf = status.conf->conf;
  const log::ConfContext context = log::context_of(*status.conf);
  out.set_conf_index(status.conf->index.value());
  out.set_joint(conf.joint());
  out.set_recovered(context.recovered);
  std::vector<log::NodeId> nodes = conf.voters;
  for (const auto* list : {&conf.learners, &conf.voters_outgoing, &conf.learners_next})
    nodes.insert(nodes.end(), list->begin(), list->end());
  std::ranges::sort(nodes);
  nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
  for (const log::NodeId node : nodes)
    encode_member(group, status, node, *out.add_members());
  for (const log::NodeId node : context.removed)
    out.add_removed(node.value());
}

// Nothing: the message names no change.
std::optional<log::MembershipChange> decode(const v1::ChangeMembershipRequest& request) {
  log::MembershipChange change;
  change.expected_conf_index = log::Index{request.expected_conf_index()};
  change.force = request.force();
  switch (request.change_case()) {
    case v1::ChangeMembershipRequest::kAddLearner: {
      const v1::AddLearner& add = request.add_learner();
      const log::NodeId node{add.node()};
      change.steps = {{log::ConfOp::kAddLearner, node}};
      change.addresses = {{node, {add.peer_address(), add.service_address()}}};
      return change;
    }
    case v1::ChangeMembershipRequest::kPromote:
      change.steps = {{log::ConfOp::kAddVoter, log::NodeId{request.promote().node()}}};
      change.min_match = log::Index{request.promote().min_match()};
      return change;
    case v1::ChangeMembershipRequest::kRemove:
      change.steps = {{log::ConfOp::kRemove, log::NodeId{request.remove().node()}}};
      return change;
    case v1::ChangeMembershipRequest::kReplace:
      change.steps = {{log::ConfOp::kAddVoter, log::NodeId{request.replace().learner()}},
                      {log::ConfOp::kRemove, log::NodeId{request.replace().voter()}}};
      change.min_match = log::Index{request.replace().min_match()};
      return change;
    case v1::ChangeMembershipRequest::CHANGE_NOT_SET: break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<WireStatus> AdminHandlers::refusal(const Caller& caller) const {
  const auto refused = [](StatusCode status, std::string_view code, std::string_view detail,
                          RetryAdvice retry) {
    return client::to_status(Refusal{status, code, detail, retry});
  };
  if (parts_.access.decide(caller.authorization, *tenant_of_word(kOperatorTenant)) !=
      Access::kAllowed) {
    return refused(StatusCode::kPermissionDenied, "permission_denied",
                   "a bearer token that is bound to the tenant `operator` is needed",
                   RetryAdvice::kNever);
  }
  if (caller.deadline && *caller.deadline <= parts_.clock.now()) {
    return refused(StatusCode::kDeadlineExceeded, "deadline_exceeded",
                   "the deadline had passed; nothing was executed", RetryAdvice::kLater);
  }
  if (parts_.group == nullptr) {
    return refused(StatusCode::kFailedPrecondition, "not_replicated",
                   "this server is on its own: there are no members", RetryAdvice::kNever);
  }
  if (parts_.admission.enter() == Admission::Entry::kEntered) return std::nullopt;
  return refused(StatusCode::kUnavailable, "overloaded",
                 "the server is full or stopping; nothing was executed", RetryAdvice::kLater);
}

void AdminHandlers::get_membership(const Caller& caller,
                                   const v1::GetMembershipRequest& /*request*/,
                                   v1::Membership& answer,
                                   Done done) {
  if (const auto refused = refusal(caller)) return done(*refused);
  encode_membership(*parts_.group, parts_.group->group.status(), answer);
  parts_.admission.leave();
  done({});
}

void AdminHandlers::change_membership(const Caller& caller,
                                      const v1::ChangeMembershipRequest& request,
                                      v1::Membership& answer,
                                      Done done) {
  if (const auto refused = refusal(caller)) return done(*refused);
  auto change = decode(request);
  if (!change) {
    parts_.admission.leave();
    return done(bad_request("the request names no change"));
  }
  parts_.group->group.change_membership(
      *std::move(change),
      [this, &answer, told = std::move(done)](
          const base::Result<log::ConfRecord, log::ConfError>& changed) mutable {
        if (changed) {
          log::GroupStatus status = parts_.group->group.status();
          status.conf = std::make_shared<const log::ConfRecord>(*changed);
          encode_membership(*parts_.group, status, answer);
        }
        parts_.admission.leave();
        told(changed ? WireStatus{} : to_status(changed.error()));
      });
}

void AdminHandlers::transfer_leadership(const Caller& caller,
                                        const v1::TransferLeadershipRequest& request,
                                        v1::TransferLeadershipResponse& /*answer*/,
                                        Done done) {
  if (const auto refused = refusal(caller)) return done(*refused);
  parts_.group->group.transfer_leadership(
      log::NodeId{request.to()}, {.force = request.force()},
      [this, told = std::move(done)](const base::Result<void, log::TransferError>& moved) mutable {
        parts_.admission.leave();
        told(moved ? WireStatus{} : to_status(moved.error()));
      });
}

}  // namespace cadastre::server
