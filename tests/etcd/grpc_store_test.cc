// GrpcStore against one real etcd: what etcd means by compares, leases and limits, and who may speak to it.

#include "coord/etcd/grpc_store.h"

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "base/mutex.h"
#include "coord/etcd/etcd_config.h"
#include "coord/etcd/store.h"
#include "tests/etcd/blocking_store.h"
#include "tests/etcd/etcd_member.h"

namespace cadastre::coord::etcd {
namespace {

using std::chrono::seconds;

EtcdConfig config_for(std::vector<std::string> endpoints) {
  EtcdConfig config;
  config.endpoints = std::move(endpoints);
  return config;
}

// One etcd for the suite; each test has keys of its own.
class GrpcStoreTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { cluster_ = std::make_unique<EtcdCluster>(1); }
  static void TearDownTestSuite() { cluster_.reset(); }

  GrpcStoreTest() : store_(config_for(cluster_->endpoints())) {}

  [[nodiscard]] static std::string key(std::string_view name) {
    return fmt::format("/{}/{}", testing::UnitTest::GetInstance()->current_test_info()->name(),
                       name);
  }
  // Whether a transaction with this one compare succeeds.
  [[nodiscard]] bool holds(Compare compare) {
    std::vector<Compare> compares;
    compares.push_back(std::move(compare));
    const auto result =
        store_.commit({.compares = std::move(compares), .success = {}, .failure = {}});
    EXPECT_TRUE(result.has_value());
    return result && result->succeeded;
  }

  static std::unique_ptr<EtcdCluster> cluster_;
  BlockingStore store_;
};

std::unique_ptr<EtcdCluster> GrpcStoreTest::cluster_;

// C-10.5
TEST_F(GrpcStoreTest, EveryGuardHoldsExactlyWhenItShould) {
  const auto lease = store_.grant_lease(seconds{60});
  ASSERT_TRUE(lease) << lease.error().detail;
  EXPECT_TRUE(holds({key("k"), Compare::Absent{}}));
  EXPECT_FALSE(holds({key("k"), Compare::Present{}}));
  const auto put = store_.put(key("k"), "v", *lease);
  ASSERT_TRUE(put) << put.error().detail;
  EXPECT_FALSE(holds({key("k"), Compare::Absent{}}));
  EXPECT_TRUE(holds({key("k"), Compare::Present{}}));
  EXPECT_TRUE(holds({key("k"), Compare::Modified{put->at}}));
  EXPECT_FALSE(holds({key("k"), Compare::Modified{Revision{put->at.value() - 1}}}));
  EXPECT_TRUE(holds({key("k"), Compare::Value{"v"}}));
  EXPECT_FALSE(holds({key("k"), Compare::Value{"w"}}));
  EXPECT_TRUE(holds({key("k"), Compare::BoundTo{*lease}}));
  EXPECT_FALSE(holds({key("k"), Compare::BoundTo{LeaseId{lease->value() + 1}}}));
}

TEST_F(GrpcStoreTest, ATransactionIsAllOrTheOtherList) {
  ASSERT_TRUE(store_.put(key("a"), "1"));
  const auto lost = store_.commit({.compares = {{key("a"), Compare::Value{"2"}}},
                                   .success = {Put{key("a"), "3"}, Put{key("b"), "3"}},
                                   .failure = {Range{key("a"), ""}, Range{key("b"), ""}}});
  ASSERT_TRUE(lost);
  EXPECT_FALSE(lost->succeeded);
  ASSERT_EQ(lost->ranges.size(), 2U);
  ASSERT_EQ(lost->ranges[0].keys.size(), 1U);
  EXPECT_EQ(lost->ranges[0].keys[0].value, "1");
  EXPECT_TRUE(lost->ranges[1].keys.empty());

  const auto won = store_.commit(
      {.compares = {{key("a"), Compare::Value{"1"}}},
       .success = {Put{key("a"), "3"}, Put{key("b"), "3"}, Delete{key("c"), key("d")}},
       .failure = {}});
  ASSERT_TRUE(won);
  EXPECT_TRUE(won->succeeded);
  const auto b = store_.get(key("b"));
  ASSERT_TRUE(b && *b);
  EXPECT_EQ((*b)->modified, won->at);
  EXPECT_EQ((*b)->version, 1);
}

TEST_F(GrpcStoreTest, ReadsSeveralRangesAtOneRevision) {
  for (const char* name : {"1", "2", "3"})
    ASSERT_TRUE(store_.put(key(name), "v"));
  const auto read = store_.read(
      {Range{key("1"), key("4"), 2, Fields::kAll}, Range{key("1"), key("4"), 0, Fields::kKeys},
       Range{key("1"), key("4"), 0, Fields::kCount}, Range{key("9"), ""}});
  ASSERT_TRUE(read) << read.error().detail;
  ASSERT_EQ(read->size(), 4U);
  EXPECT_EQ((*read)[0].keys.size(), 2U);
  EXPECT_TRUE((*read)[0].more);
  EXPECT_EQ((*read)[0].count, 3);
  EXPECT_EQ((*read)[1].keys.size(), 3U);
  EXPECT_TRUE((*read)[1].keys[2].value.empty());
  EXPECT_TRUE((*read)[2].keys.empty());
  EXPECT_EQ((*read)[2].count, 3);
  EXPECT_EQ((*read)[3].count, 0);
  for (const RangeResult& range : *read)
    EXPECT_EQ(range.at, read->front().at);
}

// C-10.4
TEST_F(GrpcStoreTest, AKeyGoesWithItsLease) {
  const auto lease = store_.grant_lease(seconds{60});
  ASSERT_TRUE(lease);
  ASSERT_TRUE(store_.put(key("owner"), "w", *lease));
  const auto ttl = store_.keep_alive(*lease);
  ASSERT_TRUE(ttl) << ttl.error().detail;
  EXPECT_EQ(*ttl, seconds{60});
  EXPECT_EQ((*store_.get(key("owner")))->lease, *lease);
  ASSERT_TRUE(store_.revoke_lease(*lease));
  EXPECT_EQ(*store_.get(key("owner")), std::nullopt);
  EXPECT_EQ(store_.keep_alive(*lease).error().code, StoreError::kNoLease);
  EXPECT_EQ(store_.revoke_lease(*lease).error().code, StoreError::kNoLease);
}

TEST_F(GrpcStoreTest, APutOnALeaseThatIsGoneChangesNothing) {
  const auto lost =
      store_.commit({.compares = {},
                     .success = {Put{key("a"), "1"}, Put{key("b"), "1", LeaseId{12345}}},
                     .failure = {}});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, StoreError::kNoLease);
  EXPECT_EQ(*store_.get(key("a")), std::nullopt);
}

// Issue 6: too large and too many get their typed error, and nothing is stored.
TEST_F(GrpcStoreTest, WhatEtcdDoesNotTakeIsRefusedWithWords) {
  for (const std::size_t bytes : {std::size_t{1'700'000}, std::size_t{8'000'000}}) {
    const auto large = store_.put(key("large"), std::string(bytes, 'x'));
    ASSERT_FALSE(large);
    EXPECT_EQ(large.error().code, StoreError::kRefused) << large.error().detail;
    EXPECT_TRUE(large.error().detail.contains("--max-request-bytes")) << large.error().detail;
  }
  Transaction many;
  for (int i = 0; i < 200; ++i)
    many.success.emplace_back(Put{key(fmt::format("many{:03}", i)), "v"});
  const auto refused = store_.commit(std::move(many));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, StoreError::kRefused);
  EXPECT_TRUE(refused.error().detail.contains("--max-txn-ops")) << refused.error().detail;
  EXPECT_EQ(store_.read({Range{key("large"), key("n"), 0, Fields::kCount}})->front().count, 0);
}

TEST_F(GrpcStoreTest, ClosingWaitsForTheCallsInFlight) {
  constexpr int kCalls = 200;
  int answered = 0;
  base::Mutex mutex;
  for (int i = 0; i < kCalls; ++i) {
    store_.store().commit(
        {.compares = {}, .success = {Put{key("k"), fmt::format("{}", i)}}, .failure = {}},
        [&](const Result<TransactionResult, StoreError>& result) {
          const base::MutexLock lock(mutex);
          answered += result ? 1 : 0;
        });
  }
  store_.close();
  EXPECT_EQ(answered, kCalls);
}

// Runs a shell command in a directory.
void run_in(const std::filesystem::path& directory, const std::string& command) {
  const std::string line =
      fmt::format("cd '{}' && {{ {}; }} >openssl.log 2>&1", directory.string(), command);
  CAD_CHECK(std::system(line.c_str()) == 0, "openssl makes the test's certificates");
}

std::string text_of_file(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// A CA, and certificates of a server at 127.0.0.1 and of a client; and one that the CA does not know.
void make_certificates(const std::filesystem::path& directory) {
  run_in(
      directory,
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=ca "
      "-keyout ca.key -out ca.crt && "
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "
      "/CN=stranger "
      "-keyout stranger.key -out stranger.crt && "
      "printf 'subjectAltName=IP:127.0.0.1\\nextendedKeyUsage=serverAuth,clientAuth\\n' "
      ">extensions && "
      "for name in server client; do openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 "
      "-nodes "
      "-subj /CN=$name -keyout $name.key -out $name.csr && openssl x509 -req -in $name.csr -CA "
      "ca.crt "
      "-CAkey ca.key -CAcreateserial -days 2 -extfile extensions -out $name.crt || exit 1; done");
}

struct Scratch {
  std::filesystem::path directory = make_scratch_directory();
  ~Scratch() { std::filesystem::remove_all(directory); }
};

// Issue 6: TLS and authentication options.
class SecuredEtcd : public testing::Test {
 protected:
  SecuredEtcd() {
    make_certificates(scratch_.directory);
    cluster_.emplace(1, MemberOptions{.flags = {}, .tls_directory = scratch_.directory});
  }
  [[nodiscard]] EtcdConfig config() {
    EtcdConfig config = config_for({(*cluster_)[0].tls_endpoint()});
    config.tls =
        EtcdTls{.ca = file("ca.crt"), .certificate = file("client.crt"), .key = file("client.key")};
    config.connect_timeout = std::chrono::milliseconds{1000};
    return config;
  }
  [[nodiscard]] std::string file(std::string_view name) const {
    return text_of_file(scratch_.directory / name);
  }
  void post(std::string_view path, std::string_view json) {
    const std::string answer = (*cluster_)[0].post(path, json);
    ASSERT_TRUE(answer.contains("header")) << path << ": " << answer;
  }

  Scratch scratch_;
  std::optional<EtcdCluster> cluster_;
};

TEST_F(SecuredEtcd, TakesOnlyCertificatesOfItsAuthorityAndWeOnlyIts) {
  BlockingStore store(config());
  const auto put = store.put("/k", "v");
  EXPECT_TRUE(put) << put.error().detail;

  EtcdConfig nobody = config();
  nobody.tls->certificate.clear();
  nobody.tls->key.clear();
  const auto refused = BlockingStore(nobody).put("/k", "nobody");
  ASSERT_FALSE(refused);

  EtcdConfig stranger = config();
  stranger.tls->certificate = file("stranger.crt");
  stranger.tls->key = file("stranger.key");
  ASSERT_FALSE(BlockingStore(stranger).put("/k", "stranger"));

  EtcdConfig distrustful = config();
  distrustful.tls->ca = file("stranger.crt");
  const auto unreached = BlockingStore(distrustful).put("/k", "distrustful");
  ASSERT_FALSE(unreached);
  EXPECT_EQ(unreached.error().code, StoreError::kUnavailable) << unreached.error().detail;

  EXPECT_EQ((*store.get("/k"))->value, "v");
}

TEST_F(SecuredEtcd, UsersAuthenticateAndOldTokensAreReplaced) {
  post("/v3/auth/user/add", R"({"name":"root","password":"secret"})");
  post("/v3/auth/role/add", R"({"name":"root"})");
  post("/v3/auth/user/grant", R"({"user":"root","role":"root"})");
  post("/v3/auth/user/add", R"({"name":"worker","password":"pass"})");
  post("/v3/auth/role/add", R"({"name":"cadastre"})");
  // /c to /d, in base 64.
  post("/v3/auth/role/grant",
       R"({"name":"cadastre","perm":{"permType":"READWRITE","key":"L2M=","range_end":"L2Q="}})");
  post("/v3/auth/user/grant", R"({"user":"worker","role":"cadastre"})");
  post("/v3/auth/enable", "{}");

  EtcdConfig with_user = config();
  with_user.user = EtcdUser{"worker", "pass"};
  BlockingStore worker(with_user);
  EXPECT_TRUE(worker.put("/c/k", "v"));
  const auto forbidden = worker.put("/k", "v");
  ASSERT_FALSE(forbidden);
  EXPECT_EQ(forbidden.error().code, StoreError::kRefused);
  EXPECT_TRUE(forbidden.error().detail.contains("grant it a role")) << forbidden.error().detail;

  with_user.user->password = "wrong";
  const auto wrong = BlockingStore(with_user).put("/c/k", "wrong");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, StoreError::kRefused) << wrong.error().detail;
  EXPECT_FALSE(wrong.error().detail.contains("wrong"));

  const auto anonymous = BlockingStore(config_for({(*cluster_)[0].endpoint()})).put("/c/k", "x");
  ASSERT_FALSE(anonymous);
  EXPECT_EQ(anonymous.error().code, StoreError::kRefused) << anonymous.error().detail;

  // etcd forgets its simple tokens when it starts again.
  (*cluster_)[0].kill();
  (*cluster_)[0].start();
  ASSERT_TRUE((*cluster_)[0].wait_until_it_serves(seconds{20}));
  const auto again = answer_until(seconds{10}, [&] { return worker.put("/c/k", "again"); });
  ASSERT_TRUE(again) << again.error().detail;
  EXPECT_EQ((*worker.get("/c/k"))->value, "again");
}

}  // namespace
}  // namespace cadastre::coord::etcd
