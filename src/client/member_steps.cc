#include "client/member_steps.h"

#include <utility>

#include <fmt/format.h>

namespace cadastre::client {
namespace {

using What = MemberStep::What;

MemberStep done() {
  return {};
}
MemberStep wait(std::string why) {
  return {.what = What::kWait, .why = std::move(why)};
}
MemberStep refuse(std::string why) {
  return {.what = What::kRefuse, .why = std::move(why)};
}

MemberStep ask(const ClusterMembership& seen, const Wish& wish, ChangeKind kind) {
  return {.what = What::kAsk,
          .request = {.expected_conf_index = seen.conf_index,
                      .kind = kind,
                      .node = wish.node,
                      .voter = wish.voter,
                      .peer_address = wish.peer_address,
                      .service_address = wish.service_address,
                      .min_match = seen.conf_index,
                      .force = wish.force}};
}

// Until the learner may vote; then `kind`.
MemberStep once_caught_up(const ClusterMembership& seen,
                          const Wish& wish,
                          const ClusterMemberView& learner,
                          ChangeKind kind) {
  if (learner.caught_up || wish.force) return ask(seen, wish, kind);
  return wait(fmt::format("learner {} has entry {} of {}", wish.node.value(), learner.match,
                          seen.committed));
}

MemberStep add(const ClusterMembership& seen, const Wish& wish) {
  const ClusterMemberView* const member = seen.find(wish.node);
  if (member == nullptr) {
    if (wish.peer_address.empty())
      return refuse(fmt::format("node {} is no member: say with --peer where it is to be found",
                                wish.node.value()));
    return ask(seen, wish, ChangeKind::kAddLearner);
  }
  if (member->kind == MemberKind::kVoter || wish.kind == WishKind::kAdd) return done();
  if (member->kind == MemberKind::kLeaving)
    return refuse(fmt::format("node {} is about to leave", wish.node.value()));
  return once_caught_up(seen, wish, *member, ChangeKind::kPromote);
}

MemberStep remove(const ClusterMembership& seen, const Wish& wish) {
  if (seen.find(wish.node) != nullptr) return ask(seen, wish, ChangeKind::kRemove);
  if (seen.has_left(wish.node)) return done();
  return refuse(fmt::format("node {} is no member of the group", wish.node.value()));
}

MemberStep replace(const ClusterMembership& seen, const Wish& wish) {
  const ClusterMemberView* const fresh = seen.find(wish.node);
  const ClusterMemberView* const old_one = seen.find(wish.voter);
  if (old_one == nullptr) {
    if (!seen.has_left(wish.voter))
      return refuse(fmt::format("node {} is no member of the group", wish.voter.value()));
    if (fresh != nullptr && fresh->kind == MemberKind::kVoter) return done();
    return refuse(fmt::format("node {} has left already: add node {} with `node add --promote`",
                              wish.voter.value(), wish.node.value()));
  }
  if (old_one->kind != MemberKind::kVoter)
    return refuse(fmt::format("node {} is no voter: remove it", wish.voter.value()));
  if (fresh == nullptr) {
    if (wish.peer_address.empty())
      return refuse(fmt::format("node {} is no member: say with --peer where it is to be found",
                                wish.node.value()));
    return ask(seen, wish, ChangeKind::kAddLearner);
  }
  if (fresh->kind == MemberKind::kVoter)
    return refuse(fmt::format("node {} votes already: remove node {} with `node remove`",
                              wish.node.value(), wish.voter.value()));
  return once_caught_up(seen, wish, *fresh, ChangeKind::kReplace);
}

}  // namespace

MemberStep next_step(const ClusterMembership& seen, const Wish& wish) {
  if (seen.leader == MemberId{0}) return wait("no leader is known");
  if (seen.joint) return wait("the group is in a joint configuration and is leaving it");
  if (seen.conf_pending) return wait("another change is under way");
  switch (wish.kind) {
    case WishKind::kAdd:
    case WishKind::kAddVoter: return add(seen, wish);
    case WishKind::kRemove: return remove(seen, wish);
    case WishKind::kReplace: return replace(seen, wish);
  }
  return done();
}

}  // namespace cadastre::client
