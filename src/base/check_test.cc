#include "base/check.h"

#include <csignal>

#include <gtest/gtest.h>

namespace cadastre::base {
namespace {

TEST(Check, LetsWhatHoldsPassAndLooksOnce) {
  int looks = 0;
  CAD_CHECK(++looks == 1, "the condition is evaluated once");
  EXPECT_EQ(looks, 1);
}

TEST(Check, IsOneStatement) {
  bool reached = false;
  if (reached)
    CAD_CHECK(false, "this branch is not taken");
  else
    reached = true;
  EXPECT_TRUE(reached);
}

TEST(Check, SlowOnesRunOnlyWhereTheyAreOn) {
  int looks = 0;
  CAD_CHECK_SLOW(++looks == 1, "the condition is evaluated once");
  EXPECT_EQ(looks, kSlowChecks ? 1 : 0);
}

TEST(CheckDeathTest, PrintsExpressionPlaceAndMessageAndAborts) {
  const int limit = 3;
  EXPECT_EXIT(CAD_CHECK(limit > 7, "the caller bounds it"), testing::KilledBySignal(SIGABRT),
              "CAD_CHECK failed: limit > 7\n"
              "  at .*check_test\\.cc:[0-9]+\n"
              "  the caller bounds it");
}

}  // namespace
}  // namespace cadastre::base
