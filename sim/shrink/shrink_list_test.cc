#include "sim/shrink/shrink_list.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "sim/chacha_random.h"

namespace cadastre::sim {
namespace {

std::vector<int> up_to(int count) {
  std::vector<int> items(static_cast<std::size_t>(count));
  std::iota(items.begin(), items.end(), 0);
  return items;
}

bool has(const std::vector<int>& items, int item) {
  return std::ranges::find(items, item) != items.end();
}

TEST(ShrinkList, KeepsTheItemsThatTheFailureNeedsInTheirOrder) {
  const auto few = shrink_list(up_to(100), 1'000, [](const std::vector<int>& some) {
    return has(some, 17) && has(some, 83);
  });
  EXPECT_EQ(few, (std::vector<int>{17, 83}));
}

TEST(ShrinkList, FindsThatNothingIsNeeded) {
  int asked = 0;
  const auto few = shrink_list(up_to(64), 1'000, [&](const std::vector<int>&) {
    ++asked;
    return true;
  });
  EXPECT_TRUE(few.empty());
  EXPECT_LE(asked, 4);
  EXPECT_TRUE(shrink_list(up_to(0), 1'000, [](const std::vector<int>&) { return true; }).empty());
}

TEST(ShrinkList, LeavesAListOfWhichEverythingIsNeeded) {
  const auto all = up_to(20);
  const auto few =
      shrink_list(all, 1'000, [&](const std::vector<int>& some) { return some == all; });
  EXPECT_EQ(few, all);
}

TEST(ShrinkList, StopsWhenItsAttemptsAreUsed) {
  std::size_t asked = 0;
  const auto few = shrink_list(up_to(100), 5, [&](const std::vector<int>& some) {
    ++asked;
    return has(some, 99);
  });
  EXPECT_EQ(asked, 5U);
  EXPECT_TRUE(has(few, 99)) << "whatever is returned still fails";
}

// A failure that needs `enough` of the relevant items, and perhaps an even number of items to be gone.
struct Failure {
  std::vector<int> relevant;
  std::ptrdiff_t enough = 0;
  std::size_t parity = 0;
  bool wants_parity = false;

  bool operator()(const std::vector<int>& some) const {
    const auto hits = std::ranges::count_if(some, [&](int item) { return has(relevant, item); });
    return hits >= enough && (!wants_parity || some.size() % 2 == parity);
  }
};

Failure any_failure(base::Random& random, const std::vector<int>& all) {
  Failure failure;
  for (const int item : all) {
    if (random.below(3) == 0) failure.relevant.push_back(item);
  }
  failure.enough = static_cast<std::ptrdiff_t>(random.below(failure.relevant.size() + 1));
  failure.parity = all.size() % 2;
  failure.wants_parity = random.below(2) == 0;
  return failure;
}

TEST(ShrinkList, IsMinimalForRandomFailures) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    ChaChaRandom random(seed);
    const std::vector<int> all = up_to(static_cast<int>(1 + random.below(60)));
    const Failure fails = any_failure(random, all);
    const auto few = shrink_list(all, 100'000, fails);
    EXPECT_TRUE(fails(all) && fails(few)) << "seed " << seed;
    for (std::size_t i = 0; i < few.size(); ++i)
      EXPECT_FALSE(fails(shrinking::without(few, i, 1))) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cadastre::sim
