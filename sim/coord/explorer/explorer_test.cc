#include "sim/coord/explorer/explorer.h"

#include <cstddef>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/check.h"
#include "coord/snapshot.h"
#include "sim/coord/explorer/action.h"
#include "sim/coord/explorer/bound.h"
#include "sim/coord/explorer/small_world.h"
#include "sim/coord/request.h"

namespace cadastre::sim {
namespace {

std::vector<Bound> worlds() {
  return bounds_of(base::kSlowChecks ? BoundSize::kTiny : BoundSize::kSmall);
}

class CoordExplorer : public testing::TestWithParam<Bound> {};

// 11.5: every interleaving of the small world, to the last state.
TEST_P(CoordExplorer, FindsNoWayToBreakTheProtocol) {
  const Exploration exploration = explore(GetParam());
  std::cout << to_text(exploration);
  EXPECT_TRUE(exploration.violations.empty()) << to_text(exploration);
  EXPECT_TRUE(exploration.complete);
  // A world that is cut off somewhere would pass in silence.
  EXPECT_GT(exploration.states, 1'000U);
  EXPECT_GT(exploration.transitions, 10 * exploration.states);
}

INSTANTIATE_TEST_SUITE_P(Small, CoordExplorer, testing::ValuesIn(worlds()), [](const auto& info) {
  return std::string(info.param.name);
});

// The same actions lead to the same state, and refused ones lead nowhere.
TEST(SmallWorld, IsKnownByItsDigest) {
  const auto scratch = std::make_unique<coord::AcquireScratch>();
  const Bound bound{.name = "test"};
  const Action acquire{.kind = ActionKind::kSend, .call = Call::kAcquire};
  SmallWorld one(bound, *scratch);
  SmallWorld two(bound, *scratch);
  EXPECT_EQ(one.digest(), two.digest());
  one.perform(acquire);
  EXPECT_NE(one.digest(), two.digest());
  two.follow(acquire);
  two.catch_up();
  EXPECT_EQ(one.digest(), two.digest());
  EXPECT_EQ(one.perform(acquire), SmallWorld::Effect::kSame);
  EXPECT_EQ(one.digest(), two.digest());
  one.perform({});
  EXPECT_NE(one.digest(), two.digest()) << "the clock is part of the state";
}

// Zombies, retries under a newer lease, conflicts and forgeries are among what is tried.
TEST(SmallWorld, OffersWhatZombiesAndForgersWouldTry) {
  const auto scratch = std::make_unique<coord::AcquireScratch>();
  SmallWorld world({.name = "test", .splits = true}, *scratch);
  const Action acquire{.kind = ActionKind::kSend, .call = Call::kAcquire};
  const Action checkpoint{
      .kind = ActionKind::kSend, .call = Call::kCheckpoint, .fence = 2, .op_fence = 2};
  for (const Action& action : {acquire, checkpoint, Action{}, Action{}, acquire})
    world.perform(action);
  std::size_t zombies = 0;
  std::size_t repeats = 0;
  std::size_t conflicts = 0;
  std::size_t forgeries = 0;
  for (const Action& action : world.actions()) {
    zombies += action.kind == ActionKind::kSend && action.fence == 2 ? 1U : 0U;
    repeats += action.fence == 3 && action.op_fence == 2 ? 1U : 0U;
    conflicts += action.kind == ActionKind::kConflict ? 1U : 0U;
    forgeries += action.kind == ActionKind::kForge ? 1U : 0U;
  }
  EXPECT_EQ(zombies, 9U);  // renew, two checkpoints, two completions, park, release, two splits
  EXPECT_EQ(repeats, 1U);
  EXPECT_EQ(conflicts, 1U);
  EXPECT_EQ(forgeries, 1U);
  EXPECT_TRUE(world.violations().empty());
}

}  // namespace
}  // namespace cadastre::sim
