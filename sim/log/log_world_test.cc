#include "sim/log/log_world.h"

#include <chrono>
#include <cstdint>

#include <gtest/gtest.h>

#include "base/check.h"

namespace cadastre::sim {
namespace {

// A sanitizer makes each seed many times slower.
constexpr std::uint64_t kSeeds = base::kSlowChecks ? 5 : 50;

// 500 seeds of 20 simulated seconds (L-98), in ten tests that can run side by side.
class LogWorldSeeds : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(LogWorldSeeds, LoseNothingAndStayLinearizable) {
  for (std::uint64_t seed = GetParam() * 1000; seed < GetParam() * 1000 + kSeeds; ++seed) {
    const LogWorldOptions options = log_world_of(seed);
    const LogReport report = simulate_log(options);
    ASSERT_TRUE(report.violations.empty())
        << to_text(options, report) << "again: ./dev sim --scenario log --seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Log, LogWorldSeeds, ::testing::Range(std::uint64_t{0}, std::uint64_t{10}));

// Seeds that found something stay.
TEST(LogWorld, TwoTruncationsThatWaitForOneSlowSyncEraseEverything) {
  const LogReport report = simulate_log(log_world_of(1438));
  EXPECT_TRUE(report.violations.empty()) << report.violations.front();
}

TEST(LogWorld, TheSameSeedIsTheSameRun) {
  const LogWorldOptions options = log_world_of(17);
  EXPECT_EQ(to_text(options, simulate_log(options)), to_text(options, simulate_log(options)));
}

// Rare things happen: else the seeds prove little.
TEST(LogWorld, SeedsReachCrashesTruncationsAndDamage) {
  LogReport sum;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const LogReport report = simulate_log(log_world_of(seed));
    sum.executed += report.executed;
    sum.crashes += report.crashes;
    sum.truncations += report.truncations;
    sum.flips_found += report.flips_found;
  }
  EXPECT_GT(sum.executed, 10'000U);
  EXPECT_GT(sum.crashes, 100U);
  EXPECT_GT(sum.truncations, 100U);
  EXPECT_GT(sum.flips_found, 3U);
}

TEST(LogWorld, AFailureShrinksToTheFaultsThatMatter) {
  LogWorldOptions options = log_world_of(3);
  options.calm = std::chrono::nanoseconds(0);  // Nobody is answered in no time: every run fails.
  const LogReport report = simulate_log(options);
  ASSERT_FALSE(report.violations.empty());
  EXPECT_TRUE(shrink_log_failure(options, report.faults).empty());
}

}  // namespace
}  // namespace cadastre::sim
