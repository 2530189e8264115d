#include "log/membership.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log/member_watch.h"

namespace cadastre::log {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kLearner = ConfOp::kAddLearner;
constexpr auto kVoter = ConfOp::kAddVoter;
constexpr auto kRemove = ConfOp::kRemove;

std::vector<NodeId> nodes(std::vector<std::uint64_t> ids) {
  std::vector<NodeId> out;
  for (const std::uint64_t id : ids)
    out.emplace_back(id);
  return out;
}

// Node 1 leads voters 1 to 3; 4 and 5 are learners, of which 4 has caught up; 9 was removed.
struct Scene {
  ConfRecord record{
      Index{10},
      {.voters = nodes({1, 2, 3}), .learners = nodes({4, 5})},
      encode_conf_context({.addresses = {{NodeId{4}, {"h4:2", ""}}}, .removed = nodes({9})})};
  std::vector<MemberSight> members = {{NodeId{1}, Index{100}, true, true},
                                      {NodeId{2}, Index{99}, true, true},
                                      {NodeId{3}, Index{40}, true, true},
                                      {NodeId{4}, Index{98}, true, true},
                                      {NodeId{5}, Index{0}, false, false}};

  [[nodiscard]] MembershipView view() const {
    return {.record = record, .self = NodeId{1}, .last = Index{100}, .members = members};
  }
  void away(std::uint64_t node) { members[node - 1].heard = false; }
};

MembershipChange change(std::vector<ConfStep> steps) {
  MembershipChange asked{.steps = std::move(steps), .expected_conf_index = Index{10}};
  for (const ConfStep& step : asked.steps)
    asked.addresses.push_back({step.node, {"h" + to_string(step.node) + ":2", ""}});
  asked.min_match = Index{50};
  return asked;
}

std::string verdict(const base::Result<ConfChange, ConfError>& planned) {
  if (planned) return "allowed";
  switch (planned.error().code) {
    case ConfError::kNotLeader: return "not leader";
    case ConfError::kBusy: return "not now";
    case ConfError::kInvalid: return "never";
    case ConfError::kStale: return "stale";
    case ConfError::kStopped:
    case ConfError::kSuperseded:
    case ConfError::kOutcomeUnknown: break;
  }
  return "?";
}

TEST(PlanChange, LetsMembersChangeByTheRules) {  // L-86 to L-91, S-22
  struct Case {
    std::string what;
    std::vector<ConfStep> steps;
    std::string expected;
    std::vector<std::uint64_t> away = {};
  };
  const std::vector<Case> cases = {
      {"a new node joins as a learner", {{kLearner, NodeId{6}}}, "allowed"},
      {"a new node does not join as a voter", {{kVoter, NodeId{6}}}, "never"},
      {"a learner is not added again", {{kLearner, NodeId{4}}}, "never"},
      {"an id that was removed never comes back", {{kLearner, NodeId{9}}}, "never"},
      {"0 is no node", {{kLearner, NodeId{0}}}, "never"},
      {"a learner that has caught up is promoted", {{kVoter, NodeId{4}}}, "allowed"},
      {"a learner that was never fed is not", {{kVoter, NodeId{5}}}, "not now"},
      {"a voter is not promoted", {{kVoter, NodeId{2}}}, "never"},
      {"a follower is removed", {{kRemove, NodeId{3}}}, "allowed"},
      {"one that is away is removed", {{kRemove, NodeId{3}}}, "allowed", {3}},
      {"not if those who remain have no quorum", {{kRemove, NodeId{3}}}, "not now", {2}},
      {"a demotion takes a vote as well", {{kLearner, NodeId{3}}}, "not now", {2}},
      {"a learner takes no vote with it", {{kRemove, NodeId{5}}}, "allowed", {2}},
      {"a stranger is not removed", {{kRemove, NodeId{7}}}, "never"},
      {"the leader is not removed", {{kRemove, NodeId{1}}}, "not leader"},
      {"nor demoted", {{kLearner, NodeId{1}}}, "not leader"},
      {"a lost voter is replaced", {{kVoter, NodeId{4}}, {kRemove, NodeId{3}}}, "allowed", {3}},
      {"not while too many are away",
       {{kVoter, NodeId{4}}, {kRemove, NodeId{3}}},
       "not now",
       {2, 3}},
      {"not by one that is behind", {{kVoter, NodeId{5}}, {kRemove, NodeId{3}}}, "not now"},
      {"a node has one step", {{kLearner, NodeId{3}}, {kRemove, NodeId{3}}}, "never"},
      {"no step is no change", {}, "never"},
  };
  for (const Case& each : cases) {
    Scene scene;
    for (const std::uint64_t node : each.away)
      scene.away(node);
    const auto planned = plan_change(scene.view(), change(each.steps));
    EXPECT_EQ(verdict(planned), each.expected)
        << each.what << (planned ? "" : ": " + planned.error().detail);
  }
}

TEST(PlanChange, RemembersAllThatItRemovesOrRemovesNobody) {  // L-90
  const auto with_removed = [](std::size_t count) {
    Scene scene;
    ConfContext context;
    for (std::uint64_t id = 0; id < count; ++id)
      context.removed.emplace_back(1'000 + id);
    scene.record.context = encode_conf_context(context);
    return plan_change(scene.view(), change({{kRemove, NodeId{4}}, {kRemove, NodeId{5}}}));
  };
  EXPECT_EQ(verdict(with_removed(kRemovedMax - 2)), "allowed");
  EXPECT_EQ(verdict(with_removed(kRemovedMax - 1)), "never");
}

TEST(PlanChange, HoldsItsCallerToTheMembershipThatItSaw) {  // L-87
  MembershipChange asked = change({{kLearner, NodeId{6}}});
  asked.expected_conf_index = Index{9};
  EXPECT_EQ(verdict(plan_change(Scene().view(), asked)), "stale");
}

TEST(PlanChange, WaitsForAJointMembershipToBeLeft) {  // L-87
  Scene scene;
  scene.record.conf.voters_outgoing = nodes({1, 2});
  EXPECT_EQ(verdict(plan_change(scene.view(), change({{kLearner, NodeId{6}}}))), "not now");
}

TEST(PlanChange, ForcesWhatIsNotForbidden) {  // L-90, S-22
  Scene scene;
  scene.away(2);
  MembershipChange asked = change({{kRemove, NodeId{3}}});
  asked.force = true;
  EXPECT_EQ(verdict(plan_change(scene.view(), asked)), "allowed");
  asked.steps = {{kVoter, NodeId{5}}};
  EXPECT_EQ(verdict(plan_change(scene.view(), asked)), "allowed");
  asked.steps = {{kRemove, NodeId{1}}};
  EXPECT_EQ(verdict(plan_change(scene.view(), asked)), "not leader");
  asked.steps = {{kLearner, NodeId{9}}};
  EXPECT_EQ(verdict(plan_change(scene.view(), asked)), "never");
}

TEST(PlanChange, APromotionSaysWhichEntryItNeeds) {  // S-22
  MembershipChange asked = change({{kVoter, NodeId{4}}});
  asked.min_match = Index{0};
  EXPECT_EQ(verdict(plan_change(Scene().view(), asked)), "never");
  asked.min_match = Index{99};
  EXPECT_EQ(verdict(plan_change(Scene().view(), asked)), "not now");
  asked.min_match = Index{98};
  EXPECT_EQ(verdict(plan_change(Scene().view(), asked)), "allowed");
}

TEST(PlanChange, TheLastVoterStays) {
  Scene scene;
  scene.record.conf = {.voters = nodes({1})};
  EXPECT_EQ(verdict(plan_change(scene.view(), change({{kRemove, NodeId{1}}}))), "never");
}

TEST(PlanChange, AJoinerSaysWhereItIs) {  // L-91
  MembershipChange asked = change({{kLearner, NodeId{6}}});
  asked.addresses.clear();
  EXPECT_EQ(verdict(plan_change(Scene().view(), asked)), "never");
  asked.addresses = {{NodeId{6}, {"no address", ""}}};
  EXPECT_EQ(verdict(plan_change(Scene().view(), asked)), "never");
}

TEST(PlanChange, CarriesTheWholeContext) {  // L-90, L-91
  const auto added = plan_change(Scene().view(), change({{kLearner, NodeId{6}}}));
  ASSERT_TRUE(added);
  const auto joined = decode_conf_context(added->context);
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->addresses,
            (std::vector<PeerAddress>{{NodeId{4}, {"h4:2", ""}}, {NodeId{6}, {"h6:2", ""}}}));
  EXPECT_EQ(joined->removed, nodes({9}));
  const auto swapped =
      plan_change(Scene().view(), change({{kVoter, NodeId{4}}, {kRemove, NodeId{3}}}));
  ASSERT_TRUE(swapped);
  EXPECT_EQ(decode_conf_context(swapped->context)->removed, nodes({3, 9}));
  EXPECT_EQ(leaving({Index{11}, {}, swapped->context}).context, swapped->context);
}

TEST(PlanChange, RecoveredStaysForEver) {  // L-93
  Scene scene;
  scene.record.context = encode_conf_context({.recovered = true});
  const auto planned = plan_change(scene.view(), change({{kLearner, NodeId{6}}}));
  ASSERT_TRUE(planned);
  EXPECT_TRUE(decode_conf_context(planned->context)->recovered);
}

TEST(PlanChange, LeavesAContextAloneThatItDoesNotUnderstand) {
  Scene scene;
  scene.record.context = Bytes(9, std::byte{0xff});
  EXPECT_EQ(verdict(plan_change(scene.view(), change({{kLearner, NodeId{6}}}))), "never");
}

TEST(SuccessorOf, IsTheVoterThatLacksLeast) {  // L-88
  Scene scene;
  const MembershipChange asked = change({{kRemove, NodeId{1}}});
  EXPECT_EQ(successor_of(scene.view(), asked), NodeId{2});
  scene.away(2);
  EXPECT_EQ(successor_of(scene.view(), asked), NodeId{3});
  scene.members[2].match = Index{35};  // It lacks more than may be missing.
  EXPECT_EQ(successor_of(scene.view(), asked), kNoNode);
  EXPECT_EQ(successor_of(Scene().view(), change({{kRemove, NodeId{1}}, {kRemove, NodeId{2}}})),
            NodeId{3});
}

TEST(LearnsRemoval, OnlyAMemberByALaterConfiguration) {  // L-90
  const ConfRecord own{Index{10}, {.voters = nodes({1, 2, 3})}, {}};
  const auto told = [](std::uint64_t by, std::uint64_t configuration) {
    return NotWanted{GroupId{1}, NodeId{by}, Index{configuration}};
  };
  EXPECT_TRUE(learns_removal(own, NodeId{3}, told(1, 11)));
  EXPECT_FALSE(learns_removal(own, NodeId{3}, told(1, 10)));
  EXPECT_FALSE(learns_removal(own, NodeId{3}, told(9, 11)));  // Whoever that is.
  EXPECT_FALSE(learns_removal(own, NodeId{4}, told(1, 11)));  // It joins, and somebody is behind.
  EXPECT_FALSE(learns_removal({}, NodeId{4}, told(1, 11)));
}

class MemberWatchTest : public testing::Test {
 public:
  void beat(PeerProgress peer, Index committed) {
    now_ += milliseconds(100);
    const ConfState conf{.voters = nodes({1}), .learners = nodes({4})};
    watch_.on_heartbeat({.progress = {&peer, 1},
                         .conf = conf,
                         .committed = committed,
                         .now = now_,
                         .silence_max = seconds(1)});
  }
  [[nodiscard]] bool caught_up() const { return watch_.caught_up(NodeId{4}); }

  MemberWatch watch_;
  base::Elapsed now_ = seconds(10);
};

constexpr PeerProgress learner(std::uint64_t match, PeerState state) {
  return {.node = NodeId{4}, .match = Index{match}, .state = state, .active = true};
}

TEST_F(MemberWatchTest, ALearnerCatchesUpByThreeHeartbeats) {  // L-86
  watch_.heard(NodeId{4}, now_);
  for (const bool expected : {false, false, true}) {
    beat(learner(936, PeerState::kReplicate), Index{1000});
    EXPECT_EQ(caught_up(), expected);
  }
  beat(learner(936, PeerState::kReplicate), Index{1001});
  EXPECT_FALSE(caught_up());
}

TEST_F(MemberWatchTest, ALearnerThatWasNeverFedIsNotCloseInAShortLog) {  // L-86
  watch_.heard(NodeId{4}, now_);
  for (int i = 0; i < 4; ++i)
    beat(learner(0, PeerState::kReplicate), Index{5});
  EXPECT_FALSE(caught_up());
}

TEST_F(MemberWatchTest, ASnapshotThatIsNotInstalledIsNoFood) {  // L-86
  watch_.heard(NodeId{4}, now_);
  for (int i = 0; i < 4; ++i)
    beat(learner(5, PeerState::kSnapshot), Index{5});
  EXPECT_FALSE(caught_up());
}

// A stream that broke after the last entry leaves it probed, and a quiet group sends it nothing.
TEST_F(MemberWatchTest, ALearnerThatIsProbedAndHasEverythingIsClose) {  // L-86
  for (int i = 0; i < 3; ++i) {
    watch_.heard(NodeId{4}, now_);
    beat(learner(5, PeerState::kProbe), Index{5});
  }
  EXPECT_TRUE(caught_up());
}

TEST_F(MemberWatchTest, WhoeverIsSilentIsNotClose) {  // L-86
  for (int i = 0; i < 4; ++i)
    beat(learner(5, PeerState::kReplicate), Index{5});
  EXPECT_FALSE(caught_up());
  watch_.heard(NodeId{4}, now_);
  for (int i = 0; i < 10; ++i)
    beat(learner(5, PeerState::kReplicate), Index{5});
  EXPECT_TRUE(caught_up());
  beat(learner(5, PeerState::kReplicate), Index{5});
  EXPECT_FALSE(caught_up());
}

TEST_F(MemberWatchTest, ANewLeaderWantsToSeeItAgain) {
  watch_.heard(NodeId{4}, now_);
  for (int i = 0; i < 3; ++i)
    beat(learner(5, PeerState::kReplicate), Index{5});
  EXPECT_TRUE(caught_up());
  watch_.on_lost();
  EXPECT_FALSE(caught_up());
  EXPECT_TRUE(watch_.heard_since(NodeId{4}, seconds(10)));
}

TEST_F(MemberWatchTest, ForgetsWhoIsNoMember) {
  watch_.heard(NodeId{7}, now_);
  EXPECT_TRUE(watch_.last_heard(NodeId{7}));
  beat(learner(5, PeerState::kReplicate), Index{5});
  EXPECT_FALSE(watch_.last_heard(NodeId{7}));
}

}  // namespace
}  // namespace cadastre::log
