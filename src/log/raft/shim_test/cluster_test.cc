// Nodes over the shim: elections, proposals, changes of leader, reads, conf changes, snapshots.

#include <cstdint>
#include <string>
#include <vector>

#include <cadastre_raft.h>
#include <gtest/gtest.h>

#include "log/raft/shim_test/cluster_testing.h"
#include "log/raft/shim_test/raft_node_testing.h"

namespace cadastre::log {
namespace {

std::string body_at(const RaftNode& node, std::uint64_t index) {
  const auto found = node.disk().state.find(index);
  return found == node.disk().state.end() ? "nothing" : found->second;
}

TEST(ShimCluster, ALoneVoterLeadsAtOnceAndCommitsWhatItSyncs) {
  Cluster cluster({1});
  cluster.at(1).campaign();
  EXPECT_TRUE(cluster.at(1).leads());
  EXPECT_EQ(cluster.at(1).propose("a"), CAD_OK);
  EXPECT_EQ(body_at(cluster.at(1), 3), "2 a");
  EXPECT_EQ(cluster.at(1).status().commit, 3U);
}

TEST(ShimCluster, TimeElectsALeaderAndItsEntriesReachEveryone) {
  Cluster cluster({1, 2, 3});
  cluster.tick(30);
  RaftNode* leader = cluster.leader();
  ASSERT_NE(leader, nullptr);
  EXPECT_EQ(leader->propose("a"), CAD_OK);
  EXPECT_EQ(leader->propose("b"), CAD_OK);
  cluster.settle();
  cluster.tick(3);
  for (const std::uint64_t id : {1U, 2U, 3U}) {
    EXPECT_EQ(body_at(cluster.at(id), 3), body_at(*leader, 3)) << id;
    EXPECT_TRUE(body_at(cluster.at(id), 4).ends_with(" b")) << id;
    EXPECT_EQ(cluster.at(id).status().leader, leader->id());
  }
}

TEST(ShimCluster, ANewLeaderKeepsWhatWasCommittedAndReplacesWhatWasNot) {
  Cluster cluster({1, 2, 3});
  cluster.establish(1, {2, 3});
  EXPECT_EQ(cluster.at(1).propose("kept"), CAD_OK);
  cluster.settle();
  cluster.passes = [](const Mail&) {
    return false;
  };
  EXPECT_EQ(cluster.at(1).propose("lost"), CAD_OK);
  cluster.collect();
  cluster.passes = [](const Mail&) {
    return true;
  };
  cluster.elect(2, {3});
  EXPECT_EQ(cluster.at(2).propose("new"), CAD_OK);
  cluster.settle();
  cluster.tick(4);
  for (const std::uint64_t id : {1U, 2U, 3U}) {
    EXPECT_EQ(body_at(cluster.at(id), 3), "2 kept") << id;
    EXPECT_EQ(body_at(cluster.at(id), 4), "3 ") << id;
    EXPECT_EQ(body_at(cluster.at(id), 5), "3 new") << id;
  }
  EXPECT_FALSE(cluster.at(1).leads());
}

TEST(ShimCluster, TransfersLeadershipOnRequest) {
  Cluster cluster({1, 2, 3});
  cluster.establish(1, {2, 3});
  EXPECT_EQ(cad_raft_transfer(cluster.at(1).raft(), 1), CAD_IGNORED);
  EXPECT_EQ(cad_raft_transfer(cluster.at(1).raft(), 9), CAD_UNKNOWN_PEER);
  EXPECT_EQ(cad_raft_transfer(cluster.at(2).raft(), 3), CAD_NOT_LEADER);
  EXPECT_EQ(cad_raft_transfer(cluster.at(1).raft(), 3), CAD_OK);
  EXPECT_EQ(cluster.at(1).status().transferee, 3U);
  EXPECT_EQ(cluster.at(1).propose("refused meanwhile"), CAD_DROPPED);
  cluster.settle();
  EXPECT_TRUE(cluster.at(3).leads());
  EXPECT_FALSE(cluster.at(1).leads());
}

TEST(ShimCluster, ReadIndexAsksAMajorityAndSaysHowFarToApply) {
  Cluster cluster({1, 2, 3});
  cluster.establish(1, {2, 3});
  EXPECT_EQ(cluster.at(1).propose("a"), CAD_OK);
  cluster.settle();
  cluster.passes = [](const Mail&) {
    return false;
  };
  cluster.at(1).read_index("alone");
  cluster.settle();
  EXPECT_TRUE(cluster.at(1).reads.empty());
  EXPECT_EQ(cluster.at(1).status().reads_pending, 1U);
  cluster.passes = [](const Mail&) {
    return true;
  };
  cluster.at(1).read_index("with a majority");
  cluster.settle();
  ASSERT_EQ(cluster.at(1).reads.size(), 2U);  // The answer to a later one covers the earlier.
  EXPECT_EQ(cluster.at(1).reads[1].context, "with a majority");
  EXPECT_EQ(cluster.at(1).reads[1].index, 3U);
}

TEST(ShimCluster, AFollowerReadsThroughTheLeader) {
  Cluster cluster({1, 2, 3});
  cluster.establish(1, {2, 3});
  EXPECT_EQ(cluster.at(1).propose("a"), CAD_OK);
  cluster.settle();
  cluster.at(3).read_index("from three");
  cluster.settle();
  ASSERT_EQ(cluster.at(3).reads.size(), 1U);
  EXPECT_EQ(cluster.at(3).reads[0].index, 3U);
  EXPECT_EQ(cluster.at(3).reads[0].context, "from three");
}

TEST(ShimCluster, AVoterIsAddedAndRemovedAndAJointChangeIsLeftByAnother) {
  Cluster cluster({1, 2, 3});
  cluster.establish(1, {2, 3});
  cluster.add(4, TestDisk{});
  EXPECT_EQ(cluster.at(1).propose_conf({{2, 0, 4}}), CAD_OK);  // a learner
  cluster.settle();
  cluster.tick(4);
  for (const cad_want& want : cluster.at(1).take_wants())
    cluster.at(1).answer(want);
  cluster.tick(6);
  EXPECT_EQ(cluster.at(4).status().role, static_cast<std::uint32_t>(CAD_ROLE_LEARNER));
  EXPECT_EQ(cluster.at(4).disk().conf, cluster.at(1).disk().conf);
  EXPECT_EQ(cluster.at(1).propose_conf({{0, 0, 4}, {1, 0, 3}}, 2), CAD_OK);
  cluster.settle();
  EXPECT_EQ(cluster.at(1).status().joint, 1U);
  EXPECT_EQ(cluster.at(1).disk().conf.voters_outgoing, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(cluster.at(1).propose_conf({{2, 0, 5}}), CAD_CONF_INVALID);  // first leave
  EXPECT_EQ(cluster.at(1).propose_conf({}), CAD_OK);
  cluster.settle();
  cluster.tick(6);
  EXPECT_EQ(cluster.at(1).status().joint, 0U);
  EXPECT_EQ(cluster.at(1).disk().conf.voters, (std::vector<std::uint64_t>{1, 2, 4}));
  EXPECT_EQ(cluster.at(3).raft(), nullptr);  // It saw its removal, and its engine is gone.
}

}  // namespace
}  // namespace cadastre::log
