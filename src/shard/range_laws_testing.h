// The laws of ranges, for any generator of them: containment is a partial order, overlap is
// symmetric, adjacency excludes overlap, and a cut divides a range into two that cover it.

#pragma once

#include <cstddef>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/bytes.h"
#include "shard/key_range.h"
#include "shard/property_testing.h"

namespace cadastre::shard {

// A range and its bytes.
struct OwnedRange {
  base::Bytes start;
  base::Bytes end;

  [[nodiscard]] KeyRange range() const noexcept { return {start, end}; }
  friend bool operator==(const OwnedRange&, const OwnedRange&) = default;
};

[[nodiscard]] inline bool is_valid_range(const OwnedRange& range) {
  return range.end.empty() || base::less(range.start, range.end);
}

// `gen_range` draws a valid OwnedRange, `gen_key` a key.
template <class GenRange, class GenKey>
void range_laws(const GenRange& gen_range, const GenKey& gen_key) {
  check_many("containment is a partial order that keys follow", [&] {
    const OwnedRange a = gen_range();
    const OwnedRange b = gen_range();
    const OwnedRange c = gen_range();
    const base::Bytes key = gen_key();
    RC_ASSERT(contains_range(a.range(), a.range()));
    const bool a_in_b = contains_range(b.range(), a.range());
    const bool b_in_a = contains_range(a.range(), b.range());
    const bool b_in_c = contains_range(c.range(), b.range());
    RC_ASSERT((a_in_b && b_in_a) == (a == b));
    RC_ASSERT((!(a_in_b && b_in_c) || contains_range(c.range(), a.range())));
    RC_ASSERT((!(a_in_b && contains_key(a.range(), key)) || contains_key(b.range(), key)));
  });
  check_many("overlap is symmetric and adjacency excludes it", [&] {
    const OwnedRange a = gen_range();
    const OwnedRange b = gen_range();
    const base::Bytes key = gen_key();
    const bool overlap = ranges_overlap(a.range(), b.range());
    RC_ASSERT(overlap == ranges_overlap(b.range(), a.range()));
    RC_ASSERT((!ranges_adjacent(a.range(), b.range()) || !overlap));
    RC_ASSERT((overlap || !(contains_key(a.range(), key) && contains_key(b.range(), key))));
    // Two ranges that overlap share the greater of their starts.
    const auto& shared = base::less(a.start, b.start) ? b.start : a.start;
    RC_ASSERT(overlap == (contains_key(a.range(), shared) && contains_key(b.range(), shared)));
  });
  std::size_t cuts = 0;
  check_many("the two sides of a cut cover the range", [&] {
    const OwnedRange whole = gen_range();
    const base::Bytes cut = gen_key();
    const base::Bytes key = gen_key();
    if (!base::less(whole.start, cut) || !key_below_end(cut, whole.end)) return;
    ++cuts;
    const OwnedRange low{whole.start, cut};
    const OwnedRange high{cut, whole.end};
    RC_ASSERT(ranges_adjacent(low.range(), high.range()));
    RC_ASSERT(!ranges_overlap(low.range(), high.range()));
    RC_ASSERT(contains_range(whole.range(), low.range()));
    RC_ASSERT(contains_range(whole.range(), high.range()));
    const int sides = static_cast<int>(contains_key(low.range(), key)) +
                      static_cast<int>(contains_key(high.range(), key));
    RC_ASSERT(sides == static_cast<int>(contains_key(whole.range(), key)));
  });
  EXPECT_GT(cuts, 0U) << "the generators never drew a cut inside a range";
}

}  // namespace cadastre::shard
