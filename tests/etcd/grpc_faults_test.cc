// GrpcStore while members of a real etcd die, stop, fill up and come back.

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "coord/etcd/etcd_config.h"
#include "coord/etcd/store.h"
#include "tests/etcd/blocking_store.h"
#include "tests/etcd/etcd_member.h"

namespace cadastre::coord::etcd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

EtcdConfig impatient(std::vector<std::string> endpoints) {
  EtcdConfig config;
  config.endpoints = std::move(endpoints);
  config.connect_timeout = milliseconds{500};
  config.call_timeout = milliseconds{1000};
  return config;
}

// So that an election takes a fraction of a second.
MemberOptions eager() {
  return {.flags = {"--heartbeat-interval=50", "--election-timeout=250"}, .tls_directory = {}};
}

base::Elapsed time_of(auto work) {
  const base::SystemClock clock;
  const base::Elapsed begin = clock.elapsed();
  work();
  return clock.elapsed() - begin;
}

TEST(GrpcFaults, WithoutEtcdCallsFailFastAndAProbeFindsOutWhenItIsBack) {
  EtcdCluster cluster(1);
  BlockingStore store(impatient(cluster.endpoints()));
  ASSERT_TRUE(store.put("/k", "1"));
  cluster[0].kill();
  for (int i = 0; i < 4; ++i) {  // The first may have been on its way.
    const auto lost = store.put("/k", "2");
    ASSERT_FALSE(lost);
    EXPECT_TRUE(i == 0 || lost.error().code == StoreError::kUnavailable) << lost.error().detail;
  }
  // The breaker is open: a thousand calls take no time and reach nobody.
  EXPECT_LT(time_of([&] {
              for (int i = 0; i < 1000; ++i)
                EXPECT_FALSE(store.put("/k", "2"));
            }),
            seconds{1});
  cluster[0].start();
  ASSERT_TRUE(cluster[0].wait_until_it_serves(seconds{20}));
  const auto back = answer_until(seconds{10}, [&] { return store.get("/k"); });
  ASSERT_TRUE(back) << back.error().detail;
  ASSERT_TRUE(*back);
  EXPECT_EQ((*back)->value, "1");
}

TEST(GrpcFaults, AnotherMemberAnswersWhenOneIsKilled) {
  EtcdCluster cluster(3, eager());
  BlockingStore store(impatient(cluster.endpoints()));
  int acknowledged = 0;
  for (std::size_t victim = 0; victim < cluster.size(); ++victim) {
    for (int i = 0; i < 20; ++i)
      acknowledged += store.put(fmt::format("/k{}/{}", victim, i), "v") ? 1 : 0;
    cluster[victim].kill();
    const auto read = answer_until(seconds{10}, [&] { return store.get("/k0/0"); });
    ASSERT_TRUE(read) << read.error().detail;
    cluster[victim].start();
    ASSERT_TRUE(cluster[victim].wait_until_it_serves(seconds{20}));
  }
  // Nothing that was acknowledged is lost.
  const auto count =
      answer_until(seconds{10}, [&] { return store.read({Range{"/k", "/l", 0, Fields::kCount}}); });
  ASSERT_TRUE(count);
  EXPECT_GE(count->front().count, acknowledged);
  EXPECT_GE(acknowledged, 20);
}

TEST(GrpcFaults, AStoppedLeaderLeavesAWriteUnknownAndTheOthersGoOn) {
  EtcdCluster cluster(3, eager());
  const std::size_t leader = cluster.leader();
  std::vector<std::string> endpoints = {cluster[leader].endpoint()};
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    if (i != leader) endpoints.push_back(cluster[i].endpoint());
  }
  BlockingStore store(impatient(endpoints));
  BlockingStore faithful(impatient({cluster[leader].endpoint()}));  // It asks nobody else.
  ASSERT_TRUE(answer_until(seconds{10}, [&] { return faithful.put("/k", "before"); }));
  cluster[leader].pause();
  const auto unknown = faithful.put("/k", "during");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, StoreError::kOutcomeUnknown) << unknown.error().detail;
  const auto after = answer_until(seconds{10}, [&] { return store.put("/after", "v"); });
  ASSERT_TRUE(after) << after.error().detail;
  cluster[leader].resume();
  const auto read = answer_until(seconds{10}, [&] { return store.get("/after"); });
  ASSERT_TRUE(read && *read);
}

TEST(GrpcFaults, AFullEtcdRefusesWithWordsAndTakesWritesAgainAfterTheAlarm) {
  EtcdCluster cluster(1, {.flags = {"--quota-backend-bytes=4194304"}, .tls_directory = {}});
  BlockingStore store(impatient(cluster.endpoints()));
  const std::string value(500'000, 'x');
  auto put = store.put("/k", value);
  for (int i = 0; put && i < 100; ++i)
    put = store.put("/k", value);
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, StoreError::kRefused);
  EXPECT_TRUE(put.error().detail.contains("--quota-backend-bytes")) << put.error().detail;
  const auto at = store.get("/k");  // Reads go on.
  ASSERT_TRUE(at && *at);
  const auto done = [&](std::string_view path, std::string_view json) {
    const std::string answer = cluster[0].post(path, json);
    EXPECT_TRUE(answer.starts_with('{') && !answer.contains("\"error\"")) << path << ": " << answer;
  };
  done("/v3/kv/compaction",
       fmt::format(R"({{"revision":"{}","physical":true}})", (*at)->modified.value()));
  done("/v3/maintenance/defragment", "{}");
  done("/v3/maintenance/alarm",
       fmt::format(R"({{"action":"DEACTIVATE","memberID":"{}","alarm":"NOSPACE"}})",
                   cluster[0].status("member_id")));
  const auto again = store.put("/k", "small");
  EXPECT_TRUE(again) << again.error().detail;
}

}  // namespace
}  // namespace cadastre::coord::etcd
