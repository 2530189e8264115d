// T-C4: at constant set size the file stops growing. The long run is tests/bitmap_endurance.cc.

#include <cstdint>

#include <gtest/gtest.h>

#include "base/check.h"
#include "bitmap/churn_testing.h"
#include "bitmap/config.h"

namespace cadastre::bitmap {
namespace {

constexpr std::uint64_t kOperations = base::kSlowChecks ? 30'000 : 300'000;

TEST(BitmapChurn, TheFileStopsGrowing) {
  testing::Churn churn(Config{});
  const std::uint64_t filled = churn.file_bytes();
  churn.run(kOperations / 2);
  const std::uint64_t halfway = churn.file_bytes();
  churn.run(kOperations / 2);
  EXPECT_GT(halfway, filled);
  EXPECT_TRUE(testing::Churn::stands_still(halfway, churn.file_bytes()))
      << halfway << " bytes, then " << churn.file_bytes();
  EXPECT_TRUE(churn.is_whole());
}

// B-5: what a long reader may still look at is not taken again. Also shows that growth is seen.
TEST(BitmapChurn, ALongReaderMakesTheFileGrow) {
  testing::Churn churn(Config{});
  churn.run(1'000);
  const std::uint64_t before = churn.file_bytes();
  {
    const auto reader = churn.begin_read();
    churn.run(2'000);
  }
  const std::uint64_t grown = churn.file_bytes();
  EXPECT_FALSE(testing::Churn::stands_still(before, grown)) << before << " bytes, then " << grown;
  churn.run(2'000);
  EXPECT_TRUE(testing::Churn::stands_still(grown, churn.file_bytes()));
}

}  // namespace
}  // namespace cadastre::bitmap
