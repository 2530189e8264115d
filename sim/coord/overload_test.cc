#include "sim/coord/overload.h"

#include <array>
#include <cstdint>

#include <gtest/gtest.h>

#include "sim/coord/faults.h"
#include "sim/coord/simulation.h"

namespace cadastre::sim {
namespace {

constexpr std::array kKinds{OverloadKind::kBurstClaim, OverloadKind::kCapacityDrop,
                            OverloadKind::kBurstShards};

SimulationOptions options_for(OverloadKind kind) {
  SimulationOptions options = options_of(0, FaultLevel::kSunnyDay, 0);
  options.seed = 100 + static_cast<std::uint64_t>(kind);
  options.world.shards = 60;
  return options;
}

// L1: whatever the overload, work is completed afterwards; and advice is exact all the while.
TEST(CoordOverload, RecoversFromEveryKind) {
  for (const OverloadKind kind : kKinds) {
    const auto out = run_overload(options_for(kind), 20, {.kind = kind, .rounds = 10}, 300);
    EXPECT_TRUE(out.report.violations.empty()) << name(kind) << "\n" << to_text(out.report);
    EXPECT_GE(out.recovery_completions, 1U) << name(kind);
    EXPECT_EQ(out.samples.size(), 10U) << name(kind);
    EXPECT_GT(out.round_operations, 10U) << name(kind);
    for (const AvailabilitySample& sample : out.samples)
      EXPECT_EQ(sample.reported, sample.scanned) << name(kind);
  }
}

TEST(CoordOverload, CompletesWorkWhileItLasts) {
  const auto kind = OverloadKind::kBurstClaim;
  const auto out = run_overload(options_for(kind), 20, {.kind = kind, .rounds = 10}, 10);
  EXPECT_GT(out.goodput_ppm(), 0U);
  EXPECT_LE(out.goodput_ppm(), 1'000'000U);
}

TEST(CoordOverload, OfNoRoundsHasNoGoodput) {
  for (const OverloadKind kind : kKinds) {
    const auto out = run_overload(options_for(kind), 20, {.kind = kind, .rounds = 0}, 100);
    EXPECT_TRUE(out.report.violations.empty()) << to_text(out.report);
    EXPECT_EQ(out.goodput_ppm(), 0U);
    EXPECT_TRUE(out.samples.empty());
  }
}

}  // namespace
}  // namespace cadastre::sim
