#include "sim/coord/simulation.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/check.h"
#include "coord/identity.h"
#include "sim/chacha_random.h"
#include "sim/coord/driver.h"
#include "sim/coord/faults.h"
#include "sim/coord/request.h"
#include "sim/coord/shrink.h"
#include "sim/coord/step.h"
#include "sim/coord/sweep.h"
#include "sim/coord/world.h"

namespace cadastre::sim {
namespace {

// Sanitizers and slow checks cost a factor of twenty.
constexpr std::uint64_t kSweepSeeds = base::kSlowChecks ? 12 : 700;

SweepReport sweep_of(std::uint64_t first, FaultLevel level) {
  return sweep({.first_seed = first, .seeds = kSweepSeeds, .level = level}, [] { return true; });
}

void expect_clean(const SweepReport& report) {
  EXPECT_EQ(report.seeds, kSweepSeeds);
  if (!report.failure) return;
  const Report& failure = *report.failure;
  ADD_FAILURE() << to_text(failure)
                << to_text(shrink_failure(failure.options, failure.history, Ending::kViolated))
                << repeat_command(failure.options);
}

// Three sweeps of 700 seeds: 2,100 runs of 1,000 operations.
TEST(CoordSweep, SunnyDay) {
  expect_clean(sweep_of(1'000, FaultLevel::kSunnyDay));
}
TEST(CoordSweep, Stormy) {
  expect_clean(sweep_of(2'000, FaultLevel::kStormy));
}
TEST(CoordSweep, Radioactive) {
  expect_clean(sweep_of(3'000, FaultLevel::kRadioactive));
}

// What these seeds did once they do for ever, in every build. New digests belong to a change of the
// driver, or to an answer that is meant to be different.
TEST(CoordSimulation, RepeatsWhatFixedSeedsDid) {
  struct Case {
    FaultLevel level;
    std::uint64_t digest;
  };
  static constexpr std::array kCases{Case{FaultLevel::kSunnyDay, 0x4e78edbc78a90907},
                                     Case{FaultLevel::kStormy, 0xeb3feb22ba54d705},
                                     Case{FaultLevel::kRadioactive, 0xb5a1290c92126c48}};
  for (const Case& wanted : kCases) {
    const Report report = simulate(options_of(42, wanted.level, 1000));
    EXPECT_TRUE(report.violations.empty()) << to_text(report);
    EXPECT_EQ(report.events.digest(), wanted.digest) << to_text(report);
  }
}

TEST(CoordSimulation, IsTheSameForTheSameSeed) {
  for (const FaultLevel level : kFaultLevels) {
    const auto options = options_of(7, level, 500);
    const Report first = simulate(options);
    const Report second = simulate(options);
    EXPECT_EQ(to_text(first), to_text(second));
    EXPECT_EQ(first.events.to_text(), second.events.to_text());
    EXPECT_NE(first.events.digest(), simulate(options_of(8, level, 500)).events.digest());
  }
}

TEST(CoordSimulation, RepeatsARunFromItsHistoryAlone) {
  const Report report = simulate(options_of(11, FaultLevel::kRadioactive, 500));
  const Report again = replay(report.options, report.history);
  EXPECT_EQ(again.events.digest(), report.events.digest());
  EXPECT_EQ(again.end_time, report.end_time);
}

// Four workers, fifteen shards, 10,000 and 2,000 operations; 102 seeds at three levels.
void expect_long_runs_hold(FaultLevel level) {
  const std::uint64_t seeds = base::kSlowChecks ? 1 : 34;
  for (std::uint64_t seed = 500; seed < 500 + seeds; ++seed) {
    auto options = options_of(seed, level, 10'000);
    options.liveness_operations = 2'000;
    const Report report = simulate(options);
    ASSERT_TRUE(report.violations.empty()) << to_text(report);
  }
}
TEST(CoordLongRuns, HoldOnSunnyDays) {
  expect_long_runs_hold(FaultLevel::kSunnyDay);
}
TEST(CoordLongRuns, HoldInStorms) {
  expect_long_runs_hold(FaultLevel::kStormy);
}
TEST(CoordLongRuns, HoldUnderRadiation) {
  expect_long_runs_hold(FaultLevel::kRadioactive);
}

// Stage 0: A takes a shard and sleeps past its lease, B takes it, A goes on.
TEST(CoordSimulation, RefusesTheScriptedZombie) {
  const WorldOptions options{.workers = 2, .shards = 1};
  World world(options, memory_subject(options));
  ChaChaRandom random(1);
  Driver driver(random, world, FaultLevel::kSunnyDay);
  for (const Step& step : driver.set_up())
    world.carry_out(step);
  for (const Step& step : driver.scripted_zombie())
    world.carry_out(step);
  EXPECT_EQ(world.events().of("acquire", "granted"), 2U);
  EXPECT_EQ(world.events().of("checkpoint", "stale_fence"), 1U);
  EXPECT_TRUE(world.judge().violations().empty());
}

TEST(CoordSimulation, HoldsWithEightWorkersAndTwoHundredShards) {
  const std::uint64_t operations = base::kSlowChecks ? 300 : 4'000;
  for (const FaultLevel level : kFaultLevels) {
    SimulationOptions options = options_of(4, level, operations);
    options.world = {.workers = 8,
                     .shards = 200,
                     .shards_per_tenant_max = 2'000,
                     .slab_bytes = std::uint64_t{1} << 20U};
    const Report report = simulate(options);
    ASSERT_TRUE(report.violations.empty()) << to_text(report);
  }
}

// One shard is taken and split, its pieces are taken and split, and so on.
TEST(CoordSimulation, HoldsThroughCascadesOfSplits) {
  const int rounds = base::kSlowChecks ? 60 : 600;
  const WorldOptions options{.workers = 4, .shards = 1, .shards_per_tenant_max = 400};
  World world(options, memory_subject(options));
  ChaChaRandom random(5);
  Driver driver(random, world, FaultLevel::kSunnyDay);
  const auto carry_out = [&](const History& steps) {
    for (const Step& step : steps)
      world.carry_out(step);
  };
  carry_out(driver.set_up());
  for (int i = 0; i < rounds; ++i) {
    carry_out(driver.draw(Operation::kClaim));
    carry_out(driver.draw(Operation::kCheckpoint));
    carry_out(driver.draw(i % 2 == 0 ? Operation::kSplitReplace : Operation::kSplitResidual));
  }
  world.finish();
  ASSERT_TRUE(world.judge().violations().empty()) << world.judge().violations().front().text;
  EXPECT_GT(world.mirror().shards().size(), base::kSlowChecks ? 50U : 390U);
}

TEST(CoordSimulation, EndsEveryShardOnASunnyDay) {
  auto options = options_of(0, FaultLevel::kSunnyDay, 50);
  options.liveness_operations = 2'000;
  const Report report = simulate(options);
  EXPECT_TRUE(report.violations.empty()) << to_text(report);
  EXPECT_TRUE(report.converged()) << to_text(report);
}

TEST(CoordSimulation, EndsEveryShardInAStorm) {
  auto options = options_of(0, FaultLevel::kStormy, 500);
  options.liveness_operations = 15'000;
  const Report report = simulate(options);
  EXPECT_TRUE(report.violations.empty()) << to_text(report);
  EXPECT_TRUE(report.converged()) << to_text(report);
}

// E2: equal run, shard, worker and op ids under three tenants.
TEST(CoordSimulation, KeepsTenantsApart) {
  for (std::uint64_t seed = 0; seed < (base::kSlowChecks ? 2U : 30U); ++seed) {
    auto options = options_of(seed, kFaultLevels[seed % 3], 1'000);
    options.world.tenants = 3;
    options.world.shards = 6;
    const Report report = simulate(options);
    ASSERT_TRUE(report.violations.empty()) << to_text(report);
  }
}

// 5.5, second tier: the log has forgotten the split, the list of spawned shards has not.
TEST(CoordSimulation, ReplaysAResidualThatTheLogForgot) {
  const WorldOptions options{.workers = 1, .shards = 1};
  World world(options, memory_subject(options));
  ChaChaRandom random(1);
  Driver driver(random, world, FaultLevel::kSunnyDay);
  for (const Step& step : driver.set_up())
    world.carry_out(step);
  const coord::ShardKey shard{kMainRun, coord::ShardId::from_raw(1)};
  world.carry_out(driver.request(0, Call::kAcquire, shard));
  Step split = driver.request(0, Call::kSplitResidual, shard);
  split.keys.push_back({0x80});
  split.delivery = Delivery::kDuplicated;
  world.carry_out(split);
  for (std::uint8_t i = 1; i <= 17; ++i) {
    Step checkpoint = driver.request(0, Call::kCheckpoint, shard);
    checkpoint.keys.push_back({i});
    world.carry_out(checkpoint);
  }
  Step late;
  late.kind = StepKind::kDeliver;
  world.carry_out(late);
  world.finish();
  EXPECT_TRUE(world.judge().violations().empty());
  EXPECT_EQ(world.events().of("checkpoint", "executed"), 17U);
  EXPECT_EQ(world.events().of("split_residual", "executed"), 1U);
  EXPECT_EQ(world.events().of("split_residual", "replayed"), 1U);
}

// A run that never does something proves nothing about it.
TEST(CoordSimulation, ReachesEveryInterestingEvent) {
  const SweepReport report =
      sweep({.first_seed = 0, .seeds = base::kSlowChecks ? 24U : 240U}, [] { return true; });
  ASSERT_FALSE(report.failure);
  using Event = std::pair<std::string_view, std::vector<std::string_view>>;
  const std::vector<Event> wanted = {
      {"acquire", {"granted", "already_leased", "shard_terminal"}},
      {"claim", {"granted", "none_available", "throttled"}},
      {"renew", {"renewed", "lease_expired", "stale_fence", "shard_terminal"}},
      {"renew_many", {"done", "too_many_leases"}},
      {"renewed_lease", {"renewed", "lease_expired"}},
      {"checkpoint",
       {"executed", "replayed", "op_id_conflict", "stale_fence", "lease_expired", "shard_terminal",
        "cursor_regression", "cursor_out_of_bounds", "cursor_key_too_large",
        "cursor_token_too_large", "checkpoint_missing_key", "tenant_mismatch", "shard_not_found",
        "resource_exhausted"}},
      {"complete", {"executed", "replayed", "stale_fence", "lease_expired", "shard_terminal"}},
      {"park", {"executed", "replayed", "op_id_conflict", "stale_fence", "lease_expired"}},
      {"release", {"executed", "replayed", "stale_fence", "lease_expired"}},
      {"unpark", {"executed", "replayed", "run_terminal"}},
      {"split_replace",
       {"executed", "replayed", "boundary_mismatch", "invalid_child_cursor", "too_few_children",
        "too_many_children", "shard_limit_exceeded", "resource_exhausted", "stale_fence",
        "lease_expired"}},
      {"split_residual",
       {"executed", "replayed", "start_mismatch", "parent_cursor_out_of_bounds",
        "shard_limit_exceeded", "stale_fence", "lease_expired"}},
      {"create_run", {"done", "zero_lease_duration"}},
      {"register",
       {"executed", "duplicate_ids", "unbounded_range", "derived_shard_id", "wrong_status"}},
      {"complete_run", {"executed", "run_terminal", "wrong_status"}},
      {"fail_run", {"executed", "run_terminal", "wrong_status"}},
      {"cancel_run", {"executed", "replayed", "run_terminal"}},
      {"collect_garbage", {"done"}},
      {"fault",
       {"reply_lost", "duplicated", "delayed", "delivered_late", "pause", "crash", "skew"}},
      {"worker", {"retry", "zombie"}},
  };
  for (const auto& [group, events] : wanted) {
    for (const std::string_view event : events)
      EXPECT_GT(report.events.of(group, event), 0U) << group << "." << event;
  }
  for (std::size_t i = 0; i < kMischiefCount; ++i) {
    const auto mischief = name(static_cast<Mischief>(i));
    EXPECT_GT(report.events.of("mischief", mischief), 0U) << mischief;
  }
}

}  // namespace
}  // namespace cadastre::sim
