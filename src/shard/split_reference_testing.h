// Fair cuts by their definition, on whole integers in base 256: too plain to be wrong.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "shard/big_integer_testing.h"
#include "shard/key_range.h"
#include "shard/midpoint_reference_testing.h"

namespace cadastre::shard {

// A range's bounds as integers of one width; an open end is 256^width.
struct ReferenceBounds {
  std::size_t width = 0;
  BigInteger start;
  BigInteger end;

  [[nodiscard]] static ReferenceBounds at(KeyRange range, std::size_t width) {
    return {width, BigInteger::from_key(range.start, width),
            range.end.empty() ? BigInteger::power_of_256(width)
                              : BigInteger::from_key(range.end, width)};
  }
  [[nodiscard]] BigInteger gap() const { return end - start; }
};

// The bounds at their first width, or nothing where a bound is too long or the range is empty.
[[nodiscard]] inline std::optional<ReferenceBounds> reference_bounds(KeyRange range,
                                                                     std::size_t key_bytes_max) {
  const std::size_t width = std::max({range.start.size(), range.end.size(), std::size_t{1}});
  if (width > key_bytes_max) return std::nullopt;
  if (!range.end.empty() && !base::less(range.start, range.end)) return std::nullopt;
  return ReferenceBounds::at(range, width);
}

struct ReferenceSplit {
  std::optional<base::Bytes> key;
  std::optional<ReferenceBounds> fair;  // The scale of the cut; absent where there was no room.
  std::size_t key_bytes_max = 0;        // How long the cut may be on that scale.
};

[[nodiscard]] inline ReferenceSplit reference_split(KeyRange range, std::size_t key_bytes_max) {
  auto bounds = reference_bounds(range, key_bytes_max);
  if (!bounds) return {};
  if (bounds->gap() > BigInteger{0} && bounds->gap() < BigInteger{256} &&
      bounds->width < key_bytes_max) {
    bounds = ReferenceBounds::at(range, bounds->width + 1);
  }
  const BigInteger gap = bounds->gap();
  if (gap < BigInteger{2}) {
    auto next = reference_successor(range.start, key_bytes_max);
    if (!next || !key_below_end(*next, range.end)) return {};
    return {std::move(next), std::nullopt, 0};
  }
  base::Bytes key = ((bounds->start + bounds->end) / 2).to_key(bounds->width);
  const std::size_t kept = std::min(bounds->width, bounds->width + 2 - gap.significant_bytes());
  key.resize(kept);
  while (!key.empty() && key.back() == std::byte{0})
    key.pop_back();
  return {std::move(key), bounds, kept};
}

// All cuts of a plan of `count` parts have this scale; nothing where there is no room.
[[nodiscard]] inline std::optional<ReferenceBounds> reference_even_bounds(
    KeyRange range, std::uint64_t count, std::size_t key_bytes_max) {
  auto bounds = reference_bounds(range, key_bytes_max);
  if (!bounds || bounds->gap() == BigInteger{0}) return std::nullopt;
  while (bounds->gap() < BigInteger{count} * 2) {
    if (bounds->width == key_bytes_max) return std::nullopt;
    bounds = ReferenceBounds::at(range, bounds->width + 1);
  }
  return bounds;
}

[[nodiscard]] inline base::Bytes reference_cut(const ReferenceBounds& bounds,
                                               std::uint64_t index,
                                               std::uint64_t count) {
  return (bounds.start + bounds.gap() * index / count).to_key(bounds.width);
}

}  // namespace cadastre::shard
