#include "log/histogram.h"

#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

TEST(Histogram, CountsByPowersOfTwo) {
  struct Case {
    std::uint64_t value;
    std::size_t bucket;
  };
  const std::vector<Case> cases = {
      {0, 0},
      {1, 1},
      {2, 2},
      {3, 2},
      {4, 3},
      {1023, 10},
      {1024, 11},
      {(std::uint64_t{1} << 46) - 1, 46},
      {std::uint64_t{1} << 46, 47},
      {std::numeric_limits<std::uint64_t>::max(), 47},  // The last bucket takes the rest.
  };
  for (const Case& one : cases) {
    Histogram histogram;
    histogram.record(one.value);
    const Histogram::Reading reading = histogram.read();
    EXPECT_EQ(reading.counts[one.bucket], 1U) << one.value;
    EXPECT_EQ(reading.count(), 1U) << one.value;
    EXPECT_EQ(reading.sum, one.value);
  }
}

TEST(Histogram, HasAMean) {
  Histogram histogram;
  EXPECT_EQ(histogram.read().mean(), 0.0);
  histogram.record(1);
  histogram.record(2);
  EXPECT_EQ(histogram.read().mean(), 1.5);
}

}  // namespace
}  // namespace cadastre::log
