#include "server/http/metrics_page.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log/engine.h"
#include "log/group_status.h"
#include "log/metrics.h"
#include "log/replica.h"
#include "log/types.h"
#include "server/checkpoint_counters.h"
#include "server/operation_metrics.h"
#include "server/peer_counters.h"

namespace cadastre::server {
namespace {

class MetricsPageTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string page() const {
    const ClusterSources cluster{peers, checkpoints};
    return metrics_page({.operations = operations,
                         .coordination = {},
                         .node_log = &node,
                         .group = log::GroupId{7},
                         .group_log = &group,
                         .group_status = &status,
                         .cluster = clustered ? &cluster : nullptr});
  }
  // Rows begin a line and end one, but a histogram's.
  void expect_rows(const std::vector<std::string>& rows) const {
    const std::string text = "\n" + page();
    for (const std::string& row : rows)
      EXPECT_NE(text.find("\n" + row + "\n"), std::string::npos) << row;
  }

  OperationMetrics operations;
  log::NodeMetrics node;
  log::GroupMetrics group;
  log::GroupStatus status;
  PeerCounters peers;
  CheckpointCounters checkpoints;
  bool clustered = true;
};

TEST_F(MetricsPageTest, WhatIsOfAGroupNamesIt) {  // log.md section 11
  status.role = log::Role::kLeader;
  status.term = log::Term{4};
  group.leader_changes = 3;
  group.system_refused = 2;
  group.applied = 9;
  group.commit_ns.record(1'000);
  group.batch_commands.record(1);
  expect_rows({R"(log_role{group="7"} 3)", R"(log_term{group="7"} 4)", R"(log_halted{group="7"} 0)",
               R"(log_leader_changes_total{group="7"} 3)",
               R"(log_system_refused_total{group="7"} 2)",
               R"(log_outcome_total{group="7",kind="applied"} 9)",
               R"(log_propose_seconds_count{group="7",stage="commit"} 1)",
               R"(log_propose_seconds_count{group="7",stage="queue"} 0)",
               R"(log_batch_commands_count{group="7"} 1)",
               R"(log_read_barriers_total{group="7",mode="linearizable"} 0)"});
}

TEST_F(MetricsPageTest, AHaltedGroupIsSeen) {
  status.role = log::Role::kHalted;
  status.halted = "its disk is gone";
  expect_rows({R"(log_role{group="7"} 5)", R"(log_halted{group="7"} 1)"});
}

TEST_F(MetricsPageTest, ALeaderTellsOfItsPeersAndNotOfItself) {
  status.leader = log::NodeId{1};
  status.members = std::make_shared<const std::vector<log::MemberStatus>>(
      std::vector<log::MemberStatus>{{.node = log::NodeId{1}, .state = log::PeerState::kReplicate},
                                     {.node = log::NodeId{2},
                                      .match = log::Index{5},
                                      .behind = 12,
                                      .state = log::PeerState::kSnapshot,
                                      .round_trip = std::chrono::microseconds(250)},
                                     {.node = log::NodeId{3}}});
  expect_rows({R"(log_peer_match_lag{group="7",peer="2"} 12)",
               R"(log_peer_state{group="7",peer="2"} 2)",
               R"(log_peer_rtt_seconds{group="7",peer="2"} 0.00025)"});
  EXPECT_EQ(page().find(R"(log_peer_rtt_seconds{group="7",peer="3"})"), std::string::npos)
      << "not measured yet";
  EXPECT_EQ(page().find(R"(peer="1")"), std::string::npos);
  status.members.reset();
  EXPECT_EQ(page().find("log_peer_state"), std::string::npos);
}

TEST_F(MetricsPageTest, TheLogThreadsHealthIsTheNodes) {
  node.set_groups.record(2);
  node.pass_ns.record(1'000);
  node.cache_bytes = 77;
  node.sync_reads = 5;
  node.votes_dropped = 1;
  node.frames_malformed = 2;
  node.frames_unknown = 3;
  node.frames_of_strangers = 12;
  node.frames_dropped = 4;
  node.old_reads = 6;
  expect_rows({"log_set_groups_count 1", "log_loop_pass_seconds_count 1", "log_cache_bytes 77",
               "log_sync_reads_total 5", "log_votes_dropped_total 1",
               "log_frames_malformed_total 2", "log_frames_unknown_total 3",
               "log_frames_of_strangers_total 12", "log_frames_dropped_total 4",
               "log_old_reads_total 6"});
}

TEST_F(MetricsPageTest, AServerOnItsOwnHasNoRowsOfPeers) {
  clustered = false;
  EXPECT_EQ(page().find("log_votes_dropped_total"), std::string::npos);
  expect_rows({"log_loop_pass_seconds_count 0"});
}

}  // namespace
}  // namespace cadastre::server
