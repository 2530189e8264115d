#include "base/boot_clock.h"

#include <chrono>
#include <optional>

#include <gtest/gtest.h>

namespace cadastre::base {
namespace {

using std::chrono::seconds;

TEST(SystemBootClock, NeverGoesBack) {
  const SystemBootClock clock;
  std::optional<Elapsed> before = clock.read();
  ASSERT_TRUE(before.has_value());
  for (int reading = 0; reading < 1000; ++reading) {
    const std::optional<Elapsed> after = clock.read();
    ASSERT_TRUE(after.has_value());
    EXPECT_LE(*before, *after);
    before = after;
  }
}

TEST(DerivedBootClock, RunsWithTheOtherOneUnlessItIsWrong) {
  ManualClock clock;
  DerivedBootClock boot(clock);
  clock.advance(seconds(5));
  EXPECT_EQ(boot.read(), seconds(5));
  boot.set_off(-seconds(2));
  EXPECT_EQ(boot.read(), seconds(3));
  boot.fail(true);
  EXPECT_EQ(boot.read(), std::nullopt);
  boot.fail(false);
  EXPECT_EQ(boot.read(), seconds(3));
}

}  // namespace
}  // namespace cadastre::base
