#include "client/cluster_admin.h"

#include <algorithm>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <grpc/support/log.h>
#include <grpc/support/time.h>
#include <grpcpp/grpcpp.h>

#include "cadastre/v1/admin.grpc.pb.h"
#include "cadastre/v1/coordination.pb.h"
#include "google/rpc/status.pb.h"

#include "client/address.h"
#include "client/grpc/channel.h"
#include "client/limits.h"
#include "client/remote_coordination.h"
#include "coord/errors.h"

namespace cadastre::client {
namespace {

coord::RetryAdvice from_wire(v1::Retry retry) noexcept {
  switch (retry) {
    case v1::RETRY_NOW: return coord::RetryAdvice::kNow;
    case v1::RETRY_LATER: return coord::RetryAdvice::kLater;
    default: return coord::RetryAdvice::kNever;
  }
}

AdminError from_status(const grpc::Status& status) {
  google::rpc::Status details;
  if (status.error_details().size() <= kMessageBytesMax &&
      details.ParseFromString(status.error_details())) {
    for (const auto& detail : details.details()) {
      v1::Error error;
      if (detail.Is<v1::Error>() && detail.UnpackTo(&error))
        return {error.code(), error.detail(), from_wire(error.retry())};
    }
  }
  if (is_unheard(status)) {
    return {"unreachable", "no node answered: " + status.error_message(),
            coord::RetryAdvice::kLater};
  }
  return {"refused", status.error_message().substr(0, kErrorTextMax), coord::RetryAdvice::kNever};
}

MemberKind from_wire(v1::MemberKind kind) noexcept {
  switch (kind) {
    case v1::MEMBER_KIND_LEARNER: return MemberKind::kLearner;
    case v1::MEMBER_KIND_LEAVING: return MemberKind::kLeaving;
    default: return MemberKind::kVoter;
  }
}

MemberState from_wire(v1::MemberState state) noexcept {
  switch (state) {
    case v1::MEMBER_STATE_PROBED: return MemberState::kProbed;
    case v1::MEMBER_STATE_FOLLOWS: return MemberState::kFollows;
    case v1::MEMBER_STATE_SNAPSHOT: return MemberState::kSnapshot;
    default: return MemberState::kUnknown;
  }
}

ClusterMembership from_wire(const v1::Membership& wire) {
  ClusterMembership out{.cluster = wire.cluster(),
                        .group = wire.group(),
                        .node = MemberId{wire.node()},
                        .role = wire.role(),
                        .term = wire.term(),
                        .leader = MemberId{wire.leader()},
                        .last = wire.last(),
                        .committed = wire.committed(),
                        .applied = wire.applied(),
                        .durable = wire.durable(),
                        .truncated = wire.truncated(),
                        .conf_index = wire.conf_index(),
                        .conf_pending = wire.conf_pending(),
                        .joint = wire.joint(),
                        .recovered = wire.recovered(),
                        .halted = wire.halted()};
  for (const v1::Member& member : wire.members()) {
    out.members.push_back(
        {.node = MemberId{member.node()},
         .kind = from_wire(member.kind()),
         .peer_address = member.peer_address(),
         .service_address = member.service_address(),
         .state = from_wire(member.state()),
         .match = member.match(),
         .silent_ms = member.has_silent_ms() ? std::optional(member.silent_ms()) : std::nullopt,
         .caught_up = member.caught_up()});
  }
  for (const std::uint64_t node : wire.removed())
    out.removed.emplace_back(node);
  return out;
}

v1::ChangeMembershipRequest to_wire(const MembershipRequest& request) {
  v1::ChangeMembershipRequest wire;
  wire.set_expected_conf_index(request.expected_conf_index);
  wire.set_force(request.force);
  switch (request.kind) {
    case ChangeKind::kAddLearner:
      wire.mutable_add_learner()->set_node(request.node.value());
      wire.mutable_add_learner()->set_peer_address(request.peer_address);
      wire.mutable_add_learner()->set_service_address(request.service_address);
      break;
    case ChangeKind::kPromote:
      wire.mutable_promote()->set_node(request.node.value());
      wire.mutable_promote()->set_min_match(request.min_match);
      break;
    case ChangeKind::kRemove: wire.mutable_remove()->set_node(request.node.value()); break;
    case ChangeKind::kReplace:
      wire.mutable_replace()->set_learner(request.node.value());
      wire.mutable_replace()->set_voter(request.voter.value());
      wire.mutable_replace()->set_min_match(request.min_match);
      break;
  }
  return wire;
}

// Nothing was done: nobody heard it, or a node that knows no leader did, such as one that was removed.
bool asks_another(const grpc::Status& status) {
  if (!is_unheard(status)) return false;
  return status.error_details().empty() || from_status(status).code == "no_leader";
}

}  // namespace

std::string_view name_of(MemberKind kind) noexcept {
  switch (kind) {
    case MemberKind::kVoter: return "voter";
    case MemberKind::kLearner: return "learner";
    case MemberKind::kLeaving: return "leaving";
  }
  return "voter";
}

std::string_view name_of(MemberState state) noexcept {
  switch (state) {
    case MemberState::kUnknown: return "unknown";
    case MemberState::kProbed: return "probed";
    case MemberState::kFollows: return "follows";
    case MemberState::kSnapshot: return "snapshot";
  }
  return "unknown";
}

const ClusterMemberView* ClusterMembership::find(MemberId id) const noexcept {
  const auto found = std::ranges::find(members, id, &ClusterMemberView::node);
  return found == members.end() ? nullptr : &*found;
}

bool ClusterMembership::has_left(MemberId id) const noexcept {
  return std::ranges::find(removed, id) != removed.end();
}

// The one that answered last comes first.
struct ClusterAdmin::Stubs {
  std::vector<std::unique_ptr<v1::Admin::Stub>> all;

  template <class Request, class Answer>
  grpc::Status call(const RemoteOptions& options,
                    grpc::Status (v1::Admin::Stub::*method)(grpc::ClientContext*,
                                                            const Request&,
                                                            Answer*),
                    const Request& request,
                    Answer& answer) {
    grpc::Status status;
    for (std::size_t tried = 0; tried < all.size(); ++tried) {
      grpc::ClientContext context;
      if (!options.token.empty()) context.AddMetadata("authorization", "Bearer " + options.token);
      context.set_deadline(gpr_time_from_millis(options.call_timeout.count(), GPR_TIMESPAN));
      answer.Clear();
      status = (all.front().get()->*method)(&context, request, &answer);
      if (!asks_another(status)) return status;
      ask_another();
    }
    return status;
  }
  void ask_another() { std::ranges::rotate(all, all.begin() + 1); }
};

Result<std::unique_ptr<ClusterAdmin>, RemoteError> ClusterAdmin::open(
    const RemoteOptions& options) {
  CAD_TRY(check(options));
  gpr_set_log_function([](gpr_log_func_args*) {});
  auto stubs = std::make_unique<Stubs>();
  for (const std::string_view address : addresses_of(options.address))
    stubs->all.push_back(v1::Admin::NewStub(connect(std::string(address), options.tls)));
  return std::unique_ptr<ClusterAdmin>(new ClusterAdmin(options, std::move(stubs)));
}

ClusterAdmin::ClusterAdmin(RemoteOptions options, std::unique_ptr<Stubs> stubs)
    : options_(std::move(options)), stubs_(std::move(stubs)) {}

ClusterAdmin::~ClusterAdmin() = default;

AdminResult<ClusterMembership> ClusterAdmin::membership(ViewOf view) {
  v1::GetMembershipRequest request;
  request.set_here(view == ViewOf::kNode);
  v1::Membership answer;
  for (std::size_t left = stubs_->all.size(); left > 0; --left) {
    const grpc::Status status =
        stubs_->call(options_, &v1::Admin::Stub::GetMembership, request, answer);
    if (!status.ok()) return std::unexpected(from_status(status));
    if (view == ViewOf::kNode || answer.leader() != 0) break;
    // It knows no leader, as one that was removed, and shows what it has: another one may know more.
    stubs_->ask_another();
  }
  return from_wire(answer);
}

AdminResult<ClusterMembership> ClusterAdmin::change(const MembershipRequest& request) {
  v1::Membership answer;
  const grpc::Status status =
      stubs_->call(options_, &v1::Admin::Stub::ChangeMembership, to_wire(request), answer);
  if (!status.ok()) return std::unexpected(from_status(status));
  return from_wire(answer);
}

AdminResult<void> ClusterAdmin::transfer(MemberId to, bool force) {
  v1::TransferLeadershipRequest request;
  request.set_to(to.value());
  request.set_force(force);
  v1::TransferLeadershipResponse answer;
  const grpc::Status status =
      stubs_->call(options_, &v1::Admin::Stub::TransferLeadership, request, answer);
  if (!status.ok()) return std::unexpected(from_status(status));
  return {};
}

}  // namespace cadastre::client
