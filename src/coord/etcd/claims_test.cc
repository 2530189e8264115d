// Claims by memory: what they cost, and that memory decides nothing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/logger.h"
#include "base/logger_testing.h"
#include "base/random.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/etcd/core.h"
#include "coord/etcd/delay.h"
#include "coord/etcd/etcd_backend.h"
#include "coord/etcd/etcd_world_testing.h"
#include "coord/etcd/limits.h"
#include "coord/etcd/model_store.h"
#include "coord/etcd/store.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/snapshot.h"
#include "coord/sync_over_async.h"

namespace cadastre::coord::etcd {
namespace {

constexpr std::size_t kShards = 100;

EtcdOptions counting_options() {
  EtcdOptions options = options_of_tests();
  options.hints = Hints::kCounted;
  return options;
}

// Two processes on one store, with a run of a hundred shards.
class EtcdClaims : public testing::Test, public EtcdWorld {
 protected:
  struct Process {
    explicit Process(EtcdClaims& test)
        : backend({test.home.store, delay, random, test.home.clock, &test.logger},
                  counting_options()),
          facade(backend, [] { return false; }) {}
    NoDelay delay;
    base::SeededRandom random{1};
    EtcdBackend backend;
    SyncOverAsync facade;
  };

  void SetUp() override {
    ASSERT_TRUE(home.create_run(3_t, tenant, kLarge, config));
    std::vector<base::Bytes> bounds;
    for (std::size_t i = 0; i <= kShards; ++i)
      bounds.push_back({std::byte{1}, static_cast<std::byte>(i)});
    std::vector<InitialShardInput> manifest;
    for (std::size_t i = 0; i < kShards; ++i)
      manifest.push_back({ShardId::from_raw(i + 1), spec(bounds[i], bounds[i + 1])});
    ASSERT_TRUE(home.register_shards(4_t, tenant, kLarge, manifest, 7_op));
  }
  void TearDown() override {
    home.store.set_faults({});
    home.introspection.verify();
  }

  auto claim(Process& process, WorkerId worker, LogicalTime now = 10_t) {
    return process.facade.claim_next_available(now, tenant, kLarge, worker, *scratch);
  }
  void give_back(Process& process, const Lease& lease) {
    ASSERT_TRUE(process.facade.release_shard(11_t, tenant, lease, CursorUpdate::initial(),
                                             OpId::from_raw(100 + ++ops)));
  }

  static constexpr RunId kLarge = RunId::from_raw(2);
  base::CapturedLog log;
  base::Logger logger{log, home.clock, base::LogForm::kText};
  std::uint64_t ops = 0;
  Process one{*this};
  Process two{*this};
};

// Whatever the number of shards: no reading, one transaction for a claim and one for a release, no new lease.
TEST_F(EtcdClaims, AClaimOfAKnownRunIsOneTransaction) {
  give_back(one, claim(one, 1_w).value().lease);
  const auto before = home.store.counters();
  const auto leases = home.store.leases();
  for (std::uint64_t i = 0; i < 50; ++i)
    give_back(one, claim(one, WorkerId::from_raw(i + 1)).value().lease);
  EXPECT_EQ(home.store.counters().reads, before.reads);
  EXPECT_EQ(home.store.counters().commits, before.commits + 100);
  EXPECT_EQ(home.store.leases(), leases);
}

// 7.3, as a look at everything would choose.
TEST_F(EtcdClaims, MemoryChoosesTheShardThatALookChooses) {
  for (std::uint64_t i = 0; i < kShards; ++i) {
    std::vector<ShardId> candidates;
    ASSERT_TRUE(one.facade.collect_claim_candidates_into(10_t, tenant, kLarge, candidates));
    ASSERT_EQ(candidates.size(), kShards - i);
    const WorkerId worker = WorkerId::from_raw(i * 37 + 5);
    const auto claimed = claim(one, worker);
    ASSERT_TRUE(claimed.has_value());
    EXPECT_EQ(claimed->lease.shard(), candidates[worker.raw() % candidates.size()]);
    EXPECT_EQ(claimed->capacity.available_count, candidates.size() - 1);
  }
  EXPECT_EQ(claim(one, 1_w).error(), NoneAvailable{110_t});
}

TEST_F(EtcdClaims, WhatAnotherProcessTookIsPassedOver) {
  give_back(one, claim(one, 1_w).value().lease);
  for (std::uint64_t i = 0; i < kShards - 1; ++i)
    ASSERT_TRUE(claim(two, WorkerId::from_raw(i)).has_value());
  const auto last = claim(one, 5_w);
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(claim(one, 5_w).error(), NoneAvailable{110_t});
  EXPECT_EQ(claim(two, 5_w).error(), NoneAvailable{110_t});
}

// That nothing is free is only said after a look.
TEST_F(EtcdClaims, WhatAnotherProcessGaveBackIsFound) {
  std::vector<Lease> leases;
  for (std::uint64_t i = 0; i < kShards; ++i)
    leases.push_back(claim(two, WorkerId::from_raw(i)).value().lease);
  EXPECT_EQ(claim(one, 5_w).error(), NoneAvailable{110_t});
  give_back(two, leases[30]);
  EXPECT_EQ(claim(one, 5_w).value().lease.shard(), leases[30].shard());
}

// D-8: known free shards of a run that another process has ended are not handed out, from the next call on.
TEST_F(EtcdClaims, ARunThatAnotherProcessEndedHandsNothingOut) {
  give_back(one, claim(one, 1_w).value().lease);
  ASSERT_TRUE(two.facade.cancel_run(12_t, tenant, kLarge, 9_op));
  const auto before = home.introspection.dump_shards();
  EXPECT_EQ(claim(one, 1_w, 13_t).error(), NoneAvailable{});
  EXPECT_EQ(home.introspection.dump_shards(), before);
}

// The record that is remembered is compared, so that nobody loses a shard that another process handed out.
TEST_F(EtcdClaims, AShardThatIsRememberedAsFreeIsNotTakenFromItsHolder) {
  const Lease first = claim(one, 1_w).value().lease;
  give_back(one, first);
  const auto held =
      two.facade.acquire_and_restore_into(12_t, tenant, first.shard_key(), 2_w, *scratch);
  ASSERT_TRUE(held.has_value());
  const auto other = claim(one, 1_w, 13_t);
  ASSERT_TRUE(other.has_value());
  EXPECT_NE(other->lease.shard(), first.shard());
  EXPECT_TRUE(two.facade.renew(14_t, tenant, held->lease).has_value());
}

// What is remembered of a run holds for one revision of its record: another run may have its name by now.
TEST_F(EtcdClaims, ARunThatChangedIsReadAgain) {
  const ShardKey key{kLarge, ShardId::from_raw(3)};
  ASSERT_TRUE(one.facade.acquire_and_restore_into(10_t, tenant, key, 1_w, *scratch));
  ASSERT_TRUE(two.facade.cancel_run(12_t, tenant, kLarge, 9_op));
  ASSERT_EQ(two.facade.gc_terminal_runs(tenant, 13_t).value(), 1U);
  ASSERT_TRUE(two.facade.create_run(14_t, tenant, kLarge, {.lease_duration = 500}));
  const std::vector<InitialShardInput> manifest{{key.shard, spec("a"_b, "b"_b)}};
  ASSERT_TRUE(two.facade.register_shards(15_t, tenant, kLarge, manifest, 8_op));
  const auto acquired = one.facade.acquire_and_restore_into(20_t, tenant, key, 1_w, *scratch);
  EXPECT_EQ(acquired.value().lease.deadline(), 520_t);
}

TEST_F(EtcdClaims, ALeaseThatIsUsedAgainHasEndedMeanwhile) {
  give_back(one, claim(one, 1_w).value().lease);
  for (const LeaseId lease : home.store.leases())
    home.store.expire(lease);
  EXPECT_TRUE(claim(one, 1_w).has_value());
}

// An owner key lasts the owner's TTL, on a lease of its own or on one that is used again.
TEST_F(EtcdClaims, AnOwnerKeyOnALeaseThatIsUsedAgainLastsTheWholeTtl) {
  give_back(one, claim(one, 1_w).value().lease);
  home.clock.advance(kTtl / kSpareLeaseAgeDivisor);
  const Lease lease = claim(one, 1_w).value().lease;
  EXPECT_EQ(home.store.leases().size(), 1U);
  home.clock.advance(kTtl - std::chrono::seconds(1));
  EXPECT_TRUE(one.facade.renew(12_t, tenant, lease));
}

TEST_F(EtcdClaims, AnOldLeaseIsNotUsedAgain) {
  const Lease lease = claim(one, 1_w).value().lease;
  home.clock.advance(kTtl / 2);
  give_back(one, lease);
  EXPECT_TRUE(home.store.leases().empty());
}

TEST_F(EtcdClaims, ABackendThatEndsRevokesTheLeasesItKept) {
  auto process = std::make_unique<Process>(*this);
  give_back(*process, claim(*process, 1_w).value().lease);
  EXPECT_EQ(home.store.leases().size(), 1U);
  process.reset();
  EXPECT_TRUE(home.store.leases().empty());
}

// 3.6: a hint is advice. Renewals do not count the run's keys each time.
TEST_F(EtcdClaims, RenewalsCountOnceInAWhile) {
  const auto held = one.facade.acquire_and_restore_into(
      10_t, tenant, {kLarge, ShardId::from_raw(3)}, 1_w, *scratch);
  EXPECT_EQ(held->capacity, (CapacityHint{kShards - 1, std::nullopt}));
  const auto ranges = [this] {
    return std::ranges::count_if(
        home.store.last_transaction().success,
        [](const Operation& one_of) { return std::holds_alternative<Range>(one_of); });
  };
  EXPECT_EQ(one.facade.renew(11_t, tenant, held->lease)->capacity.available_count, kShards - 1);
  EXPECT_EQ(ranges(), 0);
  home.clock.advance(kCountKept + std::chrono::milliseconds(1));
  EXPECT_EQ(one.facade.renew(12_t, tenant, held->lease)->capacity.available_count, kShards - 1);
  EXPECT_EQ(ranges(), 2);
}

// 10.5: what nobody waits for fails without a trace in the answer, but not without a line for the operator.
TEST_F(EtcdClaims, AFailedRevocationIsLoggedAndNotReturned) {
  const Lease lease = claim(one, 1_w).value().lease;
  home.clock.advance(kTtl / 2);
  break_all(Rpc::kRevoke, Fault::kUnavailable);
  give_back(one, lease);
  EXPECT_EQ(log.lines().size(), 1U);
  break_all(Rpc::kKeepAlive, Fault::kUnavailable);
  const Lease next = claim(one, 1_w).value().lease;
  EXPECT_TRUE(one.facade.renew(12_t, tenant, next));
  EXPECT_EQ(log.lines().size(), 2U);
}

// many renewals are under way at once, a bounded number, and each lease has its own answer.
TEST(EtcdRenewMany, ABoundedNumberIsUnderWayAtOnce) {
  base::ManualClock clock;
  ModelStore store(clock, {.delivery = ModelDelivery::kWhenTold});
  NoDelay delay;
  base::SeededRandom random(1);
  EtcdBackend backend({store, delay, random, clock}, options_of_tests());
  const TenantId tenant;
  std::vector<Lease> leases;
  for (std::uint64_t i = 1; i <= 100; ++i)
    leases.push_back(Lease::granted({.tenant = tenant,
                                     .key = {kRun, ShardId::from_raw(i)},
                                     .owner = 1_w,
                                     .fence = FenceEpoch::from_raw(2),
                                     .deadline = 100_t}));
  std::optional<CoordinationBackend::RenewedLeases> renewed;
  backend.renew_many(10_t, tenant, leases, [&](auto answer) { renewed = *std::move(answer); });
  EXPECT_EQ(store.pending(), kRenewalsAtOnceMax);
  std::size_t most = 0;
  while (store.pending() != 0) {
    most = std::max(most, store.pending());
    store.deliver(random.below(store.pending()));
  }
  EXPECT_EQ(most, kRenewalsAtOnceMax);
  ASSERT_TRUE(renewed.has_value());
  ASSERT_EQ(renewed->size(), leases.size());
  for (std::size_t i = 0; i < leases.size(); ++i)
    EXPECT_EQ((*renewed)[i].error(), RenewError(ShardNotFound{leases[i].shard_key()}));
}

}  // namespace
}  // namespace cadastre::coord::etcd
