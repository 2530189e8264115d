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
      {"[retention]\nterminal_runs_hours = 1.5", "retention.terminal_runs_hours"},
      {"[retention]\nterminal_runs_hours = -1", "retention.terminal_runs_hours"},
      {"[retention]\nterminal_runs_hours = 9000000", "retention.terminal_runs_hours"},
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
