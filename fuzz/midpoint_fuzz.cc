// Range arithmetic at several size limits. byte_midpoint is compared with the three phases that define
// it and with its classification by D; the fair cuts and the even ones with their definition in
// arbitrarily long integers.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/check.h"
#include "fuzz/input.h"
#include "fuzz/target.h"
#include "shard/big_integer_testing.h"
#include "shard/key_arith.h"
#include "shard/key_buf.h"
#include "shard/key_range.h"
#include "shard/limits.h"
#include "shard/split_points.h"

namespace cadastre::fuzz {
namespace {

using shard::BigInteger;

using base::Bytes;
using base::ByteView;
using Key = std::optional<Bytes>;

bool same(const std::optional<ByteView>& got, const Key& expected) {
  if (!got || !expected) return got.has_value() == expected.has_value();
  return base::equal(*got, *expected);
}

Bytes without_trailing_zeros(Bytes key) {
  while (!key.empty() && key.back() == std::byte{0})
    key.pop_back();
  return key;
}

// Plus one in the prefix's own width, written short.
Key prefix_successor(const Bytes& prefix, std::size_t max_key) {
  if (prefix.empty() || prefix.size() > max_key) return std::nullopt;
  const auto next = BigInteger::from_key(prefix, prefix.size()) + BigInteger(1);
  if (next == BigInteger::power_of_256(prefix.size())) return std::nullopt;
  return without_trailing_zeros(next.to_key(prefix.size()));
}

Key key_successor(Bytes key, std::size_t max_key) {
  if (key.size() >= max_key) return prefix_successor(key, max_key);
  key.push_back(std::byte{0});
  return key;
}

struct Bounds {
  Bytes start;
  Bytes end;
  std::size_t max_key;

  [[nodiscard]] std::size_t width() const { return std::max(start.size(), end.size()); }
  [[nodiscard]] bool is_open() const { return end.empty(); }
  [[nodiscard]] bool is_below_end(const Bytes& key) const { return is_open() || key < end; }
  // The range has no keys, or a bound is too long.
  [[nodiscard]] bool is_refused() const {
    return width() > max_key || (!is_open() && start >= end);
  }
};

// The first of three candidates that lies strictly inside; an empty end is the least key.
Key midpoint_by_phases(const Bounds& in) {
  const std::size_t n = in.width();
  if (in.start >= in.end || n > in.max_key) return std::nullopt;
  const auto half = (BigInteger::from_key(in.start, n) + BigInteger::from_key(in.end, n)) / 2;
  const std::array<Key, 3> candidates{half.to_key(n),
                                      n + 1 <= in.max_key ? Key(half.to_key(n + 1)) : std::nullopt,
                                      key_successor(in.start, in.max_key)};
  for (const Key& key : candidates) {
    if (key && in.start < *key && *key < in.end) return key;
  }
  return std::nullopt;
}

// The same by D = B - A.
Key midpoint_by_difference(const Bounds& in) {
  const std::size_t n = in.width();
  if (in.start >= in.end || n > in.max_key) return std::nullopt;
  const auto a = BigInteger::from_key(in.start, n);
  const auto b = BigInteger::from_key(in.end, n);
  const auto difference = b - a;
  if (difference >= BigInteger(2)) return ((a + b) / 2).to_key(n);
  if (difference == BigInteger(1)) {
    if (in.start.size() < n) return a.to_key(n);
    const Key next = key_successor(in.start, in.max_key);
    return next && *next < in.end ? next : std::nullopt;
  }
  if (in.end.size() < in.start.size() + 2) return std::nullopt;
  Bytes longer = in.start;
  longer.push_back(std::byte{0});
  return longer;
}

BigInteger end_value(const Bounds& in, std::size_t width) {
  return in.is_open() ? BigInteger::power_of_256(width) : BigInteger::from_key(in.end, width);
}

BigInteger gap_at(const Bounds& in, std::size_t width) {
  return end_value(in, width) - BigInteger::from_key(in.start, width);
}

// The cut lies within D / 256 + 1/2 of the exact middle.
void check_fair(const Bounds& in, const Bytes& cut, std::size_t width) {
  const auto twice = BigInteger::from_key(cut, width) * 2;
  const auto sum = BigInteger::from_key(in.start, width) + end_value(in, width);
  const auto off = twice > sum ? twice - sum : sum - twice;
  CAD_CHECK(off * 128 <= gap_at(in, width) + BigInteger(128), "a balanced cut is fair");
}

Key balanced_split_point(const Bounds& in) {
  if (in.is_refused()) return std::nullopt;
  std::size_t width = std::max(in.width(), std::size_t{1});
  if (gap_at(in, width) > BigInteger(0) && gap_at(in, width) < BigInteger(256) &&
      width < in.max_key) {
    ++width;
  }
  const auto gap = gap_at(in, width);
  if (gap < BigInteger(2)) {
    const Key next = key_successor(in.start, in.max_key);
    return next && in.is_below_end(*next) ? next : std::nullopt;
  }
  Bytes key = ((BigInteger::from_key(in.start, width) + end_value(in, width)) / 2).to_key(width);
  key.resize(std::min(width, width + 2 - gap.significant_bytes()));
  key = without_trailing_zeros(key);
  check_fair(in, key, width);
  return key;
}

std::optional<std::size_t> even_width(const Bounds& in, std::uint64_t count) {
  if (in.is_refused()) return std::nullopt;
  std::size_t width = std::max(in.width(), std::size_t{1});
  const auto needed = BigInteger(count) * 2;
  for (auto gap = gap_at(in, width); gap < needed; gap = gap * 256) {
    if (gap == BigInteger(0) || ++width > in.max_key) return std::nullopt;
  }
  return width;
}

Key interpolate(const Bounds& in, std::uint64_t index, std::uint64_t count) {
  if (index == 0 || index >= count) return std::nullopt;
  const auto width = even_width(in, count);
  if (!width) return std::nullopt;
  const auto offset = gap_at(in, *width) * index / count;
  return (BigInteger::from_key(in.start, *width) + offset).to_key(*width);
}

template <std::size_t MaxKey>
void check_successors(const Bytes& key) {
  using Arith = shard::KeyArith<MaxKey>;
  shard::KeyBuf out;
  CAD_CHECK(same(Arith::prefix_successor(key, out), prefix_successor(key, MaxKey)),
            "a prefix's successor is the prefix plus one");
  CAD_CHECK(same(Arith::key_successor(key, out), key_successor(key, MaxKey)),
            "a key's successor is the next key");
  if (!out.try_assign(key)) return;
  CAD_CHECK(same(Arith::prefix_successor(out.view(), out), prefix_successor(key, MaxKey)),
            "a prefix's successor works in place");
  out.assign(key);
  CAD_CHECK(same(Arith::key_successor(out.view(), out), key_successor(key, MaxKey)),
            "a key's successor works in place");
}

template <std::size_t MaxKey>
void check_cuts(const Bounds& in, shard::CutPosition cut) {
  using Arith = shard::KeyArith<MaxKey>;
  shard::KeyBuf out;
  const auto middle = Arith::byte_midpoint(in.start, in.end, out);
  CAD_CHECK(same(middle, midpoint_by_phases(in)), "the closed form is the phase form");
  CAD_CHECK(same(middle, midpoint_by_difference(in)), "the closed form follows D");
  const Key next = key_successor(in.start, MaxKey);
  const bool room = next && *next < in.end && in.width() <= MaxKey;
  CAD_CHECK(middle.has_value() == room, "a midpoint is absent exactly where no key lies between");

  const auto balanced = Arith::balanced_split_point(in.start, in.end, out);
  CAD_CHECK(same(balanced, balanced_split_point(in)), "a balanced cut is as defined");
  const bool inside = next && in.is_below_end(*next) && !in.is_refused();
  CAD_CHECK(balanced.has_value() == inside, "a cut is absent exactly where no key lies inside");

  const auto even = Arith::interpolate_key({in.start, in.end}, cut, out);
  CAD_CHECK(same(even, interpolate(in, cut.index, cut.count)), "an even cut is as defined");
}

constexpr std::uint64_t kCutsMax = 6;

// The stream of cuts, which has the production limit only.
void check_even_points(const Bounds& in, std::uint64_t count) {
  const shard::KeyRange range{in.start, in.end};
  const bool single = count == 1 && !in.is_refused();
  const auto width = single ? std::optional(std::max(in.width(), std::size_t{1}))
                            : (count == 0 ? std::nullopt : even_width(in, count));
  CAD_CHECK(shard::even_split_width(range, count) == width, "the width of a plan is as defined");
  shard::EvenSplitPoints cuts;
  CAD_CHECK(cuts.init(range, count) == width.has_value(),
            "a plan exists exactly if it has a width");
  if (!width) return;
  CAD_CHECK(cuts.width() == *width, "a plan knows its width");
  CAD_CHECK(cuts.remaining() == count - 1, "and its size");
  shard::KeyBuf out;
  for (std::uint64_t i = 1; i < count && i <= kCutsMax; ++i) {
    CAD_CHECK(same(cuts.next(out), interpolate(in, i, count)), "a stream gives the even cuts");
  }
  if (count > kCutsMax) return;
  CAD_CHECK(!cuts.next(out), "a stream ends after the last cut");

  Bytes table(static_cast<std::size_t>(count - 1) * *width);
  const auto keys = shard::even_split_points(range, count, table);
  CAD_CHECK(keys.has_value(), "a table that is just large enough is taken");
  CAD_CHECK(keys->size() == count - 1, "and filled");
  for (std::size_t i = 0; i < keys->size(); ++i)
    CAD_CHECK(same((*keys)[i], interpolate(in, i + 1, count)), "a table holds the even cuts");
  if (table.empty()) return;
  table.pop_back();
  CAD_CHECK(!shard::even_split_points(range, count, table), "one byte less is refused");
}

// `distance` above `key`, in up to three bytes more; nothing if that is not below 256^width.
Key key_near(const Bytes& key, std::size_t more, std::uint64_t distance) {
  const std::size_t width = key.size() + more;
  const auto value = BigInteger::from_key(key, width) + BigInteger(distance);
  if (value >= BigInteger::power_of_256(width)) return std::nullopt;
  return value.to_key(width);
}

template <std::size_t MaxKey>
void check_at_limit(Input& in) {
  Bounds bounds{in.string(MaxKey + 1), {}, MaxKey};
  if (in.below(2) == 0) {
    bounds.end = in.string(MaxKey + 1);
  } else {
    const std::size_t more = in.below(4);
    bounds.end = key_near(bounds.start, more, in.number()).value_or(Bytes{});
  }
  const shard::CutPosition cut{in.number(), in.number()};
  check_successors<MaxKey>(bounds.start);
  check_cuts<MaxKey>(bounds, cut);
  if constexpr (MaxKey == shard::kMaxKeySize) check_even_points(bounds, cut.count);
}

}  // namespace

void run_one(ByteView input) {
  Input in(input);
  switch (in.below(6)) {
    case 0: return check_at_limit<shard::kMaxKeySize>(in);
    case 1: return check_at_limit<1>(in);
    case 2: return check_at_limit<2>(in);
    case 3: return check_at_limit<3>(in);
    case 4: return check_at_limit<4>(in);
    default: return check_at_limit<6>(in);
  }
}

}  // namespace cadastre::fuzz
