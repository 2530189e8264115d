#include "base/random.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace cadastre::base {
namespace {

// Says what it is told.
class Scripted final : public Random {
 public:
  explicit Scripted(std::vector<std::uint64_t> script) : script_(std::move(script)) {}
  [[nodiscard]] std::uint64_t next_u64() noexcept override { return script_.at(at_++); }
  [[nodiscard]] std::size_t drawn() const { return at_; }

 private:
  std::vector<std::uint64_t> script_;
  std::size_t at_ = 0;
};

// The first outputs of xoshiro256** from a state that splitmix64 made of seed 0.
TEST(SeededRandom, GivesThePublishedSequence) {
  SeededRandom random(0);
  EXPECT_EQ(random.next_u64(), 0x99ec5f36cb75f2b4U);
  EXPECT_EQ(random.next_u64(), 0xbf6e1f784956452aU);
  EXPECT_EQ(random.next_u64(), 0x1a5f849d4933e6e0U);
  EXPECT_EQ(random.next_u64(), 0x6aa594f1262d2d2cU);
}

TEST(SeededRandom, RepeatsItselfAndDiffersFromOtherSeeds) {
  SeededRandom a(7);
  SeededRandom same(7);
  SeededRandom other(8);
  for (int i = 0; i < 100; ++i) {
    const auto value = a.next_u64();
    EXPECT_EQ(value, same.next_u64());
    EXPECT_NE(value, other.next_u64());
  }
}

TEST(Random, BelowDrawsAgainWhereTheSmallestAnswersWouldBeTooFrequent) {
  // 2^64 mod 10 is 6: the draws 0 to 5 belong to an incomplete ten.
  Scripted random({0, 5, 6});
  EXPECT_EQ(random.below(10), 6U);
  EXPECT_EQ(random.drawn(), 3U);
}

TEST(Random, BelowDrawsOnceForAPowerOfTwo) {
  Scripted random({0, 17, std::numeric_limits<std::uint64_t>::max()});
  EXPECT_EQ(random.below(16), 0U);
  EXPECT_EQ(random.below(16), 1U);
  EXPECT_EQ(random.below(16), 15U);
}

TEST(Random, BelowOneIsZeroAndTheLargestBoundWorks) {
  SeededRandom random(1);
  EXPECT_EQ(random.below(1), 0U);
  for (int i = 0; i < 100; ++i) {
    EXPECT_LT(random.below(std::numeric_limits<std::uint64_t>::max()),
              std::numeric_limits<std::uint64_t>::max());
  }
}

TEST(Random, BelowGivesEveryAnswerAboutEquallyOften) {
  SeededRandom random(42);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70'000; ++i)
    ++counts.at(random.below(7));
  // Six standard deviations around 10,000; the seed is fixed.
  for (const int count : counts)
    EXPECT_NEAR(count, 10'000, 560);
}

TEST(OsSeededRandom, DiffersFromItsTwin) {
  OsSeededRandom a;
  OsSeededRandom b;
  EXPECT_NE((std::array{a.next_u64(), a.next_u64()}), (std::array{b.next_u64(), b.next_u64()}));
}

TEST(RandomDeathTest, BelowZeroAborts) {
  SeededRandom random(1);
  EXPECT_DEATH(static_cast<void>(random.below(0)), "no number below 0");
}

}  // namespace
}  // namespace cadastre::base
