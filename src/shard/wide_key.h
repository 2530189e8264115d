// Keys as wide integers: the arithmetic under key_arith.h and split_points.h. Internal to the room.
//
// A key of at most `width` bytes reads as a big-endian integer of exactly `width` bytes, padded with
// zero bytes on the right. Everything walks 8-byte words from the right end; the leftmost word may
// be partial.

#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/endian.h"
#include "shard/key_range.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

using base::ByteView;

// __extension__ because ISO C++ has no 128-bit integer.
__extension__ using Wide = unsigned __int128;

inline constexpr std::size_t kWordBytes = 8;
inline constexpr std::size_t kWordBits = 64;

// Bytes [end - 8, end) where at least one of them is outside the key.
[[nodiscard]] inline std::uint64_t edge_word(ByteView key, std::size_t end) noexcept {
  const std::size_t begin = end > kWordBytes ? end - kWordBytes : 0;
  if (begin >= key.size()) return 0;
  if (key.size() >= kWordBytes) {
    if (end <= key.size())
      return base::load_be<std::uint64_t>(key.data()) >> (8 * (kWordBytes - end));
    if (end >= kWordBytes) {
      const std::size_t present = key.size() - begin;
      const auto last = base::load_be<std::uint64_t>(key.data() + key.size() - kWordBytes);
      return last << (8 * (kWordBytes - present));
    }
  }
  std::uint64_t word = 0;
  for (std::size_t i = begin; i < end; ++i) {
    word = word << 8 | (i < key.size() ? std::to_integer<std::uint64_t>(key[i]) : 0);
  }
  return word;
}

// Bytes [end - 8, end) of the padded key as an integer; bytes left of the key's beginning are zero.
[[nodiscard]] inline std::uint64_t word_ending_at(ByteView key, std::size_t end) noexcept {
  if (end >= kWordBytes && end <= key.size()) [[likely]]
    return base::load_be<std::uint64_t>(key.data() + end - kWordBytes);
  return edge_word(key, end);
}

// Writes bytes [end - 8, end); what would lie left of `out` must be zero and is dropped.
inline void store_word_ending_at(std::byte* out, std::size_t end, std::uint64_t word) noexcept {
  if (end >= kWordBytes) [[likely]] {
    base::store_be(out + end - kWordBytes, word);
    return;
  }
  for (std::size_t i = end; i > 0; --i, word >>= 8)
    out[i - 1] = static_cast<std::byte>(word & 0xff);
}

// How many leading bytes the two keys share.
[[nodiscard]] inline std::size_t common_prefix_size(ByteView a, ByteView b) noexcept {
  const std::size_t limit = std::min(a.size(), b.size());
  std::size_t at = 0;
  for (; at + kWordBytes <= limit; at += kWordBytes) {
    const auto difference =
        base::load_be<std::uint64_t>(a.data() + at) ^ base::load_be<std::uint64_t>(b.data() + at);
    if (difference != 0) return at + static_cast<std::size_t>(std::countl_zero(difference)) / 8;
  }
  while (at < limit && a[at] == b[at])
    ++at;
  return at;
}

// D = B - A of a range whose bounds are padded to one width; an empty end counts as 256^width.
struct Gap {
  std::size_t significant_bytes;  // 0 when D is 0; at most width + 1
  Wide low;                       // D itself if it has at most 16 significant bytes, else all ones
};

// Whether no key can lie in the range because its bounds are equal or inverted.
[[nodiscard]] inline bool is_empty_range(KeyRange range) noexcept {
  return !range.end.empty() && !base::less(range.start, range.end);
}

[[nodiscard]] inline std::size_t initial_width(KeyRange range) noexcept {
  return std::max({range.start.size(), range.end.size(), std::size_t{1}});
}

// The range is not empty and both bounds have at most `width` bytes.
[[nodiscard]] Gap measure_gap(KeyRange range, std::size_t width) noexcept;

// The least width, from the initial one up, at which `count` equal parts of the range are at least
// two units each. Nothing if that is above `max_key`, if D is 0, or if the range is empty.
[[nodiscard]] std::optional<std::size_t> even_width(KeyRange range,
                                                    std::uint64_t count,
                                                    std::size_t max_key) noexcept;

// D as words, least significant first. `words` holds word_count(width) of them.
void write_gap_words(KeyRange range, std::size_t width, std::uint64_t* words) noexcept;

// Divides in place and returns the remainder.
std::uint64_t divide_words(std::uint64_t* words, std::size_t count, std::uint64_t divisor) noexcept;

// Words for D: one more than the width needs, for the bit of 256^width.
[[nodiscard]] constexpr std::size_t word_count(std::size_t width) noexcept {
  return width / kWordBytes + 1;
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
