// Replicated groups in the log's world: three or five voters on the real engine, others that join, everything going
// wrong.

#include <cstdint>

#include <gtest/gtest.h>

#include "base/check.h"
#include "sim/log/log_world.h"

namespace cadastre::sim {
namespace {

// A sanitizer makes each seed many times slower.
constexpr std::uint64_t kSeeds = base::kSlowChecks ? 2 : 50;

// 500 seeds of 20 simulated seconds (L-98), in ten tests that can run side by side.
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
                         ::testing::Range(std::uint64_t{0}, std::uint64_t{10}));

TEST(RaftWorld, TheSameSeedIsTheSameRun) {
  const LogWorldOptions options = raft_world_of(17);
  EXPECT_EQ(to_text(options, simulate_log(options)), to_text(options, simulate_log(options)));
}

// Whoever was away, cut off or is new is fed by snapshots, and dies over it: else the seeds prove nothing of them.
TEST(RaftWorld, SeedsFeedByInterruptedSnapshots) {
  constexpr std::uint64_t kFedSeeds = 40;
  LogReport sum;
  std::uint64_t fed = 0;
  for (std::uint64_t seed = 0; seed < kFedSeeds; ++seed) {
    const LogReport report = simulate_log(raft_world_of(seed));
    fed += report.snapshots_installed > 0 ? 1 : 0;
    sum.add(report);
  }
  EXPECT_GT(fed, kFedSeeds / 2);
  EXPECT_GT(sum.snapshots_made, 50U);
  EXPECT_GT(sum.snapshots_sent, 50U);
  EXPECT_GT(sum.snapshots_installed, 40U);
  EXPECT_GT(sum.snapshots_failed, 10U);
  EXPECT_GT(sum.stagings_cut, 2U);
  EXPECT_GE(sum.installs_resumed, 1U);
  EXPECT_GT(sum.joined, 10U);
}

// Rare things happen: else the seeds prove little.
TEST(RaftWorld, SeedsReachTheRareThings) {
  LogReport sum;
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    sum.add(simulate_log(raft_world_of(seed)));
  EXPECT_GT(sum.executed, 5'000U);
  EXPECT_GT(sum.crashes, 100U);
  EXPECT_GT(sum.truncations, 10U);
  EXPECT_GT(sum.elections, 40U);
  EXPECT_GT(sum.replaced, 3U);
  EXPECT_GT(sum.transfers, 20U);
  EXPECT_GT(sum.changes, 20U);
  EXPECT_GT(sum.configurations, sum.changes);  // Joint ones are left.
  EXPECT_GT(sum.lease_reads, 300U);
  EXPECT_GT(sum.lease_refusals, 3U);
  EXPECT_GT(sum.letters_refused, 50U);
}

}  // namespace
}  // namespace cadastre::sim
