// These tests say most under ThreadSanitizer: what is read after close() is written, unlocked, by
// the work before it, and the gate is destroyed while the last pass is on its way out.

#include "base/gate.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <latch>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace cadastre::base {
namespace {

TEST(Gate, CountsWhoIsInside) {
  Gate gate;
  EXPECT_FALSE(gate.is_closed());
  {
    const auto first = gate.enter();
    const auto second = gate.enter();
    ASSERT_TRUE(first && second);
    EXPECT_EQ(gate.inside(), 2U);
  }
  EXPECT_EQ(gate.inside(), 0U);
}

TEST(Gate, AMovedPassLeavesOnce) {
  Gate gate;
  auto pass = gate.enter();
  {
    const Gate::Pass moved = std::move(*pass);
    EXPECT_EQ(gate.inside(), 1U);
  }
  EXPECT_EQ(gate.inside(), 0U);
  pass.reset();
  EXPECT_EQ(gate.inside(), 0U);
}

TEST(Gate, RefusesOnceClosed) {
  Gate gate;
  gate.close();
  EXPECT_TRUE(gate.is_closed());
  EXPECT_FALSE(gate.enter().has_value());
  gate.close();
  EXPECT_EQ(gate.inside(), 0U);
}

TEST(Gate, RefusesNewWorkWhileItWaitsForTheOld) {
  Gate gate;
  std::atomic<bool> closed = false;
  auto pass = gate.enter();
  std::jthread closer([&] {
    gate.close();
    closed = true;
  });
  while (gate.enter().has_value())
    std::this_thread::yield();
  EXPECT_TRUE(gate.is_closed());
  EXPECT_FALSE(closed.load());
  pass.reset();
  closer.join();
  EXPECT_TRUE(closed.load());
}

// Counts in `mine` how often the gate was open, and tells `started` of the first time.
void work_while_open(Gate& gate, int& mine, std::latch& started) {
  while (const auto pass = gate.enter()) {
    if (++mine == 1) started.count_down();
  }
}

TEST(Gate, CloseReturnsAfterEverythingThatWorkWrote) {
  constexpr std::size_t kWorkers = 4;
  for (int round = 0; round < 50; ++round) {
    Gate gate;
    std::array<int, kWorkers> written{};  // Plain: only the gate orders it before the reads.
    std::latch started(kWorkers);
    std::vector<std::jthread> workers;
    workers.reserve(kWorkers);
    for (int& mine : written)
      workers.emplace_back([&] { work_while_open(gate, mine, started); });
    started.wait();
    gate.close();
    for (const int count : written)
      EXPECT_GE(count, 1);
  }
}

TEST(Gate, MayBeDestroyedAsSoonAsCloseReturns) {
  for (int round = 0; round < 200; ++round) {
    std::optional<Gate> gate(std::in_place);
    auto pass = gate->enter();
    const std::jthread worker([moved = std::move(pass)]() mutable { moved.reset(); });
    gate->close();
    gate.reset();
  }
}

TEST(Gate, EveryCloserWaits) {
  Gate gate;
  auto pass = gate.enter();
  int work = 0;
  std::array<int, 2> seen{};
  {
    const std::jthread first([&] {
      gate.close();
      seen[0] = work;
    });
    const std::jthread second([&] {
      gate.close();
      seen[1] = work;
    });
    while (!gate.is_closed())
      std::this_thread::yield();
    work = 1;
    pass.reset();
  }
  EXPECT_EQ(seen, (std::array{1, 1}));
}

TEST(GateDeathTest, MustOutliveTheWorkInside) {
  EXPECT_DEATH(
      {
        std::optional<Gate> gate(std::in_place);
        const auto pass = gate->enter();
        gate.reset();
      },
      "outlives the work inside");
}

}  // namespace
}  // namespace cadastre::base
