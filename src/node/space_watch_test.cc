#include "node/space_watch.h"

#include <vector>

#include <gtest/gtest.h>

#include "log/limits.h"

namespace cadastre::node {
namespace {

using log::kGiB;
using log::kMiB;

struct Case {
  const char* what;
  log::DiskSpace disk;
  log::Space space;
  bool there;
  BallastStep step;
};

TEST(DecideBallast, IsMadeInPlentyAndGivenAwayInNeed) {  // L-50
  constexpr auto kPlenty = log::Space::kPlenty;
  const std::vector<Case> cases = {
      {"a new directory", {50 * kGiB, 100 * kGiB}, kPlenty, false, BallastStep::kMake},
      {"it is there", {50 * kGiB, 100 * kGiB}, kPlenty, true, BallastStep::kLeave},
      {"it would make the disk low",
       {kGiB * 9 / 4, 20 * kGiB},
       kPlenty,
       false,
       BallastStep::kLeave},
      {"low, it stays", {3 * kGiB / 2, 20 * kGiB}, log::Space::kLow, true, BallastStep::kLeave},
      {"low, none is made",
       {3 * kGiB / 2, 20 * kGiB},
       log::Space::kLow,
       false,
       BallastStep::kLeave},
      {"critical", {kGiB / 2, 20 * kGiB}, log::Space::kCritical, true, BallastStep::kGiveAway},
      {"critical, and gone",
       {kGiB / 2, 20 * kGiB},
       log::Space::kCritical,
       false,
       BallastStep::kLeave},
      {"less free than it takes", {0, 20 * kGiB}, log::Space::kLow, false, BallastStep::kLeave},
  };
  for (const Case& each : cases)
    EXPECT_EQ(decide_ballast({}, each.disk, each.space, each.there), each.step) << each.what;
}

TEST(DecideBallast, IsSmallOnASmallDisk) {
  EXPECT_EQ(ballast_bytes({0, 64 * kMiB}), 2 * kMiB);
  EXPECT_EQ(ballast_bytes({0, 500 * kGiB}), log::kBallastBytes);
}

}  // namespace
}  // namespace cadastre::node
