// What scenes of snapshots begin with: a cluster that truncates at once, and a node that was left behind.

#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>

#include <gtest/gtest.h>

#include "log/raft/raft_cluster_testing.h"

namespace cadastre::log {

// Truncates whatever it may, as soon as it may.
inline Settings eager() {
  Settings settings;
  settings.housekeeping_every = std::chrono::milliseconds(100);
  settings.retention.truncate_every = std::chrono::milliseconds(100);
  settings.retention.truncate_entries_min = 1;
  settings.retention.leader_trail_entries = 0;
  settings.retention.leader_trail_bytes = 0;
  settings.retention.follower_trail_bytes = 0;
  return settings;
}

inline void propose(RaftCluster& cluster, std::uint64_t leader, int from, int to) {
  for (int i = from; i <= to; ++i) {
    const auto done = cluster.at(leader).propose("command " + std::to_string(i));
    cluster.settle();
    ASSERT_TRUE(done->applied()) << i << " " << done->error();
  }
}

// What these have executed is flushed, and their log goes as far as it may.
inline void flush(RaftCluster& cluster, std::initializer_list<std::uint64_t> ids) {
  for (const std::uint64_t id : ids)
    cluster.at(id).machine().request_flush();
  cluster.pass_time(std::chrono::milliseconds(300));
}

// Node 3 lacks what the others have truncated, and is down.
inline void leave_behind(RaftCluster& cluster) {
  cluster.establish(1);
  cluster.at(3).crash();
  propose(cluster, 1, 1, 20);
  flush(cluster, {1, 2});
  ASSERT_EQ(cluster.at(1).status().truncated, cluster.at(1).status().applied);
}

inline void expect_level(RaftCluster& cluster, std::uint64_t id) {
  EXPECT_EQ(cluster.at(id).executed(), cluster.at(1).executed());
  EXPECT_EQ(cluster.at(id).machine().state().digest, cluster.at(1).machine().state().digest);
}

}  // namespace cadastre::log
