#include "shard/wide_key.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "shard/key_range.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {
namespace {

constexpr Wide kWideMax = ~Wide{0};

// Calls take(index, word) for each word of B - A modulo 256^width, from the right. Returns the last
// borrow: 1 when B, where an empty end reads as 0, is below A.
template <class Take>
std::uint64_t subtract_bounds(KeyRange range, std::size_t width, Take take) noexcept {
  std::uint64_t borrow = 0;
  std::size_t index = 0;
  for (std::size_t end = width; end > 0; end -= std::min(end, kWordBytes), ++index) {
    const std::uint64_t a_word = word_ending_at(range.start, end);
    const std::uint64_t b_word = word_ending_at(range.end, end);
    std::uint64_t difference = b_word - a_word - borrow;
    borrow = static_cast<std::uint64_t>(b_word < a_word) |
             static_cast<std::uint64_t>(b_word == a_word && borrow != 0);
    if (end < kWordBytes) difference &= (std::uint64_t{1} << (8 * end)) - 1;
    take(index, difference);
  }
  return borrow;
}

}  // namespace

Gap measure_gap(KeyRange range, std::size_t width) noexcept {
  std::size_t significant = 0;
  std::array<std::uint64_t, 2> lowest{};
  const std::uint64_t borrow =
      subtract_bounds(range, width, [&](std::size_t index, std::uint64_t word) noexcept {
        if (index < lowest.size()) lowest[index] = word;
        if (word == 0) return;
        significant = index * kWordBytes + (static_cast<std::size_t>(std::bit_width(word)) + 7) / 8;
      });
  if (range.end.empty() && borrow == 0) {  // A is 0, so D is exactly 256^width.
    significant = width + 1;
    if (width < 2 * kWordBytes) {
      lowest[width / kWordBytes] = std::uint64_t{1} << (8 * (width % kWordBytes));
    }
  }
  const Wide low = Wide{lowest[1]} << kWordBits | lowest[0];
  return {significant, significant > 2 * kWordBytes ? kWideMax : low};
}

std::optional<std::size_t> even_width(KeyRange range,
                                      std::uint64_t count,
                                      std::size_t max_key) noexcept {
  std::size_t width = initial_width(range);
  if (width > max_key || is_empty_range(range)) return std::nullopt;
  const Gap gap = measure_gap(range, width);
  if (gap.significant_bytes == 0) return std::nullopt;
  const Wide least = Wide{2} * count;
  for (Wide size = gap.low; size < least; size <<= 8) {
    if (++width > max_key) return std::nullopt;
  }
  return width;
}

void write_gap_words(KeyRange range, std::size_t width, std::uint64_t* words) noexcept {
  words[word_count(width) - 1] = 0;
  const std::uint64_t borrow = subtract_bounds(
      range, width,
      [words](std::size_t index, std::uint64_t word) noexcept { words[index] = word; });
  if (range.end.empty() && borrow == 0) {
    words[width / kWordBytes] |= std::uint64_t{1} << (8 * (width % kWordBytes));
  }
}

std::uint64_t divide_words(std::uint64_t* words,
                           std::size_t count,
                           std::uint64_t divisor) noexcept {
  std::uint64_t remainder = 0;
  for (std::size_t i = count; i > 0; --i) {
    const Wide dividend = Wide{remainder} << kWordBits | words[i - 1];
    words[i - 1] = static_cast<std::uint64_t>(dividend / divisor);
    remainder = static_cast<std::uint64_t>(dividend % divisor);
  }
  return remainder;
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
