// Scenes of a group that halts on one node (L-20) and what its leadership comes to (L-94).

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/logger.h"
#include "log/raft/raft_cluster_testing.h"

namespace cadastre::log {
namespace {

using std::chrono::seconds;

constexpr std::string_view kHaltLine = "a group has halted here";

// Each leadership that was told of has ended once, in its turn.
void expect_in_turn(const std::vector<std::string>& notes) {
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const bool acquired = notes[i].starts_with("acquired");
    EXPECT_EQ(acquired, i % 2 == 0) << notes[i];
  }
}

TEST(HaltScene, ALeaderThatHaltsLetsAnotherLead) {  // L-20, L-94
  RaftCluster cluster(3);
  cluster.establish(1);
  const std::string term = to_string(cluster.at(1).status().term);
  cluster.at(1).machine().broken = true;
  const auto one = cluster.at(1).propose("one");
  cluster.settle();
  EXPECT_EQ(one->error(), "outcome_unknown");
  EXPECT_EQ(one->times, 1);
  // By a transfer: no election timeout had to pass.
  EXPECT_TRUE(cluster.at(2).leads() || cluster.at(3).leads());
  EXPECT_EQ(cluster.at(1).status().role, Role::kHalted);
  EXPECT_EQ(cluster.at(1).status().leader, kNoNode);
  EXPECT_NE(cluster.at(1).status().halted.find("the state's disk is gone"), std::string::npos);
  EXPECT_EQ(cluster.at(1).notes().back(), "lost " + term);
  cluster.pass_time(seconds(5));
  expect_in_turn(cluster.at(1).notes());
  EXPECT_EQ(cluster.at(1).notes().back(), "lost " + term);  // And no more than once.
  EXPECT_EQ(one->times, 1);
  const std::uint64_t leader = cluster.elect();
  ASSERT_TRUE(leader == 2 || leader == 3);
  const auto two = cluster.at(leader).propose("two");
  cluster.pass_time(seconds(1));
  EXPECT_TRUE(two->applied());
}

TEST(HaltScene, TheOperatorReadsOneLineWithGroupAndReason) {  // L-20
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.at(1).machine().broken = true;
  (void)cluster.at(1).propose("one");
  cluster.pass_time(seconds(10));
  const auto said = cluster.at(1).lines.with(base::LogLevel::kError, kHaltLine);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("group=7"), std::string::npos);
  EXPECT_NE(said[0].find("the state's disk is gone"), std::string::npos);
  EXPECT_TRUE(cluster.at(2).lines.with(base::LogLevel::kError, kHaltLine).empty());
}

TEST(HaltScene, AReceiverThatDoesNotHearHoldsTheEndUpForAnElectionTimeoutOnly) {  // L-20
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.at(1).machine().broken = true;
  bool silent = false;
  int lost = 0;
  cluster.after_step = [&] {
    if (!cluster.at(1).status().halted.empty()) silent = true;
  };
  cluster.passes = [&](const Letter& letter) {
    if (!silent || letter.from != NodeId{1}) return true;
    ++lost;
    return false;
  };
  const auto one = cluster.at(1).propose("one");
  cluster.settle();
  EXPECT_EQ(one->error(), "outcome_unknown");  // Nobody waits for it,
  EXPECT_GT(lost, 0);                          // though the engine goes on.
  cluster.pass_time(RaftSettings{}.election_timeout() + 2 * kTick);
  lost = 0;
  cluster.pass_time(seconds(5));
  EXPECT_EQ(lost, 0);  // It does nothing any more.
  EXPECT_TRUE(cluster.at(2).leads() || cluster.at(3).leads());
}

TEST(HaltScene, AFollowerThatHaltsLeavesTheLeaderAlone) {  // L-20
  RaftCluster cluster(3);
  cluster.establish(1);
  const Term term = cluster.at(1).status().term;
  cluster.at(3).machine().broken = true;
  const auto one = cluster.at(1).propose("one");
  cluster.pass_time(seconds(5));
  EXPECT_TRUE(one->applied());
  EXPECT_EQ(cluster.at(3).status().role, Role::kHalted);
  EXPECT_TRUE(cluster.at(1).leads());
  EXPECT_EQ(cluster.at(1).status().term, term);
  expect_in_turn(cluster.at(3).notes());
}

TEST(HaltScene, ALeadershipThatWasNeverToldOfIsNotLost) {  // L-94
  RaftCluster cluster(1);
  cluster.at(1).machine().broken = true;
  cluster.pass_time(seconds(2));  // The entry that opens its term is the one that halts it.
  EXPECT_EQ(cluster.at(1).status().role, Role::kHalted);
  EXPECT_TRUE(cluster.at(1).notes().empty());
}

TEST(HaltScene, ALoneLeaderThatHaltsLosesItsLeadershipOnce) {  // L-94
  RaftCluster cluster(1);
  cluster.establish(1);
  const std::string term = to_string(cluster.at(1).status().term);
  cluster.at(1).machine().broken = true;
  (void)cluster.at(1).propose("one");
  cluster.pass_time(seconds(3));
  ASSERT_EQ(cluster.at(1).notes().size(), 2U);
  EXPECT_EQ(cluster.at(1).notes().back(), "lost " + term);
}

TEST(HaltScene, AHaltedGroupRefusesWhateverComes) {
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.at(1).machine().broken = true;
  (void)cluster.at(1).propose("one");
  cluster.settle();
  const auto two = cluster.at(1).propose("two");
  const auto read = cluster.at(1).read();
  const auto change = cluster.at(1).change({.steps = {{ConfOp::kAddLearner, NodeId{4}}}});
  cluster.settle();
  EXPECT_EQ(two->error(), "stopped");
  ASSERT_TRUE(*read && !**read);
  EXPECT_EQ((**read).error().code, ReadError::kStopped);
  ASSERT_TRUE(*change && !**change);
  EXPECT_EQ((**change).error().code, ConfError::kStopped);
}

}  // namespace
}  // namespace cadastre::log
