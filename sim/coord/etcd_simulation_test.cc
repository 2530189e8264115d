// The etcd backend on its model, in the same worlds as the memory backend, with a storage that has bad days.

#include <cstdint>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/check.h"
#include "coord/backend.h"
#include "sim/coord/faults.h"
#include "sim/coord/shrink.h"
#include "sim/coord/simulation.h"
#include "sim/coord/step.h"
#include "sim/coord/sweep.h"
#include "sim/coord/world.h"

namespace cadastre::sim {
namespace {

constexpr std::uint64_t kSeeds = base::kSlowChecks ? 2 : 100;
constexpr std::uint64_t kOperations = 200;

SweepReport sweep_of(std::uint64_t first, FaultLevel level) {
  return sweep({.first_seed = first,
                .seeds = kSeeds,
                .level = level,
                .operations = kOperations,
                .backend = SimBackend::kEtcd},
               [] { return true; });
}

void expect_clean(const SweepReport& report) {
  EXPECT_EQ(report.seeds, kSeeds);
  if (!report.failure) return;
  const Report& failure = *report.failure;
  ADD_FAILURE() << to_text(failure)
                << to_text(shrink_failure(failure.options, failure.history, Ending::kViolated))
                << repeat_command(failure.options);
}

TEST(EtcdSweep, SunnyDay) {
  expect_clean(sweep_of(10'000, FaultLevel::kSunnyDay));
}

TEST(EtcdSweep, Stormy) {
  const SweepReport report = sweep_of(20'000, FaultLevel::kStormy);
  expect_clean(report);
  EXPECT_GT(report.events.of("fault", "no_answer_from_storage"), 0U);
  EXPECT_GT(report.events.of("fault", "owner_lost"), 0U);
}

TEST(EtcdSweep, Radioactive) {
  const SweepReport report = sweep_of(30'000, FaultLevel::kRadioactive);
  expect_clean(report);
  EXPECT_GT(report.events.of("fault", "no_answer_from_storage"), 0U);
  EXPECT_GT(report.events.of("acquire", "transient"), 0U);
}

TEST(EtcdSimulation, IsTheSameForTheSameSeed) {
  auto options = options_of(7, FaultLevel::kRadioactive, 300);
  options.world.backend = SimBackend::kEtcd;
  const Report first = simulate(options);
  EXPECT_EQ(to_text(first), to_text(simulate(options)));
  EXPECT_EQ(replay(options, first.history).events.digest(), first.events.digest());
}

// 11.4: the same steps on two backends; after each, the same answers and the same records.
TEST(EtcdDifferential, AnswersAndKeepsWhatTheMemoryBackendDoes) {
  for (std::uint64_t seed = 0; seed < (base::kSlowChecks ? 2U : 40U); ++seed) {
    auto options = options_of(seed, kFaultLevels[seed % kFaultLevels.size()], kOperations);
    options.world.slab_bytes = std::uint64_t{4} << 20U;  // the etcd backend has no such bound
    const History history = simulate(options).history;
    Subject memory = memory_subject(options.world);
    Subject etcd = etcd_subject(options.world, {}, seed);
    const coord::Introspection& left = *memory.records;
    const coord::Introspection& right = *etcd.records;
    World one(options.world, std::move(memory));
    World two(options.world, std::move(etcd));
    for (std::size_t i = 0; i < history.size(); ++i) {
      one.carry_out(history[i]);
      two.carry_out(history[i]);
      ASSERT_EQ(one.events().digest(), two.events().digest()) << "seed " << seed << " step " << i;
      ASSERT_TRUE(left.dump_shards() == right.dump_shards()) << "seed " << seed << " step " << i;
      ASSERT_TRUE(left.dump_runs() == right.dump_runs()) << "seed " << seed << " step " << i;
    }
    EXPECT_TRUE(two.judge().violations().empty());
  }
}

}  // namespace
}  // namespace cadastre::sim
