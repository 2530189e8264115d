#include "client/member_steps.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace cadastre::client {
namespace {

ClusterMemberView member(std::uint64_t node, MemberKind kind, bool caught_up = true) {
  return {.node = MemberId{node},
          .kind = kind,
          .state = MemberState::kFollows,
          .match = 90,
          .silent_ms = 10,
          .caught_up = caught_up};
}

ClusterMembership three() {
  ClusterMembership seen;
  seen.leader = MemberId{1};
  seen.committed = 100;
  seen.conf_index = 7;
  for (const std::uint64_t node : {1U, 2U, 3U})
    seen.members.push_back(member(node, MemberKind::kVoter));
  return seen;
}

std::string said(const MemberStep& step) {
  switch (step.what) {
    case MemberStep::What::kDone: return "done";
    case MemberStep::What::kWait: return "wait";
    case MemberStep::What::kRefuse: return "refuse";
    case MemberStep::What::kAsk: break;
  }
  switch (step.request.kind) {
    case ChangeKind::kAddLearner: return "add";
    case ChangeKind::kPromote: return "promote";
    case ChangeKind::kRemove: return "remove";
    case ChangeKind::kReplace: return "replace";
  }
  return "?";
}

// Killed after any step, whoever asks again goes on from what the group says.
TEST(NextStep, ReplacesStepByStep) {
  const Wish wish{
      .kind = WishKind::kReplace, .node = MemberId{4}, .voter = MemberId{3}, .peer_address = "d:2"};
  ClusterMembership seen = three();
  EXPECT_EQ(said(next_step(seen, wish)), "add");
  seen.members.push_back(member(4, MemberKind::kLearner, false));
  EXPECT_EQ(said(next_step(seen, wish)), "wait");
  seen.members.back().caught_up = true;
  const MemberStep swap = next_step(seen, wish);
  EXPECT_EQ(said(swap), "replace");
  EXPECT_EQ(swap.request.expected_conf_index, 7U);
  EXPECT_EQ(swap.request.min_match, 7U);
  EXPECT_EQ(swap.request.voter, MemberId{3});
  seen.joint = true;
  seen.members[2].kind = MemberKind::kLeaving;
  seen.members[3].kind = MemberKind::kVoter;
  seen.removed = {MemberId{3}};
  EXPECT_EQ(said(next_step(seen, wish)), "wait");
  seen.joint = false;
  seen.members.erase(seen.members.begin() + 2);
  EXPECT_EQ(said(next_step(seen, wish)), "done");
}

TEST(NextStep, AddsAndPromotesIfThatIsWished) {
  Wish wish{.kind = WishKind::kAdd, .node = MemberId{4}, .peer_address = "d:2"};
  ClusterMembership seen = three();
  EXPECT_EQ(said(next_step(seen, wish)), "add");
  seen.members.push_back(member(4, MemberKind::kLearner));
  EXPECT_EQ(said(next_step(seen, wish)), "done");
  wish.kind = WishKind::kAddVoter;
  EXPECT_EQ(said(next_step(seen, wish)), "promote");
  seen.members.back().kind = MemberKind::kVoter;
  EXPECT_EQ(said(next_step(seen, wish)), "done");
}

TEST(NextStep, RemovesOnce) {
  const Wish wish{.kind = WishKind::kRemove, .node = MemberId{3}};
  ClusterMembership seen = three();
  EXPECT_EQ(said(next_step(seen, wish)), "remove");
  seen.members.pop_back();
  EXPECT_EQ(said(next_step(seen, wish)), "refuse");
  seen.removed = {MemberId{3}};
  EXPECT_EQ(said(next_step(seen, wish)), "done");
}

TEST(NextStep, RefusesWhatMakesNoSense) {
  const ClusterMembership seen = three();
  EXPECT_EQ(said(next_step(seen, {.kind = WishKind::kAdd, .node = MemberId{4}})), "refuse");
  EXPECT_EQ(said(next_step(
                seen, {.kind = WishKind::kReplace, .node = MemberId{2}, .voter = MemberId{3}})),
            "refuse");
  EXPECT_EQ(said(next_step(
                seen, {.kind = WishKind::kReplace, .node = MemberId{4}, .voter = MemberId{9}})),
            "refuse");
}

TEST(NextStep, WaitsWhileOthersAreAtIt) {
  const Wish wish{.kind = WishKind::kRemove, .node = MemberId{3}};
  ClusterMembership seen = three();
  seen.conf_pending = true;
  EXPECT_EQ(said(next_step(seen, wish)), "wait");
  seen = three();
  seen.leader = MemberId{0};
  EXPECT_EQ(said(next_step(seen, wish)), "wait");
}

}  // namespace
}  // namespace cadastre::client
