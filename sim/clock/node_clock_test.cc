#include "sim/clock/node_clock.h"

#include <chrono>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "sim/chacha_random.h"
#include "sim/schedule/node_id.h"
#include "sim/schedule/scheduler.h"
#include "sim/schedule/sim_time.h"

namespace cadastre::sim {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr NodeId kNode{1};
constexpr base::Instant kNoon(1'000'000s);

TEST(NodeClock, FollowsSimulatedTimeUnlessTold) {
  Scheduler scheduler;
  scheduler.run_until(SimTime(3s));
  const NodeClock clock(scheduler, {.wall = kNoon, .uptime = 7s});
  EXPECT_EQ(clock.now(), kNoon);
  EXPECT_EQ(clock.elapsed(), 7s);
  scheduler.run_until(SimTime(5s));
  EXPECT_EQ(clock.now(), kNoon + 2s);
  EXPECT_EQ(clock.elapsed(), 9s);
}

TEST(NodeClock, DriftsBothWaysAndFromNowOn) {
  Scheduler scheduler;
  NodeClock fast(scheduler, {.wall = kNoon, .drift = {200}});
  NodeClock slow(scheduler, {.wall = kNoon, .drift = {-200}});
  scheduler.run_until(SimTime(1'000s));
  EXPECT_EQ(fast.now(), kNoon + 1'000s + 200ms);
  EXPECT_EQ(slow.elapsed(), 1'000s - 200ms);
  fast.set_drift({0});
  slow.set_drift({400});
  EXPECT_EQ(fast.now(), kNoon + 1'000s + 200ms) << "a new rate moves no hand";
  scheduler.run_until(SimTime(2'000s));
  EXPECT_EQ(fast.now(), kNoon + 2'000s + 200ms);
  EXPECT_EQ(slow.elapsed(), 2'000s + 200ms);
}

TEST(NodeClock, JumpsMoveTheWallClockOnly) {
  Scheduler scheduler;
  NodeClock clock(scheduler, {.wall = kNoon, .drift = {1'000}});
  scheduler.run_until(SimTime(10s));
  clock.jump(-5s);
  EXPECT_EQ(clock.now(), kNoon + 5s + 10ms);
  EXPECT_EQ(clock.elapsed(), 10s + 10ms);
  clock.jump(8s);
  EXPECT_EQ(clock.now(), kNoon + 13s + 10ms);
  clock.correct();
  EXPECT_EQ(clock.now(), kNoon + 10s);
  EXPECT_EQ(clock.elapsed(), 10s + 10ms);
}

TEST(NodeClock, SetsTimersByItsOwnRate) {
  const Scheduler scheduler;
  const NodeClock twice(scheduler, {.wall = kNoon, .drift = {500'000}});
  EXPECT_EQ(twice.due_in(150ms), SimTime(100ms));
  EXPECT_EQ(twice.due_in(0ns), scheduler.now());
}

// A pause stops the node and not its clock: the process wakes up late and can see it.
TEST(NodeClock, GoesOnWhileItsNodeIsPaused) {
  Scheduler scheduler;
  const NodeClock clock(scheduler, {.wall = kNoon});
  std::vector<nanoseconds> ticks;
  for (const auto when : {50ms, 100ms, 150ms})
    scheduler.at(kNode, SimTime(when), [&] { ticks.push_back(clock.elapsed()); });
  scheduler.at(kWorld, SimTime(60ms), [&] { scheduler.pause(kNode, SimTime(30s)); });
  scheduler.run_until(SimTime(60s));
  EXPECT_EQ(ticks, (std::vector<nanoseconds>{50ms, 30s, 30s}));
}

// Runs until `delay` has passed by the clock, and looks just before and then.
void expect_exact_timer(Scheduler& scheduler, const NodeClock& clock, nanoseconds delay) {
  const nanoseconds begin = clock.elapsed();
  const SimTime due = clock.due_in(delay);
  if (due > scheduler.now()) {
    scheduler.run_until(due - 1ns);
    EXPECT_LT(clock.elapsed() - begin, delay);
    EXPECT_GE(clock.elapsed(), begin);
  }
  scheduler.run_until(due);
  EXPECT_GE(clock.elapsed() - begin, delay);
}

TEST(NodeClock, NeverGoesBackAndIsExactAboutTimers) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, seed);
    ChaChaRandom random(seed);
    Scheduler scheduler;
    NodeClock clock(scheduler, {.wall = kNoon});
    for (int i = 0; i < 50; ++i) {
      const nanoseconds before = clock.elapsed();
      const auto ppm = static_cast<std::int64_t>(random.below(2 * kDriftPpmMax + 1)) - kDriftPpmMax;
      clock.set_drift({ppm});
      EXPECT_EQ(clock.elapsed(), before);
      expect_exact_timer(scheduler, clock,
                         nanoseconds(random.below(i % 2 == 0 ? 1'000 : 100'000'000'000)));
    }
  }
}

}  // namespace
}  // namespace cadastre::sim
