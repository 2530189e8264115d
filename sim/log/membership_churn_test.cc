#include "sim/log/membership_churn.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace cadastre::sim {
namespace {

using log::ConfOp;
using log::NodeId;

constexpr NodeId kLeader{1};

// What a simple or joint change makes of the members.
void carry_out(log::ConfState& conf, const log::ConfChange& change) {
  for (const log::ConfStep& step : change.steps) {
    std::erase(conf.voters, step.node);
    std::erase(conf.learners, step.node);
    if (step.op == ConfOp::kAddVoter) conf.voters.push_back(step.node);
    if (step.op == ConfOp::kAddLearner) conf.learners.push_back(step.node);
  }
}

TEST(MembershipChurn, LeavesTheLeaderAndEnoughVotersAndDoesEverything) {
  std::set<ConfOp> done;
  std::size_t joint = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    log::ConfState conf{.voters = {kLeader, NodeId{2}, NodeId{3}, NodeId{4}, NodeId{5}}};
    for (std::uint64_t luck = seed * 1000; luck < seed * 1000 + 20; ++luck) {
      const auto change = next_change(conf, kLeader, {}, luck);
      if (!change) continue;
      for (const log::ConfStep& step : change->steps) {
        EXPECT_NE(step.node, kLeader);
        EXPECT_TRUE(conf.has(step.node));
        done.insert(step.op);
      }
      joint += change->steps.size() > 1 ? 1 : 0;
      carry_out(conf, *change);
      ASSERT_GE(conf.voters.size(), 2U);
      ASSERT_GE(conf.voters.size() + conf.learners.size(), 3U);
    }
  }
  EXPECT_EQ(done.size(), 3U);
  EXPECT_GT(joint, 100U);
}

TEST(MembershipChurn, AStrangerJoinsAloneAndAsALearner) {
  const log::ConfState conf{.voters = {kLeader, NodeId{2}, NodeId{3}}};
  const std::vector<NodeId> strangers{NodeId{4}, NodeId{5}};
  std::set<NodeId> joined;
  for (std::uint64_t luck = 0; luck < 100; ++luck) {
    const auto change = next_change(conf, kLeader, strangers, luck);
    if (!change || conf.has(change->steps.front().node)) continue;
    ASSERT_EQ(change->steps.size(), 1U);
    EXPECT_EQ(change->steps.front().op, ConfOp::kAddLearner);
    joined.insert(change->steps.front().node);
  }
  EXPECT_EQ(joined, std::set<NodeId>(strangers.begin(), strangers.end()));
}

TEST(MembershipChurn, AJointConfigurationIsLeftAlone) {
  const log::ConfState conf{.voters = {kLeader, NodeId{2}}, .voters_outgoing = {kLeader}};
  EXPECT_FALSE(next_change(conf, kLeader, {}, 7));
}

TEST(NextReplacement, FeedsThenPromotesThenRemoves) {
  const log::NodeId lost{1};
  const log::NodeId fresh{4};
  const std::vector<log::NodeId> before{lost, log::NodeId{2}, log::NodeId{3}};
  const std::vector<log::NodeId> both{lost, log::NodeId{2}, log::NodeId{3}, fresh};
  const std::vector<log::NodeId> after{log::NodeId{2}, log::NodeId{3}, fresh};
  const auto expect = [&](const log::ConfState& conf, log::ConfOp op, log::NodeId node) {
    const auto steps = next_replacement(conf, lost, fresh);
    ASSERT_EQ(steps.size(), 1U);
    EXPECT_EQ(steps[0].op, op);
    EXPECT_EQ(steps[0].node, node);
  };
  expect({.voters = before}, log::ConfOp::kAddLearner, fresh);
  expect({.voters = before, .learners = {fresh}}, log::ConfOp::kAddVoter, fresh);
  expect({.voters = both}, log::ConfOp::kRemove, lost);
  EXPECT_TRUE(next_replacement({.voters = after}, lost, fresh).empty());
  EXPECT_TRUE(next_replacement({.voters = both, .voters_outgoing = before}, lost, fresh).empty())
      << "a joint configuration is left first";
}

}  // namespace
}  // namespace cadastre::sim
