// What people see who look into a group (section 11).

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log/group_detail.h"
#include "log/raft/raft_cluster_testing.h"

namespace cadastre::log {
namespace {

std::optional<GroupDetail> look(RaftCluster& cluster, std::uint64_t node) {
  std::optional<GroupDetail> seen;
  cluster.at(node).group().inspect([&](std::optional<GroupDetail> detail) { seen = detail; });
  cluster.settle();
  return seen;
}

TEST(DetailScene, ALeaderShowsItsPeersAndItsMembershipsHistory) {
  RaftCluster cluster(3);
  cluster.establish(1);
  (void)cluster.at(1).change({.steps = {{ConfOp::kAddLearner, NodeId{4}}}});
  cluster.pass_time(4 * kTick);
  const auto leader = look(cluster, 1);
  ASSERT_TRUE(leader);
  EXPECT_EQ(leader->progress.size(), 4U);
  ASSERT_EQ(leader->confs.size(), 2U);
  EXPECT_EQ(leader->confs.front().index, kFounding.index);
  EXPECT_EQ(leader->confs.back().conf.learners, std::vector{NodeId{4}});
  const auto follower = look(cluster, 2);
  ASSERT_TRUE(follower);
  EXPECT_TRUE(follower->progress.empty());
  EXPECT_EQ(follower->confs.size(), 2U);
}

TEST(DetailScene, WhatWaitsIsCounted) {
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.at(1).disk_hangs = true;
  cluster.at(2).disk_hangs = true;
  cluster.at(3).disk_hangs = true;
  const auto one = cluster.at(1).propose("one");
  cluster.settle();
  const auto leader = look(cluster, 1);
  ASSERT_TRUE(leader);
  EXPECT_EQ(leader->waiting_entries, 1U);
  EXPECT_EQ(leader->unapplied_commands, 1U);
  EXPECT_GE(leader->held_outputs, 1U);
  const auto follower = look(cluster, 2);
  ASSERT_TRUE(follower);
  EXPECT_GE(follower->held_messages, 1U);  // Its answer, until it is synced.
  for (const std::uint64_t id : {1U, 2U, 3U})
    cluster.at(id).disk_hangs = false;
  cluster.settle();
  EXPECT_TRUE(one->applied());
  const auto after = look(cluster, 1);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->waiting_entries, 0U);
  EXPECT_EQ(after->unapplied_commands, 0U);
}

TEST(DetailScene, WhoeverAsksANodeThatGoesDownIsTold) {
  RaftCluster cluster(1);
  cluster.establish(1);
  int told = 0;
  cluster.at(1).group().inspect([&](const std::optional<GroupDetail>& detail) {
    EXPECT_FALSE(detail);
    ++told;
  });
  cluster.at(1).crash();
  EXPECT_EQ(told, 1);
}

TEST(DetailScene, TooManyWhoAskAreRefused) {
  RaftCluster cluster(1);
  cluster.establish(1);
  std::size_t refused = 0;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < kInspectionsMax + 2; ++i) {
    cluster.at(1).group().inspect(
        [&](const std::optional<GroupDetail>& detail) { ++(detail ? shown : refused); });
  }
  EXPECT_EQ(refused, 2U);
  cluster.settle();
  EXPECT_EQ(shown, kInspectionsMax);
}

TEST(DetailScene, EntriesAreListedWithoutTheirBytes) {
  RaftCluster cluster(1);
  cluster.establish(1);
  for (int i = 0; i < 3; ++i) {
    (void)cluster.at(1).propose(std::string(100, 'x'));
    cluster.settle();
  }
  const Group& group = cluster.at(1).group();
  const Index last = cluster.at(1).status().last;
  const auto two = group.list_entries(Index{last.value() - 2}, 2);
  ASSERT_TRUE(two);
  ASSERT_EQ(two->size(), 2U);
  EXPECT_EQ(two->front().at.index, Index{last.value() - 2});
  EXPECT_EQ(two->front().type, EntryType::kNormal);
  EXPECT_EQ(two->front().bytes, kBodyHeaderBytes + kBodySlotBytes + 100);
  EXPECT_EQ(group.list_entries(last, 10)->size(), 1U);
  for (const Index from : {Index{0}, kFounding.index, last + 1}) {
    const auto none = group.list_entries(from, 10);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, LogReadError::kGone);
  }
}

}  // namespace
}  // namespace cadastre::log
