// Range arithmetic on drawn keys, at the real size limit and at small ones.

#include "shard/key_arith.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/bytes.h"
#include "shard/big_integer_testing.h"
#include "shard/hexrun_testing.h"
#include "shard/key_buf.h"
#include "shard/key_range.h"
#include "shard/key_space_testing.h"
#include "shard/limits.h"
#include "shard/midpoint_reference_testing.h"
#include "shard/property_testing.h"
#include "shard/split_points.h"
#include "shard/split_reference_testing.h"

namespace cadastre::shard {
namespace {

const Arith& any_arith() {
  static constexpr std::array<Arith, 6> kAll = {
      {kArith<kMaxKeySize>, kArith<kMaxKeySize>, kArith<1>, kArith<3>, kArith<4>, kArith<6>}};
  return kAll[dice(kAll.size())];
}

bool all_max(const base::Bytes& key) {
  return std::ranges::all_of(key, [](std::byte byte) { return byte == std::byte{0xff}; });
}

bool starts_with(base::ByteView key, base::ByteView prefix) {
  return key.size() >= prefix.size() && base::equal(key.first(prefix.size()), prefix);
}

// 9.1 #8 #9
TEST(KeyArithProperty, ThePrefixSuccessorParts) {
  check_many("keys below it that are not below the prefix have the prefix", [] {
    const Arith& arith = any_arith();
    const auto prefix = any_key(arith.key_bytes_max);
    KeyBuf out;
    const auto next = arith.prefix_successor(prefix, out);
    const bool refused = prefix.size() > arith.key_bytes_max || all_max(prefix);
    RC_ASSERT(next.has_value() == !refused);
    if (!next) return;
    RC_ASSERT(base::less(prefix, *next));
    RC_ASSERT(next->size() <= prefix.size());
    const auto key = key_near(prefix, arith.key_bytes_max);
    RC_ASSERT((base::less(key, *next) == (base::less(key, prefix) || starts_with(key, prefix))));
  });
}

// 9.1 #11 #12
TEST(KeyArithProperty, TheKeySuccessorIsAboveAndWithinTheLimit) {
  check_many("append below the limit, increment at it, nothing above", [] {
    const Arith& arith = any_arith();
    const auto key = any_key(arith.key_bytes_max);
    KeyBuf out;
    const auto next = arith.key_successor(key, out);
    if (key.size() > arith.key_bytes_max) {
      RC_ASSERT(!next.has_value());
      return;
    }
    RC_ASSERT(shown(next) == shown(reference_successor(key, arith.key_bytes_max)));
    RC_ASSERT((next.has_value() == (key.size() < arith.key_bytes_max || !all_max(key))));
    if (!next) return;
    RC_ASSERT(base::less(key, *next));
    RC_ASSERT(next->size() <= arith.key_bytes_max);
    const auto other = key_near(key, arith.key_bytes_max);
    if (other.size() > arith.key_bytes_max) return;
    RC_ASSERT((!(base::less(key, other) && base::less(other, *next))));  // Nothing lies between.
  });
}

// 9.1 #13 #60
TEST(KeyArithProperty, TheMidpointIsThatOfTheDefinition) {
  check_many("inside, absent iff nothing is, closed form equals phase form", [] {
    const Arith& arith = any_arith();
    const auto a = any_key(arith.key_bytes_max);
    const auto b = key_near(a, arith.key_bytes_max);
    KeyBuf out;
    const auto middle = arith.byte_midpoint(a, b, out);
    RC_ASSERT(shown(middle) == shown(reference_midpoint(a, b, arith.key_bytes_max).view()));
    if (middle) {
      RC_ASSERT((base::less(a, *middle) && base::less(*middle, b)));
      RC_ASSERT(middle->size() <= arith.key_bytes_max);
      return;
    }
    if (std::max(a.size(), b.size()) > arith.key_bytes_max) return;
    const auto next = reference_successor(a, arith.key_bytes_max);
    RC_ASSERT((!next || !base::less(*next, b)));
  });
}

// 9.1 #61
TEST(KeyArithProperty, TheSplitPointIsFairAndShort) {
  check_many("inside, absent iff nothing is, both sides 49.4 %, as short as promised", [] {
    const Arith& arith = any_arith();
    const auto start = any_key(arith.key_bytes_max);
    const auto end = dice(6) == 0 ? base::Bytes{} : key_near(start, arith.key_bytes_max);
    KeyBuf out;
    const auto cut = arith.balanced_split_point(start, end, out);
    const auto reference = reference_split({start, end}, arith.key_bytes_max);
    RC_ASSERT(shown(cut) == shown(reference.key));
    if (!cut) {
      if (std::max(start.size(), end.size()) > arith.key_bytes_max) return;
      const auto next = reference_successor(start, arith.key_bytes_max);
      RC_ASSERT((!next || !key_below_end(*next, end)));
      return;
    }
    RC_ASSERT((base::less(start, *cut) && key_below_end(*cut, end)));
    if (!reference.fair) return;
    RC_ASSERT(cut->size() <= reference.key_bytes_max);
    const BigInteger gap = reference.fair->gap();
    const BigInteger position = BigInteger::from_key(*cut, reference.fair->width);
    const BigInteger below = position - reference.fair->start;
    const BigInteger above = reference.fair->end - position;
    // From the exact middle it is at most D/256 + 1/2 away.
    const BigInteger twice_off = below < above ? above - below : below - above;
    RC_ASSERT(twice_off * 128 <= gap + BigInteger{128});
    if (gap < BigInteger{256}) return;
    RC_ASSERT(below * 1000 >= gap * 494);
    RC_ASSERT(above * 1000 >= gap * 494);
  });
}

std::uint64_t any_count() {
  constexpr std::uint64_t kMax = ~std::uint64_t{0};
  switch (dice(4)) {
    case 0: return 2 + dice(8);
    case 1: return 2 + dice(100'000);
    case 2: return kMax - dice(3);
    default: return 2 + dice(kMax - 2);
  }
}

TEST(KeyArithProperty, AnInterpolatedKeyIsThatOfTheDefinition) {
  check_many("A + floor(D i / n), strictly inside", [] {
    const Arith& arith = any_arith();
    const auto start = any_key(arith.key_bytes_max);
    const auto end = dice(6) == 0 ? base::Bytes{} : key_near(start, arith.key_bytes_max);
    const std::uint64_t count = any_count();
    const std::uint64_t index = 1 + dice(count - 1);
    const auto bounds = reference_even_bounds({start, end}, count, arith.key_bytes_max);
    KeyBuf out;
    const auto key = arith.interpolate_key({start, end}, {index, count}, out);
    RC_ASSERT(key.has_value() == bounds.has_value());
    if (!key) return;
    RC_ASSERT(shown(key) == shown(reference_cut(*bounds, index, count)));
    RC_ASSERT((base::less(start, *key) && key_below_end(*key, end)));
  });
}

TEST(KeyArithProperty, EvenSplitPointsAreTheInterpolatedKeysInOrder) {
  check_many("stream, table and single cuts agree and increase", [] {
    const auto start = any_key(kMaxKeySize);
    const auto end = dice(6) == 0 ? base::Bytes{} : key_near(start, kMaxKeySize);
    const KeyRange range{start, end};
    const std::uint64_t count = 2 + dice(12);
    const auto bounds = reference_even_bounds(range, count, kMaxKeySize);
    EvenSplitPoints cuts;
    RC_ASSERT(cuts.init(range, count) == bounds.has_value());
    if (!bounds) {
      RC_ASSERT(!even_split_width(range, count).has_value());
      return;
    }
    RC_ASSERT(even_split_width(range, count) == bounds->width);
    base::Bytes table((count - 1) * bounds->width);
    const auto points = even_split_points(range, count, table);
    RC_ASSERT((points.has_value() && points->size() == count - 1));
    base::Bytes before = start;
    for (std::uint64_t index = 1; index < count; ++index) {
      KeyBuf single_out;
      KeyBuf next_out;
      const auto single = interpolate_key(range, {index, count}, single_out);
      const auto next = cuts.next(next_out);
      RC_ASSERT((single.has_value() && next.has_value()));
      RC_ASSERT(base::equal(*single, *next));
      RC_ASSERT(base::equal(*single, (*points)[index - 1]));
      RC_ASSERT((base::less(before, *single) && key_below_end(*single, end)));
      before = base::to_owned(*single);
    }
    KeyBuf out;
    RC_ASSERT(!cuts.next(out).has_value());
  });
}

// A stream of many cuts carries its remainder from one to the next without drifting.
TEST(KeyArithProperty, ALongStreamOfCutsEndsWhereTheDefinitionSays) {
  const auto start = hex("757365723a31303030");
  const auto end = hex("757365723a32303031");
  constexpr std::uint64_t kCount = 99'991;
  const auto bounds = reference_even_bounds({start, end}, kCount, kMaxKeySize);
  ASSERT_TRUE(bounds.has_value());
  EvenSplitPoints cuts;
  ASSERT_TRUE(cuts.init({start, end}, kCount));
  for (std::uint64_t index = 1; index < kCount; ++index) {
    KeyBuf out;
    const auto next = cuts.next(out);
    ASSERT_TRUE(next.has_value());
    if (index % 997 == 0 || index == kCount - 1) {
      ASSERT_EQ(shown(next), shown(reference_cut(*bounds, index, kCount))) << index;
    }
  }
  EXPECT_EQ(cuts.remaining(), 0U);
}

}  // namespace
}  // namespace cadastre::shard
