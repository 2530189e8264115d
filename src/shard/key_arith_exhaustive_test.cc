// Range arithmetic against ranks: every key, or every key over a small alphabet, of spaces that are
// small enough to count. The alphabet has the bytes at which carries and signs go wrong.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "shard/big_integer_testing.h"
#include "shard/hexrun_testing.h"
#include "shard/key_arith.h"
#include "shard/key_buf.h"
#include "shard/key_range.h"
#include "shard/key_space_testing.h"
#include "shard/midpoint_reference_testing.h"
#include "shard/split_reference_testing.h"

namespace cadastre::shard {

// GoogleTest prints a test's parameter through this.
// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest gives the name
static void PrintTo(const Arith& arith, std::ostream* out) {
  *out << "keys of at most " << arith.key_bytes_max << " bytes";
}

namespace {

constexpr std::array<std::uint8_t, 7> kAlphabet = {0x00, 0x01, 0x02, 0x7f, 0x80, 0xfe, 0xff};
constexpr std::size_t kAlphabetKeyBytesMax = 4;
constexpr std::uint64_t kNearRanks = 8;
constexpr std::size_t kSamples = 30'000;

class SmallKeySpace : public testing::TestWithParam<Arith> {
 protected:
  [[nodiscard]] const Arith& arith() const { return GetParam(); }
  [[nodiscard]] KeySpace space() const { return KeySpace(GetParam().key_bytes_max); }

  // Every key where they are few, else those over the alphabet.
  [[nodiscard]] std::vector<base::Bytes> keys() const {
    const std::size_t key_bytes_max = GetParam().key_bytes_max;
    if (key_bytes_max > 2)
      return keys_over(kAlphabet, std::min(key_bytes_max, kAlphabetKeyBytesMax));
    std::vector<base::Bytes> all;
    for (std::uint64_t rank = 0; rank < space().size(); ++rank)
      all.push_back(*space().key_at(rank));
    return all;
  }

  // Calls check(a, b) with a <= b for keys at most kNearRanks apart, where `a` is every `stride`-th
  // key, and for a sample of the rest.
  template <class Check>
  void for_each_pair(std::size_t stride, const Check& check) const {
    const auto all = keys();
    for (std::size_t i = 0; i < all.size(); i += stride) {
      const auto& key = all[i];
      const std::uint64_t rank = space().rank(key);
      const std::uint64_t last = std::min(rank + kNearRanks, space().size() - 1);
      for (std::uint64_t other = rank; other <= last; ++other) {
        check(key, *space().key_at(other));
        if (testing::Test::HasFailure()) return;
      }
    }
    SampleStream stream(1);
    for (std::size_t i = 0; i < kSamples; ++i) {
      const std::size_t a = stream.below(all.size());
      const std::size_t b = stream.below(all.size());
      check(all[std::min(a, b)], all[std::max(a, b)]);
      if (testing::Test::HasFailure()) return;
    }
  }
};

// 9.1 #59
TEST_P(SmallKeySpace, TheKeySuccessorIsTheNextRank) {
  KeyBuf out;
  for (const auto& key : keys()) {
    ASSERT_EQ(shown(arith().key_successor(key, out)), shown(space().key_at(space().rank(key) + 1)))
        << shown(key);
  }
}

// 9.1 #9: all keys with a prefix are consecutive, and the key after the last of them is the answer.
TEST_P(SmallKeySpace, ThePrefixSuccessorIsTheRankAfterTheLastExtension) {
  KeyBuf out;
  for (const auto& key : keys()) {
    const std::uint64_t after = space().rank(key) + space().keys_below(key.size());
    ASSERT_EQ(shown(arith().prefix_successor(key, out)), shown(space().key_at(after)))
        << shown(key);
  }
}

// 9.1 #12
TEST_P(SmallKeySpace, KeysPastTheLimitHaveNoSuccessor) {
  KeyBuf out;
  for (const std::uint8_t byte : kAlphabet) {
    const base::Bytes key(arith().key_bytes_max + 1, static_cast<std::byte>(byte));
    EXPECT_EQ(arith().key_successor(key, out), std::nullopt) << shown(key);
    EXPECT_EQ(arith().prefix_successor(key, out), std::nullopt) << shown(key);
  }
}

// 9.1 #60
TEST_P(SmallKeySpace, TheMidpointIsInsideAndAbsentOnlyBetweenNeighbours) {
  for_each_pair(1, [this](const base::Bytes& a, const base::Bytes& b) {
    KeyBuf out;
    const auto middle = arith().byte_midpoint(a, b, out);
    const std::string what = shown(a) + " and " + shown(b);
    ASSERT_EQ(middle.has_value(), space().rank(b) - space().rank(a) > 1) << what;
    ASSERT_EQ(shown(middle), shown(reference_midpoint(a, b, arith().key_bytes_max).view())) << what;
    if (!middle) return;
    ASSERT_TRUE(base::less(a, *middle) && base::less(*middle, b)) << what;
    ASSERT_LE(middle->size(), std::min(std::max(a.size(), b.size()) + 1, arith().key_bytes_max));
  });
}

// Whether the second candidate decides: then `a` is all zeros, and the midpoint its successor.
bool fixed_path_wins(const Arith& arith, const base::Bytes& a, const base::Bytes& b) {
  const auto reference = reference_midpoint(a, b, arith.key_bytes_max);
  if (reference.path != MidpointPath::kFixed) return false;
  EXPECT_TRUE(std::ranges::all_of(a, [](std::byte byte) { return byte == std::byte{0}; }));
  EXPECT_EQ(reference.key, reference_successor(a, arith.key_bytes_max));
  return true;
}

// 9.1 #60: the second candidate never decides what the third would not (section 3.3).
TEST_P(SmallKeySpace, TheFixedPathWinsOnlyBehindZerosAndThenEqualsTheSuccessor) {
  constexpr std::array<std::uint8_t, 3> kFew = {0x00, 0x01, 0xff};
  const auto few = keys_over(kFew, std::min(arith().key_bytes_max, kAlphabetKeyBytesMax));
  std::size_t wins = 0;
  for (const auto& a : few) {
    for (const auto& b : few)
      wins += fixed_path_wins(arith(), a, b) ? 1 : 0;
  }
  EXPECT_EQ(wins > 0, arith().key_bytes_max > 1);  // It needs a byte more than the keys have.
}

TEST_P(SmallKeySpace, AMidpointOfInvertedKeysIsAbsent) {
  for_each_pair(1, [this](const base::Bytes& a, const base::Bytes& b) {
    KeyBuf out;
    ASSERT_EQ(arith().byte_midpoint(b, a, out), std::nullopt) << shown(b) << " and " << shown(a);
  });
}

// The four promises of a fair cut, and that it is the cut of the definition.
void check_fair_cut(const Arith& arith, const KeySpace& space, KeyRange range) {
  KeyBuf out;
  const auto cut = arith.balanced_split_point(range.start, range.end, out);
  const std::string what = shown(range.start) + " to " + shown(range.end);
  const std::uint64_t end_rank = range.end.empty() ? space.size() : space.rank(range.end);
  ASSERT_EQ(cut.has_value(), end_rank > space.rank(range.start) + 1) << what;
  const auto reference = reference_split(range, arith.key_bytes_max);
  ASSERT_EQ(shown(cut), shown(reference.key)) << what;
  if (!cut) return;
  ASSERT_TRUE(base::less(range.start, *cut) && key_below_end(*cut, range.end)) << what;
  if (!reference.fair) return;

  ASSERT_LE(cut->size(), reference.key_bytes_max) << what;
  const BigInteger gap = reference.fair->gap();
  if (gap < BigInteger{256}) return;
  const BigInteger position = BigInteger::from_key(*cut, reference.fair->width);
  ASSERT_GE((position - reference.fair->start) * 1000, gap * 494) << what;
  ASSERT_GE((reference.fair->end - position) * 1000, gap * 494) << what;
}

// 9.1 #61
TEST_P(SmallKeySpace, TheSplitPointIsInsideFairShortAndAbsentOnlyWithoutRoom) {
  const std::size_t stride = arith().key_bytes_max == 2 ? 5 : 1;  // 65,793 keys take a while.
  for_each_pair(stride, [this](const base::Bytes& start, const base::Bytes& end) {
    if (end.empty()) return;  // As an end it is infinity: the next test.
    if (start == end) {
      KeyBuf out;
      ASSERT_EQ(arith().balanced_split_point(start, end, out), std::nullopt) << shown(start);
      return;
    }
    check_fair_cut(arith(), space(), {start, end});
  });
}

// 9.1 #61
TEST_P(SmallKeySpace, TheSplitPointOfAnOpenRangeIsInsideFairShortAndAbsentOnlyWithoutRoom) {
  for (const auto& start : keys()) {
    check_fair_cut(arith(), space(), {start, {}});
    if (testing::Test::HasFailure()) return;
  }
}

TEST_P(SmallKeySpace, InterpolatedKeysAreTheCutsOfTheDefinition) {
  const auto all = keys();
  SampleStream stream(2);
  KeyBuf out;
  for (std::size_t i = 0; i < kSamples / 4; ++i) {
    const KeyRange range{all[stream.below(all.size())], all[stream.below(all.size())]};
    const std::uint64_t count = 2 + stream.below(40);
    const CutPosition cut{1 + stream.below(count - 1), count};
    const auto bounds = reference_even_bounds(range, count, arith().key_bytes_max);
    const auto key = arith().interpolate_key(range, cut, out);
    ASSERT_EQ(key.has_value(), bounds.has_value()) << shown(range.start) << " " << shown(range.end);
    if (!key) continue;
    ASSERT_EQ(shown(key), shown(reference_cut(*bounds, cut.index, cut.count)))
        << shown(range.start) << " " << shown(range.end) << " " << cut.index << "/" << cut.count;
  }
}

INSTANTIATE_TEST_SUITE_P(Shard,
                         SmallKeySpace,
                         testing::Values(kArith<1>, kArith<2>, kArith<3>, kArith<4>, kArith<6>),
                         [](const auto& row) {
                           return "KeysOf" + std::to_string(row.param.key_bytes_max) + "Bytes";
                         });

// The oracle itself: ranks and keys are each other's inverse, and ranks follow the order.
TEST(KeySpace, RanksCountTheKeysInOrder) {
  const KeySpace space(2);
  EXPECT_EQ(space.size(), 1U + 256U + 65536U);
  std::optional<base::Bytes> before;
  for (std::uint64_t rank = 0; rank < space.size(); ++rank) {
    const auto key = space.key_at(rank);
    ASSERT_TRUE(key.has_value());
    ASSERT_EQ(space.rank(*key), rank);
    ASSERT_TRUE(!before || base::less(*before, *key));
    before = key;
  }
  EXPECT_EQ(space.key_at(space.size()), std::nullopt);
}

}  // namespace
}  // namespace cadastre::shard
