#include "sim/coord/shrink.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "sim/coord/faults.h"
#include "sim/coord/simulation.h"
#include "sim/coord/step.h"

namespace cadastre::sim {
namespace {

Step advance(std::uint64_t ticks) {
  Step step;
  step.amount = ticks;
  return step;
}

TEST(Shrink, LeavesOnlyWhatTheFailureNeeds) {
  History history;
  for (std::uint64_t i = 0; i < 100; ++i)
    history.push_back(advance(i));
  const auto has = [](const History& in, std::uint64_t ticks) {
    return std::ranges::any_of(in, [&](const Step& step) { return step.amount == ticks; });
  };
  const History shrunk =
      shrink(history, [&](const History& in) { return has(in, 17) && has(in, 83); });
  ASSERT_EQ(shrunk.size(), 2U);
  EXPECT_EQ(shrunk[0].amount, 17U);
  EXPECT_EQ(shrunk[1].amount, 83U);
}

// Of a thousand operations of a bad day, those that make a zombie: the clock starts, a run with its
// shards, a lease, time, and whoever takes over or works on.
TEST(Shrink, FindsTheStoryInALongHistory) {
  const auto options = options_of(3, FaultLevel::kRadioactive, 300);
  const Report report = simulate(options);
  const auto has_zombie = [&](const History& history) {
    return replay(options, history).events.of("checkpoint", "stale_fence") != 0;
  };
  ASSERT_TRUE(has_zombie(report.history));
  const History shrunk = shrink(report.history, has_zombie);
  EXPECT_LE(shrunk.size(), 8U) << to_text(shrunk);
  EXPECT_TRUE(has_zombie(shrunk));
  EXPECT_NE(to_text(shrunk).find("checkpoint"), std::string::npos);
}

TEST(Shrink, RunsCandidatesInTheirOwnProcess) {
  const auto options = options_of(3, FaultLevel::kStormy, 100);
  EXPECT_EQ(simulate_in_child(options), Ending::kPassed);
  EXPECT_EQ(replay_in_child(options, simulate(options).history), Ending::kPassed);
  // A worker that is not there is a mistake in the history, and aborts.
  History broken = simulate(options).history;
  broken.back().kind = StepKind::kRetry;
  broken.back().worker = 1'000;
  EXPECT_EQ(replay_in_child(options, broken), Ending::kAborted);
  EXPECT_EQ(shrink_failure(options, broken, Ending::kAborted).size(), 2U);  // the clock starts
}

TEST(Shrink, KnowsTheHistoryOfARunThatWasCutShort) {
  auto options = options_of(3, FaultLevel::kStormy, 100);
  const History all = simulate(options).history;
  options.safety_operations = 50;
  const History some = look_ahead(options);
  ASSERT_LT(some.size(), all.size());
  for (std::size_t i = 0; i < some.size(); ++i)
    EXPECT_EQ(to_text(some[i]), to_text(all[i]));
}

}  // namespace
}  // namespace cadastre::sim
