// What an operator reads while small clusters live (section 11, L-62): that a line comes, how often, and its numbers.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/logger.h"
#include "log/raft/raft_cluster_testing.h"

namespace cadastre::log {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::size_t infos(RaftMember& member, std::string_view words) {
  return member.lines.with(base::LogLevel::kInfo, words).size();
}
std::size_t warnings(RaftMember& member, std::string_view words) {
  return member.lines.with(base::LogLevel::kWarn, words).size();
}

TEST(NoticesScene, ARoleIsToldWhenItChanges) {
  RaftCluster cluster(3);
  cluster.establish(1);
  EXPECT_EQ(infos(cluster.at(1), "role changed group=7 node=1 role=leader"), 1U);
  EXPECT_GE(infos(cluster.at(2), "role=follower"), 1U);
  const std::size_t lines = cluster.at(1).lines.all.size();
  (void)cluster.at(1).propose("one");
  cluster.pass_time(seconds(5));
  EXPECT_EQ(cluster.at(1).lines.all.size(), lines);  // A quiet group says nothing.
  const std::size_t followed = infos(cluster.at(1), "role=follower");
  const std::size_t led = infos(cluster.at(2), "role=leader");
  cluster.at(1).group().transfer_leadership(NodeId{2}, {}, [](const auto&) {});
  cluster.pass_time(seconds(2));
  EXPECT_GE(infos(cluster.at(1), "role=follower"), followed + 1);
  EXPECT_EQ(infos(cluster.at(2), "role=leader"), led + 1);
}

TEST(NoticesScene, AJoinerIsToldOfOnEveryNodeAndItsSnapshotAtBothEnds) {
  RaftCluster cluster(3);
  cluster.establish(1);
  (void)cluster.at(1).propose("one");
  cluster.pass_time(seconds(1));
  const std::uint64_t joiner = cluster.add_joiner();
  (void)cluster.at(1).change({.steps = {{ConfOp::kAddLearner, NodeId{joiner}}}});
  cluster.pass_time(seconds(3));
  for (const std::uint64_t id : {1U, 2U, 3U})
    EXPECT_EQ(infos(cluster.at(id), "membership changed"), 1U) << id;
  EXPECT_EQ(infos(cluster.at(1), "checkpoint begun"), 1U);
  EXPECT_EQ(infos(cluster.at(1), "checkpoint made"), 1U);
  EXPECT_EQ(infos(cluster.at(joiner), "snapshot begun group=7 node=4 from=1"), 1U);
  EXPECT_EQ(infos(cluster.at(joiner), "snapshot installed group=7 node=4 from=1"), 1U);
}

TEST(NoticesScene, ASnapshotThatCannotBeFetchedIsGivenUp) {
  RaftCluster cluster(3);
  cluster.establish(1);
  const std::uint64_t joiner = cluster.add_joiner();
  cluster.passes = [](const Letter& letter) {
    return letter.lane != Lane::kBulk || letter.frame.from != kNoNode;  // No files.
  };
  (void)cluster.at(1).change({.steps = {{ConfOp::kAddLearner, NodeId{joiner}}}});
  cluster.pass_time(seconds(3));
  EXPECT_GE(warnings(cluster.at(joiner), "snapshot given up"), 1U);
  EXPECT_EQ(infos(cluster.at(joiner), "snapshot installed"), 0U);
}

TEST(NoticesScene, MuchThatIsTruncatedIsTold) {
  Settings settings;
  settings.retention.truncate_entries_min = 1;
  settings.retention.leader_trail_entries = 0;
  settings.retention.leader_trail_bytes = 0;
  settings.truncation_told = 10 * kKiB;
  RaftCluster cluster(1, settings);
  cluster.establish(1);
  const auto cut = [&](std::size_t bytes) {
    (void)cluster.at(1).propose(std::string(bytes, 'x'));
    cluster.settle();
    cluster.at(1).machine().request_flush();
    cluster.pass_time(seconds(30));
  };
  cut(100);
  EXPECT_GT(cluster.at(1).host().metrics().truncations.load(), 0U);
  EXPECT_EQ(infos(cluster.at(1), "much of the log was truncated"), 0U);
  cut(20 * kKiB);
  EXPECT_EQ(infos(cluster.at(1), "much of the log was truncated"), 1U);
}

TEST(NoticesScene, ALogThatGrewLargeIsToldOnceAndItsStateFlushed) {  // L-47
  Settings settings;
  settings.group_log_bytes_soft = 10 * kKiB;
  settings.retention.unflushed_age_max = seconds(1'000'000);
  RaftCluster cluster(1, settings);
  cluster.establish(1);
  const auto put = [&](std::size_t bytes) {
    (void)cluster.at(1).propose(std::string(bytes, 'x'));
    cluster.pass_time(seconds(3));
  };
  const auto told = [&] {
    return warnings(cluster.at(1), "the log of a group is large group=7 node=1");
  };
  put(100);
  EXPECT_EQ(told(), 0U);
  EXPECT_LT(cluster.at(1).machine().durable().index, cluster.at(1).machine().applied().index);
  put(20 * kKiB);
  EXPECT_EQ(told(), 1U);
  EXPECT_EQ(cluster.at(1).machine().durable(), cluster.at(1).machine().applied());
  put(20 * kKiB);
  EXPECT_EQ(told(), 1U);
}

TEST(NoticesScene, LeasesAreToldOfWhenTheyAreOn) {
  Settings settings;
  RaftCluster without(1, settings);
  without.establish(1);
  EXPECT_EQ(infos(without.at(1), "reads by lease are on"), 0U);
  settings.raft.lease_reads = true;
  RaftCluster with(1, settings);
  with.establish(1);
  EXPECT_EQ(infos(with.at(1), "reads by lease are on group=7 node=1 lease_ms=700"), 1U);
}

TEST(NoticesScene, ALogThreadThatStoodStillIsTold) {  // L-62
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.at(2).paused = true;
  cluster.pass_time(milliseconds(400));
  cluster.at(2).paused = false;
  cluster.pass_time(kTick);
  EXPECT_EQ(warnings(cluster.at(2), "the log thread came late"), 0U);  // Less than half a timeout.
  cluster.at(2).paused = true;
  cluster.pass_time(milliseconds(800));
  cluster.at(2).paused = false;
  cluster.pass_time(kTick);
  EXPECT_EQ(warnings(cluster.at(2), "the log thread came late node=2 gap_ms=8"), 1U);
}

TEST(NoticesScene, ALateSyncIsToldWhenItIsAndWhenItWas) {  // L-51
  RaftCluster cluster(1);
  cluster.establish(1);
  cluster.at(1).disk_hangs = true;
  (void)cluster.at(1).propose("one");
  cluster.pass_time(seconds(4));
  EXPECT_EQ(warnings(cluster.at(1), "a sync has not come back"), 0U);
  cluster.pass_time(seconds(3));
  EXPECT_EQ(warnings(cluster.at(1), "a sync has not come back"), 1U);
  EXPECT_EQ(warnings(cluster.at(1), "a late sync came back"), 0U);
  cluster.at(1).disk_hangs = false;
  cluster.settle();
  EXPECT_EQ(warnings(cluster.at(1), "a late sync came back node=1 ms=6950"), 1U);
}

}  // namespace
}  // namespace cadastre::log
