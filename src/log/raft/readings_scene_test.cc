// What the readings of section 11 say of small clusters.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log/raft/raft_cluster_testing.h"

namespace cadastre::log {
namespace {

using std::chrono::seconds;

TEST(ReadingsScene, EveryNodeCountsTheLeadersThatItSaw) {
  RaftCluster cluster(3);
  cluster.establish(1);
  std::vector<std::uint64_t> before;
  for (const std::uint64_t id : {1U, 2U, 3U})
    before.push_back(cluster.at(id).group().metrics().leader_changes.load());
  cluster.pass_time(seconds(5));
  cluster.at(1).group().transfer_leadership(NodeId{2}, {}, [](const auto&) {});
  cluster.pass_time(seconds(5));
  ASSERT_TRUE(cluster.at(2).leads());
  for (const std::uint64_t id : {1U, 2U, 3U})
    EXPECT_EQ(cluster.at(id).group().metrics().leader_changes.load(), before[id - 1] + 1) << id;
}

TEST(ReadingsScene, ALeaderSeesHowFarItsPeersAreBehind) {
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.cut(3);
  for (int i = 0; i < 5; ++i) {
    (void)cluster.at(1).propose("x");
    cluster.pass_time(kTick);
  }
  cluster.pass_time(4 * kTick);
  const auto members = cluster.at(1).status().members;
  ASSERT_TRUE(members);
  const auto behind = [&](std::uint64_t node) {
    return std::ranges::find(*members, NodeId{node}, &MemberStatus::node)->behind;
  };
  EXPECT_EQ(behind(1), 0U);
  EXPECT_EQ(behind(2), 0U);
  EXPECT_EQ(behind(3), 5U);
  EXPECT_FALSE(cluster.at(2).status().members);
}

TEST(ReadingsScene, ALeaderMeasuresHowLongItsPeersTakeToAnswer) {
  RaftCluster cluster(3);
  cluster.establish(1);
  const auto trip = [&](std::uint64_t node) {
    const auto members = cluster.at(1).status().members;
    return std::ranges::find(*members, NodeId{node}, &MemberStatus::node)->round_trip;
  };
  cluster.pass_time(seconds(1));
  EXPECT_EQ(trip(2), base::Elapsed{0}) << "frames of a scene take no time";
  EXPECT_EQ(trip(1), std::nullopt);
  cluster.at(2).paused = true;
  cluster.pass_time(3 * kTick);
  cluster.at(2).paused = false;
  base::Elapsed longest{0};
  for (int i = 0; i < 4; ++i) {
    cluster.pass_time(kTick);
    longest = std::max(longest, *trip(2));
    EXPECT_EQ(trip(3), base::Elapsed{0});
  }
  EXPECT_GE(longest, kTick);
}

TEST(ReadingsScene, ACommitIsMeasuredFromTheEngineToTheQuorum) {
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.at(2).disk_hangs = true;
  cluster.at(3).disk_hangs = true;
  const auto before = cluster.at(1).group().metrics().commit_ns.read();
  const auto one = cluster.at(1).propose("one");
  cluster.pass_time(4 * kTick);
  EXPECT_EQ(cluster.at(1).group().metrics().commit_ns.read().count(), before.count());
  cluster.at(2).disk_hangs = false;
  cluster.settle();
  ASSERT_TRUE(one->applied());
  const auto after = cluster.at(1).group().metrics().commit_ns.read();
  EXPECT_EQ(after.count(), before.count() + 1);
  EXPECT_GE(after.sum - before.sum, static_cast<std::uint64_t>(base::Elapsed(3 * kTick).count()));
}

TEST(ReadingsScene, EntriesInMemoryAreCounted) {
  RaftCluster cluster(3);
  cluster.establish(1);
  (void)cluster.at(1).propose(std::string(100 * kKiB, 'x'));
  cluster.pass_time(seconds(2));
  EXPECT_GE(cluster.at(1).host().metrics().cache_bytes.load(), 100 * kKiB);
}

}  // namespace
}  // namespace cadastre::log
