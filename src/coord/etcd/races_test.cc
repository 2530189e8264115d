// F2, F6: two coordinators on one store, in every order that chance finds.

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

// Two backends on one store whose calls wait until they are delivered.
struct Race {
  Race()
      : store(clock, {.delivery = ModelDelivery::kWhenTold}),
        random(1),
        one({store, delay, random, clock}, options_of_tests()),
        two({store, delay, random, clock}, options_of_tests()),
        introspection(options_of_tests().keyspace, [this] { return store.dump(); }) {}

  // Delivers what waits, the choices by chance, until nothing does.
  void settle(base::Random& choices) {
    while (store.pending() != 0)
      store.deliver(choices.below(store.pending()));
  }
  template <class T, class E, class Start>
  Result<T, E> wait(const Start& start) {
    std::optional<Result<T, E>> answer;
    start([&](Result<T, E> result) { answer.emplace(std::move(result)); });
    while (!answer)
      store.deliver(0);
    while (store.pending() != 0)
      store.deliver(0);
    return *std::move(answer);
  }

  void set_up() {
    ASSERT_TRUE((wait<RunRecord, CreateRunError>([&](auto done) {
      one.create_run(1_t, tenant, kRun, {.lease_duration = 100}, std::move(done));
    })));
    ASSERT_TRUE((wait<IdempotentOutcome<std::vector<ShardId>>, RegisterShardsError>([&](auto done) {
      one.register_shards(2_t, tenant, kRun, EtcdWorld::roots(), 1_op, std::move(done));
    })));
  }
  Lease take() {
    return wait<AcquireResultView, AcquireError>([&](auto done) {
             one.acquire_and_restore_into(10_t, tenant, {kRun, 10_id}, 1_w, scratch_one,
                                          std::move(done));
           })
        .value()
        .lease;
  }

  TenantId tenant;
  base::ManualClock clock;
  ModelStore store;
  NoDelay delay;
  base::SeededRandom random;
  EtcdBackend one;
  EtcdBackend two;
  StoreIntrospection introspection;
  AcquireScratch scratch_one;
  AcquireScratch scratch_two;
};

constexpr std::uint64_t kRaces = 200;

TEST(EtcdRace, F2OneOfTwoAcquires) {
  for (std::uint64_t seed = 0; seed < kRaces; ++seed) {
    const auto race = std::make_unique<Race>();
    race->set_up();
    std::vector<bool> won;
    const auto note = [&](const Result<AcquireResultView, AcquireError>& result) {
      EXPECT_TRUE(result || result.error().is<AlreadyLeased>());
      won.push_back(result.has_value());
    };
    race->one.acquire_and_restore_into(10_t, race->tenant, {kRun, 10_id}, 1_w, race->scratch_one,
                                       note);
    race->two.acquire_and_restore_into(10_t, race->tenant, {kRun, 10_id}, 2_w, race->scratch_two,
                                       note);
    base::SeededRandom choices(seed);
    race->settle(choices);
    ASSERT_EQ(won.size(), 2U);
    EXPECT_NE(won[0], won[1]) << "seed " << seed;
    EXPECT_EQ(race->store.leases().size(), 1U) << "seed " << seed;
    race->introspection.verify();
  }
}

TEST(EtcdRace, F2TheSameCheckpointRunsOnceWhoeverCarriesIt) {
  for (std::uint64_t seed = 0; seed < kRaces; ++seed) {
    const auto race = std::make_unique<Race>();
    race->set_up();
    const Lease lease = race->take();
    std::vector<Outcome> outcomes;
    const auto note = [&](const Result<IdempotentOutcome<Unit>, CheckpointError>& result) {
      ASSERT_TRUE(result.has_value());
      outcomes.push_back(result->outcome());
    };
    const auto cursor = CursorUpdate::make("c"_b);
    race->one.checkpoint(11_t, race->tenant, lease, cursor, 7_op, note);
    race->two.checkpoint(11_t, race->tenant, lease, cursor, 7_op, note);
    base::SeededRandom choices(seed);
    race->settle(choices);
    ASSERT_EQ(outcomes.size(), 2U);
    EXPECT_EQ(std::ranges::count(outcomes, Outcome::kExecuted), 1) << "seed " << seed;
  }
}

TEST(EtcdRace, F2OneOfTwoSplitsAndNoChildTooMany) {
  for (std::uint64_t seed = 0; seed < kRaces; ++seed) {
    const auto race = std::make_unique<Race>();
    race->set_up();
    const Lease lease = race->take();
    std::size_t executed = 0;
    const auto note = [&](const Result<IdempotentOutcome<SplitReplaceResult>, SplitError>& result) {
      EXPECT_TRUE(result || result.error().is<ShardTerminal>()) << to_text(result.error());
      if (result && result->is_executed()) ++executed;
    };
    const std::vector children{child("a"_b, "f"_b), child("f"_b, "m"_b)};
    const auto plan = SplitReplacePlan::try_make(children).value();
    race->one.split_replace(11_t, race->tenant, lease, plan, 7_op, note);
    race->two.split_replace(11_t, race->tenant, lease, plan, 8_op, note);
    base::SeededRandom choices(seed);
    race->settle(choices);
    EXPECT_EQ(executed, 1U) << "seed " << seed;
    EXPECT_EQ(race->introspection.dump_shards().size(), 4U) << "seed " << seed;
    race->introspection.verify();
  }
}

// The tenant's count is exact, whoever counts (D-4).
TEST(EtcdRace, F2TwoSplitsAtOnceAreBothCounted) {
  for (std::uint64_t seed = 0; seed < kRaces; ++seed) {
    const auto race = std::make_unique<Race>();
    race->set_up();
    const Lease left = race->take();
    const auto right = race->wait<AcquireResultView, AcquireError>([&](auto done) {
      race->two.acquire_and_restore_into(10_t, race->tenant, {kRun, 11_id}, 2_w, race->scratch_two,
                                         std::move(done));
    });
    ASSERT_TRUE(right.has_value());
    const auto note =
        [&](const Result<IdempotentOutcome<SplitResidualResult>, SplitError>& result) {
          EXPECT_TRUE(result.has_value());
        };
    race->one.split_residual(11_t, race->tenant, left, cut("a"_b, "f"_b, "m"_b), 7_op, note);
    race->two.split_residual(11_t, race->tenant, right->lease, cut("m"_b, "q"_b, "z"_b), 8_op,
                             note);
    base::SeededRandom choices(seed);
    race->settle(choices);
    EXPECT_EQ(race->introspection.dump_shards().size(), 4U);
    race->introspection.verify();
  }
}

TEST(EtcdRace, F2OneOfTwoManifests) {
  for (std::uint64_t seed = 0; seed < kRaces; ++seed) {
    const auto race = std::make_unique<Race>();
    race->set_up();
    const RunId run = RunId::from_raw(2);
    ASSERT_TRUE((race->wait<RunRecord, CreateRunError>([&](auto done) {
      race->one.create_run(1_t, race->tenant, run, {.lease_duration = 100}, std::move(done));
    })));
    std::size_t executed = 0;
    std::size_t answered = 0;
    const auto note =
        [&](const Result<IdempotentOutcome<std::vector<ShardId>>, RegisterShardsError>& result) {
          ++answered;
          EXPECT_TRUE(result || result.error().is<WrongStatus>() || is_transient(result));
          if (result) ++executed;
        };
    const std::vector<InitialShardInput> other{{20_id, spec("b"_b, "c"_b)}};
    race->one.register_shards(3_t, race->tenant, run, EtcdWorld::roots(), 7_op, note);
    race->two.register_shards(3_t, race->tenant, run, other, 8_op, note);
    base::SeededRandom choices(seed);
    race->settle(choices);
    EXPECT_EQ(answered, 2U);
    EXPECT_LE(executed, 1U) << "seed " << seed;
    // Whoever won, the run has its manifest and nothing of the other's.
    for (const RunRecord& record : race->introspection.dump_runs()) {
      if (record.run != run || record.root_shards.empty()) continue;
      std::vector<ShardId> there;
      for (const ShardDump& shard : race->introspection.dump_shards()) {
        if (shard.state.run == run) there.push_back(shard.state.shard);
      }
      EXPECT_EQ(there, record.root_shards) << "seed " << seed;
    }
    race->introspection.verify();
  }
}

using StaleRuns = Result<std::vector<RunId>, InfraError>;

TEST(EtcdRace, F6ARunIsActivatedOrCollectedNeverBoth) {
  std::size_t collected = 0;
  std::size_t activated = 0;
  for (std::uint64_t seed = 0; seed < kRaces; ++seed) {
    const auto race = std::make_unique<Race>();
    race->set_up();
    const RunId run = RunId::from_raw(2);
    ASSERT_TRUE((race->wait<RunRecord, CreateRunError>([&](auto done) {
      race->one.create_run(1_t, race->tenant, run, {.lease_duration = 100}, std::move(done));
    })));
    std::optional<bool> registered;
    std::optional<std::vector<RunId>> gone;
    race->one.register_shards(3_t, race->tenant, run, EtcdWorld::roots(), 7_op,
                              [&](const auto& result) { registered = result.has_value(); });
    race->two.gc_stale_initializing_runs(race->tenant, 9_t, [&](const StaleRuns& runs) {
      ASSERT_TRUE(runs.has_value());
      gone = *runs;
    });
    base::SeededRandom choices(seed);
    race->settle(choices);
    ASSERT_TRUE(registered && gone);
    EXPECT_NE(*registered, !gone->empty()) << "seed " << seed;
    (*registered ? activated : collected) += 1;
    race->introspection.verify();
  }
  EXPECT_GT(collected, 0U);
  EXPECT_GT(activated, 0U);
}

}  // namespace
}  // namespace cadastre::coord::etcd
