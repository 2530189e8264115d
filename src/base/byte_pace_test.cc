#include "base/byte_pace.h"

#include <chrono>

#include <gtest/gtest.h>

namespace cadastre::base {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(BytePace, BytesWaitForThoseBeforeThem) {
  BytePace pace(1'000);
  EXPECT_EQ(pace.reserve(100, seconds(1)), milliseconds(0));
  EXPECT_EQ(pace.reserve(100, seconds(1)), milliseconds(100));
  EXPECT_EQ(pace.reserve(1, milliseconds(1'150)), milliseconds(50));
}

TEST(BytePace, AQuietTimeIsNotMadeUpFor) {
  BytePace pace(1'000);
  EXPECT_EQ(pace.reserve(100, seconds(1)), milliseconds(0));
  EXPECT_EQ(pace.reserve(1'000, seconds(60)), milliseconds(0));
  EXPECT_EQ(pace.reserve(1, seconds(60)), seconds(1));
}

}  // namespace
}  // namespace cadastre::base
