#include "log/peer_pacing.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST(ReconnectDelay, DoublesWithinItsBoundsAndIsNeverTheSameForAll) {  // L-67
  base::SeededRandom random(7);
  nanoseconds most_before{};
  for (std::uint32_t attempt = 0; attempt < 40; ++attempt) {
    nanoseconds least = kReconnectMax;
    nanoseconds most{};
    for (int i = 0; i < 200; ++i) {
      const nanoseconds delay = reconnect_delay(attempt, random);
      least = std::min(least, delay);
      most = std::max(most, delay);
    }
    EXPECT_GE(least, kReconnectMin) << attempt;
    EXPECT_LE(most, kReconnectMax) << attempt;
    EXPECT_GT(most - least, least / 4) << attempt;
    EXPECT_TRUE(most > most_before || most > kReconnectMax * 9 / 10) << attempt;
    most_before = most;
  }
  EXPECT_GT(reconnect_delay(0xffffffff, random), kReconnectMax / 3);
  EXPECT_LT(reconnect_delay(0, random), 3 * kReconnectMin);
}

TEST(Pacer, SaysYesOnceInAnIntervalForEachKey) {  // L-66, L-68
  Pacer<int> pacer(milliseconds(100), 8);
  EXPECT_TRUE(pacer.due(1, milliseconds(0)));
  EXPECT_FALSE(pacer.due(1, milliseconds(99)));
  EXPECT_TRUE(pacer.due(2, milliseconds(99)));
  EXPECT_TRUE(pacer.due(1, milliseconds(100)));
  EXPECT_FALSE(pacer.due(1, milliseconds(199)));
}

TEST(Pacer, RemembersABoundedNumberOfKeys) {  // L-8
  Pacer<int> pacer(milliseconds(100), 2);
  EXPECT_TRUE(pacer.due(1, milliseconds(0)));
  EXPECT_TRUE(pacer.due(2, milliseconds(0)));
  EXPECT_FALSE(pacer.due(1, milliseconds(0)));
  EXPECT_TRUE(pacer.due(3, milliseconds(0)));
  EXPECT_TRUE(pacer.due(1, milliseconds(0)));  // Forgotten with the others.
}

}  // namespace
}  // namespace cadastre::log
