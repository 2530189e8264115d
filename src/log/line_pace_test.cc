#include "log/line_pace.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "log/limits.h"

namespace cadastre::log {
namespace {

TEST(LinePace, WritesSoManyInAWindowAndTellsOfTheRest) {
  LinePace pace;
  const base::Elapsed begin = std::chrono::seconds(100);
  for (std::uint64_t line = 0; line < kLinesPerWindow; ++line)
    EXPECT_TRUE(pace.ask(begin).write) << line;
  EXPECT_FALSE(pace.ask(begin).write);
  EXPECT_FALSE(pace.ask(begin + kLineWindow - base::Elapsed(1)).write);
  const LinePace::Verdict next = pace.ask(begin + kLineWindow);
  EXPECT_TRUE(next.write);
  EXPECT_EQ(next.left_out, 2U);
  EXPECT_EQ(pace.ask(begin + 2 * kLineWindow).left_out, 0U);  // Told once.
}

}  // namespace
}  // namespace cadastre::log
