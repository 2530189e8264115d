#include "shard/key_range.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "shard/hexrun_testing.h"
#include "shard/key_space_testing.h"

namespace cadastre::shard {
namespace {

constexpr std::array<std::uint8_t, 3> kAlphabet = {0x00, 0x7f, 0x80};
constexpr std::size_t kKeyBytesMax = 2;

// Every key of a small space, and every range with bounds from it, as the set of keys it holds.
class KeyRangePredicates : public testing::Test {
 protected:
  using Members = std::vector<bool>;  // by index into keys()

  struct Sample {
    KeyRange range;
    Members members;
  };

  KeyRangePredicates() : keys_(keys_over(kAlphabet, kKeyBytesMax)) {
    for (const auto& start : keys_) {
      for (const auto& end : keys_) {
        if (end.empty() || base::less(start, end)) samples_.push_back({{start, end}, {}});
      }
    }
    for (Sample& sample : samples_) {
      for (std::size_t i = 0; i < keys_.size(); ++i)
        sample.members.push_back(index_is_inside(i, sample.range));
    }
  }

  // By position alone: the keys are sorted, and an open end is behind the last one.
  [[nodiscard]] bool index_is_inside(std::size_t index, KeyRange range) const {
    return index >= index_of(range.start) && (range.end.empty() || index < index_of(range.end));
  }

  [[nodiscard]] std::size_t index_of(base::ByteView key) const {
    const auto found =
        std::ranges::find_if(keys_, [key](const auto& other) { return base::equal(other, key); });
    return static_cast<std::size_t>(found - keys_.begin());
  }

  [[nodiscard]] static bool holds_all(const Members& members, const Members& others) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (others[i] && !members[i]) return false;
    }
    return true;
  }

  [[nodiscard]] static bool share_one(const Members& members, const Members& others) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (others[i] && members[i]) return true;
    }
    return false;
  }

  [[nodiscard]] static std::string text(KeyRange range) {
    return "[" + shown(range.start) + ", " + shown(range.end) + ")";
  }

  std::vector<base::Bytes> keys_;
  std::vector<Sample> samples_;
};

// 9.1 #66
TEST_F(KeyRangePredicates, ContainKeyExactlyWhenTheKeyIsAMember) {
  for (const Sample& sample : samples_) {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      ASSERT_EQ(contains_key(sample.range, keys_[i]), sample.members[i])
          << shown(keys_[i]) << " in " << text(sample.range);
      ASSERT_EQ(key_at_or_above_start(keys_[i], sample.range.start),
                i >= index_of(sample.range.start));
      ASSERT_EQ(key_below_end(keys_[i], sample.range.end),
                sample.range.end.empty() || i < index_of(sample.range.end));
    }
  }
}

// 9.1 #66
TEST_F(KeyRangePredicates, CompareEndsWithTheOpenOneOnTop) {
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    for (std::size_t j = 0; j < keys_.size(); ++j) {
      const std::size_t a = keys_[i].empty() ? keys_.size() : i;
      const std::size_t b = keys_[j].empty() ? keys_.size() : j;
      ASSERT_EQ(compare_ends(keys_[i], keys_[j]), a <=> b)
          << shown(keys_[i]) << " and " << shown(keys_[j]);
    }
  }
}

// 9.1 #66. Every bound is one of the keys, so that a range is known by its members; only one with an
// open end holds the last key.
TEST_F(KeyRangePredicates, ContainOverlapAndTouchAsTheirMembersDo) {
  for (const Sample& a : samples_) {
    for (const Sample& b : samples_) {
      const std::string what = text(a.range) + " and " + text(b.range);
      ASSERT_EQ(contains_range(a.range, b.range), holds_all(a.members, b.members)) << what;
      ASSERT_EQ(ranges_overlap(a.range, b.range), share_one(a.members, b.members)) << what;
      ASSERT_EQ(ranges_adjacent(a.range, b.range),
                !a.range.end.empty() && index_of(a.range.end) == index_of(b.range.start))
          << what;
    }
  }
}

TEST(KeyRange, AnOpenEndIsAboveEveryKeyAndTheEmptyKeyBelow) {
  const auto most = hex("(ff*4096)");
  EXPECT_TRUE(key_below_end(most, {}));
  EXPECT_TRUE(key_below_end({}, hex("00")));
  EXPECT_TRUE(contains_key({{}, {}}, {}));
  EXPECT_FALSE(contains_key({hex("00"), {}}, {}));
  EXPECT_EQ(compare_ends({}, most), std::strong_ordering::greater);
}

TEST(KeyRange, AnOpenStartIsContainedOnlyInAnOpenStart) {
  const auto a = hex("61");
  const auto z = hex("7a");
  EXPECT_TRUE(contains_range({{}, {}}, {{}, z}));
  EXPECT_FALSE(contains_range({a, {}}, {{}, z}));
  EXPECT_FALSE(contains_range({{}, z}, {a, {}}));
}

TEST(KeyRange, AnOpenEndTouchesNothingBehindIt) {
  const auto a = hex("61");
  EXPECT_FALSE(ranges_adjacent({a, {}}, {{}, a}));
  EXPECT_FALSE(ranges_adjacent({{}, {}}, {{}, {}}));
  EXPECT_TRUE(ranges_adjacent({{}, a}, {a, {}}));
}

// The helpers work at compile time, where memcmp is not to be had.
constexpr std::array<std::byte, 1> kLow = {std::byte{0x7f}};
constexpr std::array<std::byte, 1> kHigh = {std::byte{0x80}};
static_assert(contains_key({kLow, kHigh}, kLow));
static_assert(!contains_key({kLow, kHigh}, kHigh));
static_assert(contains_range({kLow, {}}, {kLow, kHigh}));
static_assert(!ranges_overlap({{}, kLow}, {kLow, kHigh}));
static_assert(ranges_adjacent({{}, kLow}, {kLow, kHigh}));
static_assert(compare_ends({}, kHigh) > 0);

}  // namespace
}  // namespace cadastre::shard
