#include "node/server_config.h"

#include <chrono>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace cadastre::node {
namespace {

TEST(ServerConfig, AnEmptyFileIsTheDefaults) {
  EXPECT_EQ(*parse_server_config(""), ServerConfig{});
}

TEST(ServerConfig, EveryKeyIsRead) {
  const auto config = parse_server_config(R"(
data = "d"
listen = "[::1]:1"
http = "127.0.0.1:2"
insecure = true
log_json = true
token_file = "t"
[tls]
cert = "c"
key = "k"
client_ca = "a"
[cluster]
topology = "n"
node = 3
bootstrap = true
join = true
checkpoint_bytes_per_second = 1048576
[raft]
lease_reads = true
[log]
truncate_every_ms = 1
truncate_bytes = 2
truncate_entries = 3
flush_after_ms = 4
leader_trail_bytes = 5
leader_trail_entries = 6
follower_trail_bytes = 7
peer_silent_ms = 8
[retention]
terminal_runs_hours = 5
)");
  ASSERT_TRUE(config);
  const ServerConfig expected{.data = "d",
                              .listen = "[::1]:1",
                              .http = "127.0.0.1:2",
                              .insecure = true,
                              .log_json = true,
                              .token_file = "t",
                              .tls_cert = "c",
                              .tls_key = "k",
                              .tls_client_ca = "a",
                              .topology = "n",
                              .node = 3,
                              .bootstrap = true,
                              .join = true,
                              .checkpoint_bytes_per_second = 1'048'576,
                              .lease_reads = true,
                              .log_retention = {.truncate_every = std::chrono::milliseconds(1),
                                                .truncate_bytes_min = 2,
                                                .truncate_entries_min = 3,
                                                .unflushed_age_max = std::chrono::milliseconds(4),
                                                .leader_trail_bytes = 5,
                                                .leader_trail_entries = 6,
                                                .follower_trail_bytes = 7,
                                                .peer_silent_after = std::chrono::milliseconds(8)},
                              .terminal_runs_kept = std::chrono::hours(5)};
  EXPECT_EQ(*config, expected);
}

TEST(ServerConfig, WhatIsUnknownOrOfAnotherTypeIsRefusedByName) {
  struct Case {
    std::string_view text;
    std::string_view named;
  };
  const Case cases[] = {
      {"dat = 'x'", "dat"},
      {"data = 7", "data"},
      {"insecure = 'yes'", "insecure"},
      {"tls = 1", "tls"},
      {"[tls]\ncertificate = 'x'", "tls.certificate"},
      {"cluster = 1", "cluster"},
      {"[cluster]\nnode = -1", "cluster.node"},
      {"[cluster]\nnode = 'a'", "cluster.node"},
      {"[cluster]\nid = 1", "cluster.id"},
      {"[cluster]\ncheckpoint_bytes_per_second = 0", "cluster.checkpoint_bytes_per_second"},
      {"[cluster]\ncheckpoint_bytes_per_second = -1", "cluster.checkpoint_bytes_per_second"},
      {"[raft]\nlease_reads = 'yes'", "raft.lease_reads"},
      {"[raft]\nelection_ticks = 5", "raft.election_ticks"},
      {"[log]\ntruncate_bytes = 0", "log.truncate_bytes"},
      {"[log]\npeer_silent_ms = 1000000000001", "log.peer_silent_ms"},
      {"[log]\nfsync = false", "log.fsync"},
      {"[retention]\nterminal_runs_hours = 1.5", "retention.terminal_runs_hours"},
      {"[retention]\nterminal_runs_hours = -1", "retention.terminal_runs_hours"},
      {"[retention]\nterminal_runs_hours = 9000000", "retention.terminal_runs_hours"},
      {"[disk]\nlow_mib = -1", "disk.low_mib is 0 to"},
      {"[disk]\nlow_percent = 101", "disk.low_percent is 0 to 100"},
      {"[disk]\ncritical_mib = 1.5", "disk.critical_mib has another type"},
      {"[disk]\nballast = 1", "disk.ballast"},
      {"data = ", "line 1"},
      {"data = 'a'\ndata = 'b'", "line 2"},
  };
  for (const Case& one : cases) {
    const auto config = parse_server_config(one.text);
    ASSERT_FALSE(config) << one.text;
    EXPECT_EQ(config.error().code, ConfigError::kMalformed);
    EXPECT_NE(config.error().detail.find(one.named), std::string::npos) << config.error().detail;
  }
}

}  // namespace
}  // namespace cadastre::node
