// Scenes of nodes whose disk is nearly full or does not answer (L-50, L-51).

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log/limits.h"
#include "log/raft/raft_cluster_testing.h"
#include "log/raft/snapshot_scene_testing.h"

namespace cadastre::log {
namespace {

using std::chrono::seconds;

using Commands = std::vector<std::string>;

TEST(RetreatScene, ALeaderWithLittleRoomLetsAnotherLead) {  // L-50
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.at(1).host().set_space(Space::kLow);
  cluster.pass_time(seconds(4));
  EXPECT_FALSE(cluster.at(1).leads());
  const std::uint64_t leader = cluster.elect();
  ASSERT_NE(leader, 0U);
  ASSERT_NE(leader, 1U);
  const auto one = cluster.at(leader).propose("one");
  cluster.pass_time(seconds(1));
  EXPECT_TRUE(one->applied());
  EXPECT_EQ(cluster.at(1).executed(), Commands{"one"});  // It takes entries as long as it can.
}

TEST(RetreatScene, WhoCanLetNobodyLeadRefusesUsers) {  // L-50
  RaftCluster cluster(1);
  cluster.establish(1);
  cluster.at(1).host().set_space(Space::kLow);
  cluster.pass_time(seconds(2));
  EXPECT_TRUE(cluster.at(1).leads());
  const auto refused = cluster.at(1).propose("one");
  cluster.settle();
  EXPECT_EQ(refused->error(), "overloaded");
  EXPECT_EQ(refused->answer->error().detail, "the disk of this node is nearly full");
  cluster.at(1).host().set_space(Space::kPlenty);
  cluster.pass_time(seconds(2));
  const auto taken = cluster.at(1).propose("two");
  cluster.settle();
  EXPECT_TRUE(taken->applied());
}

TEST(RetreatScene, AFollowerWithoutRoomTakesNoEntriesAndCatchesUpLater) {  // L-50
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.at(3).host().set_space(Space::kCritical);
  cluster.pass_time(seconds(1));
  const Index before = cluster.at(3).status().last;
  const auto one = cluster.at(1).propose("one");
  cluster.pass_time(seconds(3));
  EXPECT_TRUE(one->applied());
  EXPECT_TRUE(cluster.at(1).leads());  // Heartbeats are still answered.
  EXPECT_EQ(cluster.at(3).status().last, before);
  EXPECT_GT(cluster.at(3).host().metrics().appends_refused.load(), 0U);
  cluster.at(3).host().set_space(Space::kPlenty);
  cluster.pass_time(seconds(3));
  EXPECT_EQ(cluster.at(3).executed(), Commands{"one"});
}

TEST(RetreatScene, ALeaderWhoseDiskDoesNotAnswerLetsAnotherLead) {  // L-51
  RaftCluster cluster(3);
  cluster.establish(1);
  const auto before = cluster.at(1).propose("before");
  cluster.settle();
  ASSERT_TRUE(before->applied());
  cluster.at(1).disk_hangs = true;
  const auto one = cluster.at(1).propose("one");
  cluster.pass_time(seconds(4));
  EXPECT_TRUE(cluster.at(1).leads());  // Slow is not hung.
  cluster.pass_time(seconds(6));
  EXPECT_FALSE(cluster.at(1).leads());
  const std::uint64_t leader = cluster.elect();
  ASSERT_NE(leader, 0U);
  ASSERT_NE(leader, 1U);
  EXPECT_EQ(cluster.at(leader).executed(), (Commands{"before", "one"}));
}

TEST(RetreatScene, AGroupWhoseLogIsFarTooLargeTakesNoMoreOfUsersUntilItsStateIsFlushed) {  // L-47
  Settings settings = eager();
  settings.group_log_bytes_hard = 100 * kKiB;
  settings.retention.unflushed_age_max = seconds(1'000'000);
  RaftCluster cluster(1, settings);
  cluster.establish(1);
  const auto put = [&](std::size_t bytes) {
    const auto done = cluster.at(1).propose(std::string(bytes, 'x'));
    cluster.pass_time(seconds(1));
    return done;
  };
  EXPECT_TRUE(put(99 * kKiB)->applied());
  EXPECT_TRUE(put(2 * kKiB)->applied());
  const auto refused = put(1);
  EXPECT_EQ(refused->error(), "overloaded");
  EXPECT_EQ(refused->answer->error().detail,
            "the group's log is too large: its state has to be flushed");
  cluster.at(1).machine().request_flush();
  cluster.pass_time(seconds(1));
  EXPECT_TRUE(put(1)->applied());
}

// What a leader sends while the disk does not answer becomes one set: it must stay one that a crash may tear (L-24).
TEST(RetreatScene, WhatGathersBeforeASlowDiskStaysBelowTheBoundOfASet) {
  constexpr std::size_t kLarge = 2 * kMiB;
  RaftCluster cluster(3);
  cluster.establish(1);
  std::size_t largest = 0;
  cluster.at(3).on_set = [&](const WriteSet& set) {
    largest = std::max(largest, set.bytes);
  };
  cluster.at(3).disk_hangs = true;
  for (int i = 0; i < 40; ++i) {
    const auto done = cluster.at(1).propose(std::string(kLarge, 'x'));
    cluster.settle();
    ASSERT_TRUE(done->applied());
  }
  EXPECT_GT(cluster.at(3).host().metrics().appends_refused.load(), 0U);
  cluster.at(3).disk_hangs = false;
  cluster.pass_time(seconds(5));
  EXPECT_EQ(cluster.at(3).executed().size(), 40U);
  EXPECT_GT(largest, 8 * kLarge) << "else nothing was at stake";
  EXPECT_LE(largest, kSetBytesHard);
}

}  // namespace
}  // namespace cadastre::log
