#include "base/clock.h"

#include <chrono>

#include <gtest/gtest.h>

#include "base/threads_testing.h"

namespace cadastre::base {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(ManualClock, StandsStillUntilItIsTurned) {
  ManualClock clock(Instant{seconds(100)});
  EXPECT_EQ(clock.now(), Instant{seconds(100)});
  EXPECT_EQ(clock.now(), Instant{seconds(100)});
  clock.advance(milliseconds(1500));
  EXPECT_EQ(clock.now() - Instant{seconds(100)}, milliseconds(1500));
}

TEST(ManualClock, StartsAtTheEpochAndCanBeSetBack) {
  ManualClock clock;
  EXPECT_EQ(clock.now().time_since_epoch(), nanoseconds(0));
  clock.set(Instant{seconds(9)});
  clock.set(Instant{seconds(3)});
  EXPECT_EQ(clock.now(), Instant{seconds(3)});
}

TEST(ManualClock, ElapsedTimeStandsWhereWallTimeIsSetBack) {
  ManualClock clock;
  clock.advance(seconds(5));
  clock.advance(-seconds(2));
  clock.set(Instant{});
  EXPECT_EQ(clock.elapsed(), seconds(5));
}

TEST(SystemClock, ElapsedTimeNeverGoesBack) {
  const SystemClock clock;
  Elapsed before = clock.elapsed();
  for (int reading = 0; reading < 1000; ++reading) {
    const Elapsed after = clock.elapsed();
    EXPECT_LE(before, after);
    before = after;
  }
}

TEST(ManualClock, LosesNoTurnOfManyThreads) {
  ManualClock clock;
  run_in_threads(4, [&](int) {
    for (int turn = 0; turn < 1000; ++turn)
      clock.advance(nanoseconds(1));
  });
  EXPECT_EQ(clock.now(), Instant{nanoseconds(4000)});
}

TEST(SystemClock, LiesBetweenTwoReadingsOfTheSystem) {
  const SystemClock system;
  const Clock& clock = system;
  const Instant before = std::chrono::system_clock::now();
  const Instant now = clock.now();
  const Instant after = std::chrono::system_clock::now();
  EXPECT_LE(before, now);
  EXPECT_LE(now, after);
}

}  // namespace
}  // namespace cadastre::base
