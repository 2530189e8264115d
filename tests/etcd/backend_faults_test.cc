// Coordination while a real etcd of three members is in trouble: no acknowledged step is lost, no worker is wronged,
// and whoever was fenced changes nothing.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/signal.h"
#include "coord/backend.h"
#include "coord/conformance/suite_testing.h"
#include "coord/errors.h"
#include "coord/etcd/core.h"
#include "coord/etcd/keyspace.h"
#include "coord/etcd/store.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "kv/lmdb/device_testing.h"
#include "tests/etcd/blocking_store.h"
#include "tests/etcd/etcd_home.h"
#include "tests/etcd/etcd_member.h"
#include "tests/etcd/fleet.h"

namespace cadastre::coord::etcd {
namespace {

using conformance::operator""_t;
using conformance::operator""_w;
using conformance::operator""_op;
using conformance::operator""_b;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr RunId kRun = RunId::from_raw(1);
constexpr int kWorkers = 4;

MemberOptions eager(std::vector<std::string> more = {}) {
  MemberOptions options{.flags = {"--heartbeat-interval=50", "--election-timeout=250"},
                        .tls_directory = {}};
  options.flags.insert(options.flags.end(), more.begin(), more.end());
  return options;
}

HomeOptions options_for(EtcdCluster& cluster) {
  HomeOptions options{.backend = {.keyspace = Keyspace::make(fresh_prefix()).value()}};
  options.config.endpoints = cluster.endpoints();
  options.config.connect_timeout = milliseconds{500};
  options.config.call_timeout = milliseconds{1000};
  return options;
}

void let_pass(milliseconds time) {
  const base::SystemClock clock;
  const base::Elapsed end = clock.elapsed() + time;
  base::Signal never;
  while (clock.elapsed() < end)
    never.wait_for(end - clock.elapsed());
}

void expect_unharmed(Fleet& fleet) {
  for (const std::string& sentence : fleet.broken())
    ADD_FAILURE() << sentence;
  fleet.home().introspection.verify();
  EXPECT_GT(fleet.promised(), 100U);
  for (const ShardDump& shard : fleet.home().introspection.dump_shards())
    EXPECT_EQ(shard.state.status, ShardStatus::kDone);
}

// Issue 6: a member killed.
TEST(BackendFaults, MembersAreKilledOneAfterTheOther) {
  EtcdCluster cluster(3, eager());
  Fleet fleet(options_for(cluster));
  fleet.run(kWorkers, [&] {
    for (std::size_t victim = 0; victim < cluster.size(); ++victim) {
      let_pass(milliseconds{200});
      cluster[victim].kill();
      let_pass(milliseconds{300});
      cluster[victim].start();
      EXPECT_TRUE(cluster[victim].wait_until_it_serves(seconds{20}));
    }
  });
  EXPECT_GT(fleet.unknown(), 0U);
  expect_unharmed(fleet);
}

// Issue 6: the leader stopped.
TEST(BackendFaults, TheLeaderStandsStillAndComesBack) {
  EtcdCluster cluster(3, eager());
  Fleet fleet(options_for(cluster));
  fleet.run(kWorkers, [&] {
    for (int i = 0; i < 2; ++i) {
      let_pass(milliseconds{200});
      const std::size_t leader = cluster.leader();
      cluster[leader].pause();
      let_pass(milliseconds{1500});
      cluster[leader].resume();
    }
  });
  EXPECT_GT(fleet.unknown(), 0U);
  expect_unharmed(fleet);
}

// Issue 6: compaction under load.
TEST(BackendFaults, CompactionRunsUnderLoad) {
  EtcdCluster cluster(3, eager());
  Fleet fleet(options_for(cluster));
  BlockingStore other([&] {
    EtcdConfig config;
    config.endpoints = cluster.endpoints();
    return config;
  }());
  fleet.run(kWorkers, [&] {
    for (int i = 0; i < 20; ++i) {
      let_pass(milliseconds{50});
      const auto at = other.read({Range{"/", "0", 1, Fields::kCount}});
      ASSERT_TRUE(at);
      const std::string answer = cluster[0].post(
          "/v3/kv/compaction",
          fmt::format(R"({{"revision":"{}","physical":true}})", at->front().at.value()));
      EXPECT_FALSE(answer.contains("\"error\"")) << answer;
    }
  });
  expect_unharmed(fleet);
}

// A run with one shard, held by worker 1 since time 10.
class HeldShard : public testing::Test {
 protected:
  explicit HeldShard(std::vector<std::string> flags = {}) : cluster_(1, eager(std::move(flags))) {}

  void start(HomeOptions options) {
    options_ = std::move(options);
    sleeper_ = std::make_unique<EtcdHome>(options_);
    other_ = std::make_unique<EtcdHome>(options_);
    ASSERT_TRUE(sleeper_->create_run(1_t, tenant_, kRun, {.lease_duration = 1'000'000}));
    const std::vector<InitialShardInput> shards{
        {.shard = ShardId::from_raw(10), .spec = conformance::spec("a"_b, "z"_b)}};
    ASSERT_TRUE(sleeper_->register_shards(2_t, tenant_, kRun, shards, 1_op));
    const auto claimed = sleeper_->claim_next_available(10_t, tenant_, kRun, 1_w, *scratch_);
    ASSERT_TRUE(claimed) << to_text(claimed.error());
    lease_.push_back(claimed->lease);
    ASSERT_TRUE(sleeper_->checkpoint(11_t, tenant_, lease(), CursorUpdate::make("b"_b), 2_op));
  }
  [[nodiscard]] const Lease& lease() const { return lease_.front(); }
  [[nodiscard]] std::vector<ShardDump> world() const { return other_->introspection.dump_shards(); }

  // As a worker does whose etcd is just coming back: what etcd did not answer is sent again under the same op id.
  auto insist_on_checkpoint(LogicalTime now, const CursorUpdate& cursor, OpId op) {
    const base::SystemClock clock;
    const base::Elapsed deadline = clock.elapsed() + seconds{30};
    for (;;) {
      auto done = sleeper_->checkpoint(now, tenant_, lease(), cursor, op);
      if (done || !done.error().is<InfraError>() || clock.elapsed() >= deadline) return done;
      let_pass(milliseconds{50});
    }
  }

  // Everything that a worker could try with its lease is refused as stale and changes nothing.
  void expect_fenced(std::uint64_t first_op) {
    const std::vector<ShardDump> before = world();
    const auto op = [&] {
      return OpId::from_raw(first_op++);
    };
    const auto stale = [&](const auto& answer, std::string_view what) {
      ASSERT_FALSE(answer.has_value()) << what;
      EXPECT_TRUE(answer.error().template is<StaleFence>())
          << what << ": " << to_text(answer.error());
    };
    const auto cursor = CursorUpdate::make("c"_b);
    stale(sleeper_->checkpoint(12_t, tenant_, lease(), cursor, op()), "checkpoint");
    stale(sleeper_->renew(12_t, tenant_, lease()), "renew");
    stale(sleeper_->complete(12_t, tenant_, lease(), cursor, op()), "complete");
    stale(sleeper_->park_shard(12_t, tenant_, lease(), ParkReason::kOther, op()), "park");
    stale(sleeper_->release_shard(12_t, tenant_, lease(), cursor, op()), "release");
    stale(sleeper_->split_residual(12_t, tenant_, lease(), conformance::cut("a"_b, "m"_b, "z"_b),
                                   op()),
          "split");
    EXPECT_EQ(world(), before);
  }

  const TenantId tenant_ = conformance::tenant_of(1);
  EtcdCluster cluster_;
  HomeOptions options_{.backend = {.keyspace = Keyspace::make("/").value()}};
  std::unique_ptr<EtcdHome> sleeper_;
  std::unique_ptr<EtcdHome> other_;
  std::unique_ptr<AcquireScratch> scratch_ = std::make_unique<AcquireScratch>();
  std::vector<Lease> lease_;
};

// F3, C-10.4: the owner's lease ends in etcd long before the deadline in the record.
TEST_F(HeldShard, AWorkerThatSleepsLongerThanItsOwnerKeyIsFenced) {
  HomeOptions options = options_for(cluster_);
  options.backend.owner_ttl = seconds{1};
  ASSERT_NO_FATAL_FAILURE(start(std::move(options)));
  const std::string owner = options_.backend.keyspace.owner(tenant_, lease().shard_key());
  EtcdConfig config;
  config.endpoints = cluster_.endpoints();
  BlockingStore store(config);
  ASSERT_TRUE(*store.get(owner)) << "the sleeper owns it";
  const base::SystemClock clock;
  const base::Elapsed deadline = clock.elapsed() + seconds{15};
  while (*store.get(owner) && clock.elapsed() < deadline)
    let_pass(milliseconds{50});
  ASSERT_FALSE(*store.get(owner)) << "etcd lets go of owners that do not renew";

  expect_fenced(100);
  const auto taken = other_->claim_next_available(12_t, tenant_, kRun, 2_w, *scratch_);
  ASSERT_TRUE(taken) << to_text(taken.error());
  EXPECT_GT(taken->lease.fence(), lease().fence());
  expect_fenced(200);
  EXPECT_TRUE(other_->checkpoint(13_t, tenant_, taken->lease, CursorUpdate::make("d"_b), 300_op));
}

class FullEtcd : public HeldShard {
 protected:
  FullEtcd() : HeldShard({"--quota-backend-bytes=4194304"}) {}
};

// Issue 6: a full disk. Nothing changes, reads go on, and the same op id succeeds when there is room again.
TEST_F(FullEtcd, AStepWaitsUntilThereIsRoom) {
  ASSERT_NO_FATAL_FAILURE(start(options_for(cluster_)));
  EtcdConfig config;
  config.endpoints = cluster_.endpoints();
  BlockingStore filler(config);
  for (int i = 0; i < 100 && filler.put("/filler", std::string(500'000, 'x')); ++i) {}
  const std::vector<ShardDump> before = world();
  const auto cursor = CursorUpdate::make("c"_b);
  const auto full = sleeper_->checkpoint(12_t, tenant_, lease(), cursor, 3_op);
  ASSERT_FALSE(full);
  ASSERT_TRUE(full.error().is<InfraError>()) << to_text(full.error());
  EXPECT_TRUE(full.error().get_if<InfraError>()->message.contains("--quota-backend-bytes"))
      << to_text(full.error());
  EXPECT_EQ(world(), before);

  const auto at = filler.get("/filler");
  ASSERT_TRUE(at && *at);
  (void)cluster_[0].post("/v3/kv/compaction", fmt::format(R"({{"revision":"{}","physical":true}})",
                                                          (*at)->modified.value()));
  (void)cluster_[0].post("/v3/maintenance/defragment", "{}");
  (void)cluster_[0].post(
      "/v3/maintenance/alarm",
      fmt::format(R"({{"action":"DEACTIVATE","memberID":"{}","alarm":"NOSPACE"}})",
                  cluster_[0].status("member_id")));
  const auto again = sleeper_->checkpoint(12_t, tenant_, lease(), cursor, 3_op);
  ASSERT_TRUE(again) << to_text(again.error());
  EXPECT_FALSE(again->is_replay());
}

// etcd takes 64 MiB for the first file of its log, and cannot take as much for the second.
struct HasSmallDevice {
  kv::lmdb::SmallDevice device_{"80m"};  // Before the etcd that writes there.
};
class EtcdOnASmallDisk : private HasSmallDevice, public HeldShard {
 protected:
  EtcdOnASmallDisk() : HeldShard({"--wal-dir=" + device_.path() + "/wal"}) {}
  using HasSmallDevice::device_;
};

// Issue 6: a full disk. etcd ends at its first failed write; what it had acknowledged is there when it comes back,
// and the same op id takes effect once.
TEST_F(EtcdOnASmallDisk, NothingAcknowledgedIsLostWhenTheDiskIsFull) {
  ASSERT_NO_FATAL_FAILURE(start(options_for(cluster_)));
  EtcdConfig config;
  config.endpoints = cluster_.endpoints();
  config.call_timeout = std::chrono::seconds(1);
  BlockingStore filler(config);
  int puts = 0;
  while (puts < 300 && filler.put("/filler", std::string(500'000, 'x')))
    ++puts;
  ASSERT_LT(puts, 300) << "the disk did not fill";
  const auto cursor = CursorUpdate::make("c"_b);
  const auto full = sleeper_->checkpoint(12_t, tenant_, lease(), cursor, 3_op);
  ASSERT_FALSE(full);
  ASSERT_TRUE(full.error().is<InfraError>()) << to_text(full.error());

  cluster_[0].kill();
  device_.grow("400m");
  cluster_[0].start();
  ASSERT_TRUE(cluster_[0].wait_until_it_serves(std::chrono::seconds(30)));
  const auto first = insist_on_checkpoint(11_t, CursorUpdate::make("b"_b), 2_op);
  ASSERT_TRUE(first) << to_text(first.error());
  EXPECT_TRUE(first->is_replay());
  const auto again = insist_on_checkpoint(12_t, cursor, 3_op);
  ASSERT_TRUE(again) << to_text(again.error());
  const auto once_more = sleeper_->checkpoint(12_t, tenant_, lease(), cursor, 3_op);
  ASSERT_TRUE(once_more) << to_text(once_more.error());
  EXPECT_TRUE(once_more->is_replay());
}

}  // namespace
}  // namespace cadastre::coord::etcd
