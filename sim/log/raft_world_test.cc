// Replicated groups in the log's world: three or five voters on the real engine, everything going wrong.

#include <cstdint>

#include <gtest/gtest.h>

#include "base/check.h"
#include "sim/log/log_world.h"

namespace cadastre::sim {
namespace {

// A sanitizer makes each seed many times slower.
constexpr std::uint64_t kSeeds = base::kSlowChecks ? 2 : 15;

class RaftWorldSeeds : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RaftWorldSeeds, KeepEveryPromiseAndStayLinearizable) {
  for (std::uint64_t seed = GetParam() * 1000; seed < GetParam() * 1000 + kSeeds; ++seed) {
    const LogWorldOptions options = raft_world_of(seed);
    const LogReport report = simulate_log(options);
    ASSERT_TRUE(report.violations.empty())
        << to_text(options, report) << "again: ./dev sim --scenario raft --seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Raft,
                         RaftWorldSeeds,
                         ::testing::Range(std::uint64_t{0}, std::uint64_t{5}));

TEST(RaftWorld, TheSameSeedIsTheSameRun) {
  const LogWorldOptions options = raft_world_of(17);
  EXPECT_EQ(to_text(options, simulate_log(options)), to_text(options, simulate_log(options)));
}

// Rare things happen: else the seeds prove little.
TEST(RaftWorld, SeedsReachElectionsCrashesAndReplacedEntries) {
  LogReport sum;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const LogReport report = simulate_log(raft_world_of(seed));
    sum.executed += report.executed;
    sum.crashes += report.crashes;
    sum.truncations += report.truncations;
    sum.elections += report.elections;
    sum.replaced += report.replaced;
  }
  EXPECT_GT(sum.executed, 10'000U);
  EXPECT_GT(sum.crashes, 100U);
  EXPECT_GT(sum.truncations, 10U);
  EXPECT_GT(sum.elections, 40U);
  EXPECT_GT(sum.replaced, 3U);
}

}  // namespace
}  // namespace cadastre::sim
