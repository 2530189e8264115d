// Group F: what a networked store does to operations: answers that are lost, owner keys that end, bytes that are
// wrong.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/random.h"
#include "coord/backend.h"
#include "coord/conformance/words_testing.h"
#include "coord/errors.h"
#include "coord/etcd/core.h"
#include "coord/etcd/delay.h"
#include "coord/etcd/etcd_backend.h"
#include "coord/etcd/etcd_world_testing.h"
#include "coord/etcd/keyspace.h"
#include "coord/etcd/model_home.h"
#include "coord/etcd/model_store.h"
#include "coord/etcd/records.h"
#include "coord/etcd/store.h"
#include "coord/etcd/store_introspection.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/outcome.h"
#include "coord/record_codec.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"

namespace cadastre::coord::etcd {
namespace {

using namespace conformance;  // NOLINT(google-build-using-namespace): the suite's words

class EtcdFaults : public testing::Test, public EtcdWorld {
 protected:
  void TearDown() override {
    home.store.set_faults({});
    home.introspection.verify();
  }
};

// ---- F1: any call of an operation may go wrong; a retry with the same op id ends it -----------------

struct LoggedOperation {
  const char* name;
  // Does it; the outcome, or nothing if the store was at fault.
  std::function<std::optional<Outcome>(ModelHome&, const TenantId&, const Lease&)> act;
};

template <class R>
std::optional<Outcome> outcome_of(const R& result) {
  if (result) return result->outcome();
  EXPECT_TRUE(is_transient(result)) << to_text(result.error());
  return std::nullopt;
}

std::vector<LoggedOperation> logged_operations() {
  return {
      {"checkpoint",
       [](ModelHome& home, const TenantId& tenant, const Lease& lease) {
         return outcome_of(home.checkpoint(11_t, tenant, lease, CursorUpdate::make("c"_b), 7_op));
       }},
      {"complete",
       [](ModelHome& home, const TenantId& tenant, const Lease& lease) {
         return outcome_of(home.complete(11_t, tenant, lease, CursorUpdate::make("c"_b), 7_op));
       }},
      {"park",
       [](ModelHome& home, const TenantId& tenant, const Lease& lease) {
         return outcome_of(home.park_shard(11_t, tenant, lease, ParkReason::kNotFound, 7_op));
       }},
      {"release",
       [](ModelHome& home, const TenantId& tenant, const Lease& lease) {
         return outcome_of(
             home.release_shard(11_t, tenant, lease, CursorUpdate::make("c"_b), 7_op));
       }},
      {"split_replace",
       [](ModelHome& home, const TenantId& tenant, const Lease& lease) {
         const std::vector children{child("a"_b, "f"_b), child("f"_b, "m"_b)};
         const auto plan = SplitReplacePlan::try_make(children).value();
         return outcome_of(home.split_replace(11_t, tenant, lease, plan, 7_op));
       }},
      {"split_residual",
       [](ModelHome& home, const TenantId& tenant, const Lease& lease) {
         return outcome_of(
             home.split_residual(11_t, tenant, lease, cut("a"_b, "f"_b, "m"_b), 7_op));
       }},
      {"register_shards",
       [](ModelHome& home, const TenantId& tenant, const Lease& /*lease*/) {
         const RunId run = RunId::from_raw(2);
         const auto created = home.create_run(3_t, tenant, run, {.lease_duration = 100});
         if (!created && !created.error().is<RunAlreadyExists>()) return std::optional<Outcome>();
         return outcome_of(home.register_shards(11_t, tenant, run, EtcdWorld::roots(), 7_op));
       }},
      {"cancel_run",
       [](ModelHome& home, const TenantId& tenant, const Lease& /*lease*/) {
         return outcome_of(home.cancel_run(11_t, tenant, kRun, 7_op));
       }},
  };
}

constexpr std::size_t kCallsMax = 40;  // more than any operation makes

TEST(EtcdUncertainty, F1ARetryEndsWhatAnyFaultHasLeft) {
  for (const LoggedOperation& operation : logged_operations()) {
    SCOPED_TRACE(operation.name);
    // What it comes to if nothing goes wrong.
    EtcdWorld calm;
    ASSERT_EQ(operation.act(calm.home, calm.tenant, calm.take(10_t, 1_w)), Outcome::kExecuted);
    const auto shards = calm.home.introspection.dump_shards();
    const auto runs = calm.home.introspection.dump_runs();
    std::size_t disturbed = 0;
    std::size_t replayed = 0;
    for (const Fault fault :
         {Fault::kUnavailable, Fault::kLostRequest, Fault::kLostAnswer, Fault::kCompareMiss}) {
      for (std::size_t call = 0; call < kCallsMax; ++call) {
        EtcdWorld world;
        const Lease lease = world.take(10_t, 1_w);
        world.break_call(call, fault);
        auto outcome = operation.act(world.home, world.tenant, lease);
        world.home.store.set_faults({});
        world.home.introspection.verify();  // F7: all of it or nothing
        if (!outcome) {
          ++disturbed;
          outcome = operation.act(world.home, world.tenant, lease);
          ASSERT_TRUE(outcome.has_value());
          if (*outcome == Outcome::kReplayed) ++replayed;
        }
        EXPECT_EQ(world.home.introspection.dump_shards(), shards) << "call " << call;
        EXPECT_EQ(world.home.introspection.dump_runs(), runs) << "call " << call;
        world.home.introspection.verify();
      }
    }
    EXPECT_GE(disturbed, 3U);
    EXPECT_GE(replayed, 1U);  // an answer was lost after the transaction
  }
}

// An acquisition whose answer was lost may have taken the shard; it is free again at once or after its lease.
TEST_F(EtcdFaults, F1AnAcquisitionWithoutAnswerGivesTheShardBack) {
  break_all(Rpc::kCommit, Fault::kLostAnswer);
  EXPECT_TRUE(is_transient(acquire(10_t, 1_w)));
  home.store.set_faults({});
  const auto again = acquire(11_t, 2_w);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->lease.fence(), FenceEpoch::from_raw(3));
}

// A lease that nobody uses is revoked.
TEST_F(EtcdFaults, F1AnAcquisitionThatFailsLeavesNoLeaseBehind) {
  break_all(Rpc::kCommit, Fault::kUnavailable);
  EXPECT_TRUE(is_transient(acquire(10_t, 1_w)));
  EXPECT_TRUE(home.store.leases().empty());
}

// ---- F3: the owner key ends ------------------------------------------------------------------------------

TEST_F(EtcdFaults, F3AnOwnerWithoutItsKeyIsFencedBeforeItsDeadline) {
  const Lease lease = take(10_t, 1_w);
  let_ttl_run_out();
  const ShardDump before = shard();
  const StaleFence stale{lease.fence(), lease.fence()};
  const auto cursor = CursorUpdate::make("c"_b);
  EXPECT_EQ(home.checkpoint(11_t, tenant, lease, cursor, 7_op).error(), stale);
  EXPECT_EQ(home.renew(11_t, tenant, lease).error(), stale);
  EXPECT_EQ(home.complete(11_t, tenant, lease, cursor, 7_op).error(), stale);
  EXPECT_EQ(home.park_shard(11_t, tenant, lease, ParkReason::kOther, 7_op).error(), stale);
  EXPECT_EQ(home.release_shard(11_t, tenant, lease, cursor, 7_op).error(), stale);
  EXPECT_EQ(home.split_residual(11_t, tenant, lease, cut("a"_b, "f"_b, "m"_b), 7_op).error(),
            stale);
  EXPECT_EQ(shard(), before);
  // The shard is free, in every list.
  EXPECT_EQ(home.get_run_progress(11_t, tenant, kRun)->leased, 0U);
  std::vector<ShardId> candidates;
  ASSERT_TRUE(home.collect_claim_candidates_into(11_t, tenant, kRun, candidates));
  EXPECT_EQ(candidates, (std::vector{10_id, 11_id}));
  EXPECT_EQ(take(12_t, 2_w).fence(), FenceEpoch::from_raw(3));
}

TEST_F(EtcdFaults, F3AnOwnerWithoutItsKeyIsToldThatItsDeadlinePassed) {
  const Lease lease = take(10_t, 1_w);
  let_ttl_run_out();
  EXPECT_EQ(home.checkpoint(110_t, tenant, lease, CursorUpdate::make("c"_b), 7_op).error(),
            (LeaseExpired{110_t, 110_t}));
}

// D-19: the deadline has passed, the key has not.
TEST_F(EtcdFaults, F3AShardWhoseDeadlinePassedIsFreeThoughItsKeyIsThere) {
  const Lease lease = take(10_t, 1_w);
  std::vector<ShardId> candidates;
  ASSERT_TRUE(home.collect_claim_candidates_into(110_t, tenant, kRun, candidates));
  EXPECT_EQ(candidates, (std::vector{10_id, 11_id}));
  EXPECT_EQ(take(110_t, 2_w).fence(), FenceEpoch::from_raw(3));
  EXPECT_EQ(home.renew(111_t, tenant, lease).error(),
            (StaleFence{lease.fence(), FenceEpoch::from_raw(3)}));
  EXPECT_EQ(home.store.leases().size(), 1U);  // the old owner's is revoked
}

TEST_F(EtcdFaults, F3RenewalKeepsTheOwnerKeyAlive) {
  const Lease lease = take(10_t, 1_w);
  for (std::uint64_t i = 1; i <= 5; ++i) {
    home.clock.advance(kTtl / 2);
    ASSERT_TRUE(home.renew(LogicalTime::from_raw(10 + i), tenant, lease));
  }
  EXPECT_TRUE(home.checkpoint(20_t, tenant, lease, CursorUpdate::make("c"_b), 7_op));
}

TEST_F(EtcdFaults, F3AFailedKeepAliveIsNoFailedRenewal) {
  const Lease lease = take(10_t, 1_w);
  break_all(Rpc::kKeepAlive, Fault::kUnavailable);
  EXPECT_TRUE(home.renew(11_t, tenant, lease));
}

// ---- F4: what is stored is wrong ---------------------------------------------------------------------------

TEST_F(EtcdFaults, F4WhatCannotBeReadIsCorruption) {
  const Keyspace keys = options_of_tests().keyspace;
  const ShardKey key{kRun, 10_id};
  struct Case {
    const char* text;
    Put damage;
  };
  const std::string other = to_value(encode(shard(11_id)));
  const std::string owner = to_value(encode(OwnerValue{1_w, FenceEpoch::from_raw(2)}));
  const std::vector<Case> cases = {
      {"a record of garbage", {keys.shard(tenant, key), "garbage", {}}},
      {"another shard's record", {keys.shard(tenant, key), other, {}}},
      {"an owner that the record does not know", {keys.owner(tenant, key), owner, {}}},
      {"a run of garbage", {keys.run(tenant, kRun), "garbage", {}}},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.text);
    const auto before = home.store.dump();
    home.store.force(row.damage);
    EXPECT_TRUE(is_corruption(acquire(10_t, 1_w)));
    EXPECT_TRUE(is_corruption(home.get_run_progress(10_t, tenant, kRun)));
    home.store.force(Delete{row.damage.key, {}});
    for (const KeyValue& entry : before) {
      if (entry.key == row.damage.key) home.store.force(Put{entry.key, entry.value, entry.lease});
    }
  }
}

TEST_F(EtcdFaults, F4AShardWithoutItsRunIsCorruption) {
  const Keyspace keys = options_of_tests().keyspace;
  const auto run = home.get_run(tenant, kRun).value();
  home.store.force(Delete{keys.run(tenant, kRun), {}});
  EXPECT_TRUE(is_corruption(acquire(10_t, 1_w)));
  home.store.force(Put{keys.run(tenant, kRun), to_value(encode(run)), {}});
}

// ---- F5: the tenant's count ----------------------------------------------------------------------------------

TEST_F(EtcdFaults, F5AMissingCountIsCountedAnew) {
  const Keyspace keys = options_of_tests().keyspace;
  const Lease lease = take(10_t, 1_w);
  home.store.force(Delete{keys.shard_count(tenant), {}});
  ASSERT_TRUE(home.split_residual(11_t, tenant, lease, cut("a"_b, "f"_b, "m"_b), 7_op));
  const auto all = home.store.dump();
  const auto count = std::ranges::find(all, keys.shard_count(tenant), &KeyValue::key);
  ASSERT_NE(count, all.end());
  EXPECT_EQ(decode_shard_count(base::as_bytes(count->value)).value(), 3U);
}

// Shards that are only prepared do not count.
TEST_F(EtcdFaults, F5PreparedShardsAreNotCounted) {
  const Keyspace keys = options_of_tests().keyspace;
  const RunId run = RunId::from_raw(2);
  ASSERT_TRUE(home.create_run(3_t, tenant, run, config));
  // begin, batch, then no answer any more
  std::size_t commits = 0;
  home.store.set_faults([&commits](Rpc rpc) {
    return rpc == Rpc::kCommit && ++commits > 2 ? Fault::kUnavailable : Fault::kNone;
  });
  EXPECT_TRUE(is_transient(home.register_shards(4_t, tenant, run, roots(), 7_op)));
  home.store.set_faults({});
  EXPECT_TRUE(home.get_shard(tenant, {run, 10_id}).error().is<ShardNotFound>());
  EXPECT_TRUE(home.acquire_and_restore_into(5_t, tenant, {run, 10_id}, 1_w, *scratch)
                  .error()
                  .is<ShardNotFound>());
  home.store.force(Delete{keys.shard_count(tenant), {}});
  const Lease lease = take(10_t, 1_w);
  ASSERT_TRUE(home.split_residual(11_t, tenant, lease, cut("a"_b, "f"_b, "m"_b), 7_op));
  home.introspection.verify();
  // The same request takes up what is there: no batch is written again.
  const auto before = home.store.counters().commits;
  EXPECT_TRUE(home.register_shards(12_t, tenant, run, roots(), 7_op)->is_executed());
  EXPECT_EQ(home.store.counters().commits - before, 2U);  // begin, activation
}

TEST_F(EtcdFaults, R14AnotherManifestRemovesWhatAnAbandonedOneLeft) {
  const RunId run = RunId::from_raw(2);
  ASSERT_TRUE(home.create_run(3_t, tenant, run, config));
  std::size_t commits = 0;
  home.store.set_faults([&commits](Rpc rpc) {
    return rpc == Rpc::kCommit && ++commits > 2 ? Fault::kUnavailable : Fault::kNone;
  });
  EXPECT_TRUE(is_transient(home.register_shards(4_t, tenant, run, roots(), 7_op)));
  home.store.set_faults({});
  const std::vector<InitialShardInput> other{{20_id, spec("b"_b, "c"_b)}};
  ASSERT_TRUE(home.register_shards(5_t, tenant, run, other, 8_op));
  EXPECT_TRUE(home.get_shard(tenant, {run, 10_id}).error().is<ShardNotFound>());
  EXPECT_EQ(home.get_run_progress(6_t, tenant, run)->total, 1U);
}

// ---- F6: collection against activation -------------------------------------------------------------------------

using StaleRuns = Result<std::vector<RunId>, InfraError>;

TEST_F(EtcdFaults, F6StaleRunsGoInTheOrderOfTheirCreation) {
  for (const std::uint64_t run : {4U, 3U, 2U})
    ASSERT_TRUE(
        home.create_run(LogicalTime::from_raw(10 - run), tenant, RunId::from_raw(run), config));
  std::optional<StaleRuns> gone;
  home.backend.gc_stale_initializing_runs(tenant, 8_t,
                                          [&](StaleRuns runs) { gone = std::move(runs); });
  ASSERT_TRUE(gone && gone->has_value());
  EXPECT_EQ(**gone, (std::vector{RunId::from_raw(4), RunId::from_raw(3)}));
  EXPECT_EQ(home.list_runs(tenant, std::nullopt, 10).value(),
            (std::vector{kRun, RunId::from_raw(2)}));
}

TEST_F(EtcdFaults, ActiveRunsAreThoseWithAMarker) {
  ASSERT_TRUE(home.create_run(3_t, tenant, RunId::from_raw(2), config));
  std::optional<Result<std::vector<RunId>, InfraError>> active;
  home.backend.list_active_runs(tenant, [&](auto runs) { active = std::move(runs); });
  EXPECT_EQ(active->value(), std::vector{kRun});
}

// ---- F8: contention ---------------------------------------------------------------------------------------------

TEST_F(EtcdFaults, F8WhoeverNeverGetsThroughIsToldThatItIsTransient) {
  const Lease lease = take(10_t, 1_w);
  break_all(Rpc::kCommit, Fault::kCompareMiss);
  const auto before = home.store.counters().commits;
  const auto refused = home.complete(11_t, tenant, lease, CursorUpdate::make("c"_b), 7_op);
  ASSERT_TRUE(is_transient(refused));
  EXPECT_NE(to_text(refused.error()).find("CAS retry budget exhausted"), std::string::npos);
  EXPECT_EQ(home.store.counters().commits - before, 9U);  // once, and eight times again
  EXPECT_TRUE(is_transient(acquire(200_t, 2_w)));
  EXPECT_TRUE(is_transient(home.cancel_run(11_t, tenant, kRun, 8_op)));
  EXPECT_TRUE(is_transient(home.create_run(3_t, tenant, RunId::from_raw(2), config)));
  // Eight waits: 5, 10, 20, 40, 80, 160, 200, 200 ms, each times at least a half and less than one and a half.
  EXPECT_GE(home.delay.waited(), std::chrono::microseconds(715'000 * 4 / 2));
  EXPECT_LT(home.delay.waited(), std::chrono::microseconds(715'000 * 4 * 3 / 2));
}

// When the budget is used up, what is stored then is the answer.
TEST_F(EtcdFaults, F8ExhaustionIsAnsweredAsTheStoreStands) {
  const Lease lease = take(10_t, 1_w);
  std::size_t commits = 0;
  home.store.set_faults([&commits](Rpc rpc) {
    if (rpc != Rpc::kCommit) return Fault::kNone;
    return ++commits < 9 ? Fault::kCompareMiss : Fault::kNone;
  });
  const auto completed = home.complete(11_t, tenant, lease, CursorUpdate::make("c"_b), 7_op);
  ASSERT_TRUE(completed.has_value());
  EXPECT_TRUE(completed->is_executed());
}

// ---- one round trip -----------------------------------------------------------------------------------------

TEST_F(EtcdFaults, R25ACheckpointOfARememberedLeaseIsOneRoundTrip) {
  const Lease lease = take(10_t, 1_w);
  const auto before = home.store.counters();
  for (std::uint64_t i = 0; i < 5; ++i) {
    const base::Bytes key{std::byte{'b'}, static_cast<std::byte>(i)};
    ASSERT_TRUE(
        home.checkpoint(11_t, tenant, lease, CursorUpdate::make(key), OpId::from_raw(20 + i)));
    ASSERT_TRUE(home.renew(12_t, tenant, lease));
  }
  EXPECT_EQ(home.store.counters().reads, before.reads);
  EXPECT_EQ(home.store.counters().commits, before.commits + 10);
}

// Somebody else has changed the record: the failed transaction brings it, and no read is needed.
TEST_F(EtcdFaults, R25AFailedCompareBringsTheRecord) {
  const Lease lease = take(10_t, 1_w);
  NoDelay delay;
  base::SeededRandom random(1);
  EtcdBackend other({home.store, delay, random, home.clock}, options_of_tests());
  other.checkpoint(11_t, tenant, lease, CursorUpdate::make("c"_b), 7_op,
                   [](const auto& result) { EXPECT_TRUE(result.has_value()); });
  const auto before = home.store.counters();
  EXPECT_TRUE(home.checkpoint(12_t, tenant, lease, CursorUpdate::make("d"_b), 8_op)->is_executed());
  EXPECT_EQ(home.store.counters().reads, before.reads);
  EXPECT_EQ(home.store.counters().commits, before.commits + 2);
  EXPECT_EQ(shard().last_key, base::to_owned("d"_b));
}

// A refusal is never given from memory: another coordinator may have renewed the lease.
TEST_F(EtcdFaults, R25ARememberedDeadlineRefusesNobody) {
  const Lease lease = take(10_t, 1_w);
  NoDelay delay;
  base::SeededRandom random(1);
  EtcdBackend other({home.store, delay, random, home.clock}, options_of_tests());
  other.renew(100_t, tenant, lease, [](const auto& result) { EXPECT_TRUE(result.has_value()); });
  EXPECT_TRUE(home.checkpoint(150_t, tenant, lease, CursorUpdate::make("c"_b), 7_op));
}

TEST_F(EtcdFaults, HintsByCountsSayHowManyAreFree) {
  EtcdOptions counted = options_of_tests();
  counted.hints = Hints::kCounted;
  NoDelay delay;
  base::SeededRandom random(1);
  EtcdBackend backend({home.store, delay, random, home.clock}, counted);
  std::optional<CapacityHint> hint;
  backend.acquire_and_restore_into(10_t, tenant, {kRun, 10_id}, 1_w, *scratch,
                                   [&](const auto& result) { hint = result->capacity; });
  EXPECT_EQ(hint, (CapacityHint{1, std::nullopt}));
}

// ---- D-24: large runs go in batches ---------------------------------------------------------------------------------

TEST_F(EtcdFaults, D24ALargeRunIsForgottenInBatches) {
  const RunId run = RunId::from_raw(2);
  ASSERT_TRUE(home.create_run(3_t, tenant, run, config));
  constexpr std::size_t kShards = 2'500;
  std::vector<base::Bytes> bounds;
  for (std::size_t i = 0; i <= kShards; ++i)
    bounds.push_back({std::byte{1}, static_cast<std::byte>(i >> 8U), static_cast<std::byte>(i)});
  std::vector<InitialShardInput> manifest;
  for (std::size_t i = 0; i < kShards; ++i)
    manifest.push_back({ShardId::from_raw(i + 1), spec(bounds[i], bounds[i + 1])});
  ASSERT_TRUE(home.register_shards(4_t, tenant, run, manifest, 7_op));
  ASSERT_TRUE(home.complete_run(5_t, tenant, run, 8_op));
  const auto before = home.store.counters().commits;
  EXPECT_EQ(home.gc_terminal_runs(tenant, 6_t).value(), 1U);
  EXPECT_EQ(home.store.counters().commits - before, 3U);
  EXPECT_EQ(home.introspection.dump_shards().size(), 2U);
}

}  // namespace
}  // namespace cadastre::coord::etcd
