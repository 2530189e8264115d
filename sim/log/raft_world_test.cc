// Replicated groups in the log's world: three or five voters on the real engine, others that join, everything going
// wrong.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <vector>

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

// Seeds that found something stay, with the faults that were to blame.
TEST(RaftWorld, ANodeIsToldOfItsRemovalBeforeItWroteAnything) {
  LogWorldOptions options = raft_world_of(339);
  options.faults = std::vector<LogFault>{
      {.when = std::chrono::microseconds(945'755),
       .kind = LogFaultKind::kCrash,
       .node = NodeId{3},
       .lasts = std::chrono::microseconds(226'783),
       .amount = 567},
      {.when = std::chrono::microseconds(1'220'134),
       .kind = LogFaultKind::kMembership,
       .node = NodeId{4},
       .amount = 6398630310087706261},
      {.when = std::chrono::microseconds(13'416'132),
       .kind = LogFaultKind::kCrash,
       .node = NodeId{3},
       .lasts = std::chrono::microseconds(465'725),
       .amount = 141},
  };
  const LogReport report = simulate_log(options);
  EXPECT_TRUE(report.violations.empty()) << report.violations.front();
  EXPECT_GT(report.removals_told, 0U);
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
  EXPECT_GT(sum.removals_told, 3U);
}

// The same of what only some worlds have.
TEST(RaftWorld, SeedsFillDisksLoseThemAndStandStill) {
  LogReport sum;
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    sum.add(simulate_log(raft_world_of(seed)));
  EXPECT_GT(sum.retreats, 3U);
  EXPECT_GT(sum.appends_refused, 20U);
  EXPECT_GT(sum.full_ends, 1U);
  EXPECT_GT(sum.flips_found, 3U);
  EXPECT_GT(sum.nodes_replaced, 3U);
  EXPECT_GT(sum.long_pauses, 5U);
  EXPECT_GT(sum.late_syncs, 3U);
}

// 3 nodes with 4 groups under load run at least 200 times faster than time, with 100,000 messages a second, on one
// core (L-98). The processor's time is measured: others may use the machine meanwhile.
TEST(RaftWorld, RunsTwoHundredTimesFasterThanTime) {
  LogWorldOptions options{.registers = Registers::kOfAll, .clients = 12};
  options.calm = 20 * log::RaftSettings{}.election_timeout();
  options.faults.emplace();
  double best_messages = 0;
  double best_pace = 0;
  const auto reached = [&] {
    return best_pace >= 200 && best_messages >= 100'000;
  };
  // The other core's work slows this one's, too.
  for (int attempt = 0; attempt < 12 && !reached(); ++attempt, ++options.seed) {
    const std::clock_t begin = std::clock();
    const LogReport report = simulate_log(options);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    ASSERT_TRUE(report.violations.empty()) << report.violations.front();
    ASSERT_GT(report.executed, 500U);
    best_messages = std::max(best_messages, static_cast<double>(report.messages) / seconds);
    best_pace = std::max(best_pace, in_seconds(options.lasts) / seconds);
    if (base::kSlowChecks) return;  // A build that looks twice is slow.
  }
  EXPECT_GE(best_pace, 200);
  EXPECT_GE(best_messages, 100'000);
  RecordProperty("pace", static_cast<int>(best_pace));
  RecordProperty("messages", static_cast<int>(best_messages));
}

// Seed 3001990: after slow syncs most of a young disk was one set that a crash had cut short, and the bit turned in it.
TEST(RaftWorld, ABitThatTurnsInWhatIsThrownAwayIsNobodysLoss) {
  const LogReport report = simulate_log(raft_world_of(3'001'990));
  EXPECT_TRUE(report.violations.empty()) << report.violations.front();
}

// Seed 4001112: a node had entries in its applier when it was told, and wrote, that it was removed. They were synced before.
TEST(RaftWorld, ANodeThatIsRemovedMayStillExecuteWhatItHas) {
  const LogReport report = simulate_log(raft_world_of(4'001'112));
  EXPECT_TRUE(report.violations.empty()) << report.violations.front();
}

TEST(RaftWorld, SixtyFourGroupsLiveTogether) {
  std::uint64_t seed = 0;
  while (raft_world_of(seed).groups != 64)
    ++seed;
  const LogReport report = simulate_log(raft_world_of(seed));
  EXPECT_TRUE(report.violations.empty()) << report.violations.front();
  EXPECT_GE(report.elections, 64U);
}

}  // namespace
}  // namespace cadastre::sim
