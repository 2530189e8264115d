// Half-open ranges of keys, [start, end), and the only functions that compare against a bound.
//
// An empty start means no lower bound, an empty end no upper bound. As a key the empty string is the
// least one; as an end it is above every key. So an end is never compared with `less` directly: it
// goes through these helpers.
//
// Everything here is a pure function.

#pragma once

#include <compare>

#include "base/bytes.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

using base::ByteView;

struct KeyRange {
  ByteView start;  // empty: unbounded
  ByteView end;    // empty: unbounded
};

[[nodiscard]] constexpr bool key_at_or_above_start(ByteView key, ByteView start) noexcept {
  return start.empty() || !base::less(key, start);
}

[[nodiscard]] constexpr bool key_below_end(ByteView key, ByteView end) noexcept {
  return end.empty() || base::less(key, end);
}

// An empty end is greater than any other.
[[nodiscard]] constexpr std::strong_ordering compare_ends(ByteView a, ByteView b) noexcept {
  if (a.empty() || b.empty()) return a.empty() <=> b.empty();
  return base::compare(a, b);
}

[[nodiscard]] constexpr bool contains_key(KeyRange range, ByteView key) noexcept {
  return key_at_or_above_start(key, range.start) && key_below_end(key, range.end);
}

[[nodiscard]] constexpr bool contains_range(KeyRange outer, KeyRange inner) noexcept {
  return key_at_or_above_start(inner.start, outer.start) && compare_ends(inner.end, outer.end) <= 0;
}

// Valid with unbounded starts too, because an empty start is the least key.
[[nodiscard]] constexpr bool ranges_overlap(KeyRange a, KeyRange b) noexcept {
  return key_below_end(a.start, b.end) && key_below_end(b.start, a.end);
}

// Whether `b` begins exactly where `a` ends.
[[nodiscard]] constexpr bool ranges_adjacent(KeyRange a, KeyRange b) noexcept {
  return !a.end.empty() && base::equal(a.end, b.start);
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
