#include "shard/key_arith.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/bytes.h"
#include "base/check.h"
#include "shard/key_buf.h"
#include "shard/key_range.h"
#include "shard/limits.h"
#include "shard/view_guard.h"
#include "shard/wide_key.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {
namespace {

constexpr std::byte kMaxByte{0xff};

void check_no_overlap(ByteView input, const KeyBuf& out) noexcept {
  CAD_CHECK_SLOW(!out.overlaps(input), "inputs of range arithmetic do not overlap the result");
}

// Successors may also work in place.
void check_no_partial_overlap(ByteView input, const KeyBuf& out) noexcept {
  if (input.data() == out.view().data()) return;
  CAD_CHECK_SLOW(!out.overlaps(input),
                 "a successor's input is the result's own view or does not overlap it");
}

// floor((A + B) / 2) of the keys as `width`-byte integers, by (A & B) + ((A ^ B) >> 1), which has no
// carry out of the top. The first `shared` bytes are equal and already in `out`.
// Returns whether the result differs from A, that is, whether B - A >= 2.
bool write_midpoint(
    ByteView a, ByteView b, std::size_t width, std::size_t shared, std::byte* out) noexcept {
  std::uint64_t a_word = word_ending_at(a, width);
  std::uint64_t b_word = word_ending_at(b, width);
  std::uint64_t carry = 0;
  std::uint64_t changed = 0;
  for (std::size_t end = width;;) {
    const std::size_t next_end = end > kWordBytes ? end - kWordBytes : 0;
    const bool more = next_end > shared;
    const std::uint64_t a_next = more ? word_ending_at(a, next_end) : 0;
    const std::uint64_t b_next = more ? word_ending_at(b, next_end) : 0;
    const std::uint64_t half = ((a_word ^ b_word) >> 1) | (((a_next ^ b_next) & 1) << 63);
    const std::uint64_t partial = (a_word & b_word) + half;
    const std::uint64_t sum = partial + carry;
    carry = static_cast<std::uint64_t>(partial < half) | static_cast<std::uint64_t>(sum < partial);
    changed |= sum ^ a_word;
    store_word_ending_at(out, end, sum);
    if (!more) return changed != 0;
    end = next_end;
    a_word = a_next;
    b_word = b_next;
  }
}

// A + floor(D * index / count), in `width` bytes.
void write_interpolated(KeyRange range,
                        CutPosition cut,
                        std::size_t width,
                        std::byte* out) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): only the words in use are written.
  std::array<std::uint64_t, word_count(kMaxKeySize) + 1> words;
  const std::size_t used = word_count(width);
  write_gap_words(range, width, words.data());
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < used; ++i) {
    const Wide product = Wide{words[i]} * cut.index + carry;
    words[i] = static_cast<std::uint64_t>(product);
    carry = static_cast<std::uint64_t>(product >> kWordBits);
  }
  words[used] = carry;
  divide_words(words.data(), used + 1, cut.count);
  carry = 0;
  std::size_t index = 0;
  for (std::size_t end = width; end > 0; end -= std::min(end, kWordBytes), ++index) {
    const Wide sum = Wide{word_ending_at(range.start, end)} + words[index] + carry;
    store_word_ending_at(out, end, static_cast<std::uint64_t>(sum));
    carry = static_cast<std::uint64_t>(sum >> kWordBits);
  }
}

}  // namespace

template <std::size_t MaxKey>
std::optional<ByteView> KeyArith<MaxKey>::prefix_successor(ByteView prefix, KeyBuf& out) noexcept {
  check_no_partial_overlap(prefix, out);
  if (prefix.size() > MaxKey) return std::nullopt;
  std::size_t size = prefix.size();
  while (size > 0 && prefix[size - 1] == kMaxByte)
    --size;
  if (size == 0) return std::nullopt;
  std::byte* bytes = out.mutable_data();
  const std::byte last = prefix[size - 1];
  std::memmove(bytes, prefix.data(), size);
  bytes[size - 1] = static_cast<std::byte>(std::to_integer<unsigned>(last) + 1);
  out.set_size(size);
  return out.view();
}

template <std::size_t MaxKey>
std::optional<ByteView> KeyArith<MaxKey>::key_successor(ByteView key, KeyBuf& out) noexcept {
  if (key.size() >= MaxKey) return prefix_successor(key, out);
  check_no_partial_overlap(key, out);
  std::byte* bytes = out.mutable_data();
  if (!key.empty()) std::memmove(bytes, key.data(), key.size());
  bytes[key.size()] = std::byte{0};
  out.set_size(key.size() + 1);
  return out.view();
}

template <std::size_t MaxKey>
std::optional<ByteView> KeyArith<MaxKey>::byte_midpoint(ByteView a,
                                                        ByteView b,
                                                        KeyBuf& out) noexcept {
  check_no_overlap(a, out);
  check_no_overlap(b, out);
  const std::size_t width = std::max(a.size(), b.size());
  if (width > MaxKey) return std::nullopt;
  const std::size_t shared = common_prefix_size(a, b);
  if (shared == b.size()) return std::nullopt;  // b is a prefix of a, so a >= b.
  if (shared < a.size() && a[shared] > b[shared]) return std::nullopt;

  std::byte* bytes = out.mutable_data();
  if (shared != 0) std::memcpy(bytes, a.data(), shared);
  if (write_midpoint(a, b, width, shared, bytes)) {
    out.set_size(width);
    return out.view();
  }
  // B - A is 0 or 1 and `out` holds A, zero bytes and all.
  if (shared == a.size()) {
    // b extends a by zero bytes (D = 0), which leaves room for `a 00` if there are two or more of
    // them, or by zero bytes and a final 01 (D = 1), and then a padded to b's length lies inside.
    const bool only_zeros = b.back() == std::byte{0};
    if (only_zeros && b.size() < a.size() + 2) return std::nullopt;
    out.set_size(only_zeros ? a.size() + 1 : width);
    return out.view();
  }
  const auto next = key_successor(a, out);
  if (!next || !base::less(*next, b)) return std::nullopt;
  return next;
}

template <std::size_t MaxKey>
std::optional<ByteView> KeyArith<MaxKey>::balanced_split_point(ByteView start,
                                                               ByteView end,
                                                               KeyBuf& out) noexcept {
  check_no_overlap(start, out);
  check_no_overlap(end, out);
  const KeyRange range{start, end};
  std::size_t width = initial_width(range);
  if (width > MaxKey || is_empty_range(range)) return std::nullopt;

  Gap gap = measure_gap(range, width);
  if (gap.significant_bytes == 1 && width < MaxKey) {  // Too narrow for a fair cut: one byte more.
    ++width;
    ++gap.significant_bytes;
    gap.low <<= 8;
  }
  if (gap.low < 2) {
    const auto next = key_successor(start, out);
    if (!next || !key_below_end(*next, end)) return std::nullopt;
    return next;
  }

  std::byte* bytes = out.mutable_data();
  write_midpoint(start, end, width, 0, bytes);
  if (end.empty()) bytes[0] |= std::byte{0x80};  // Half of 256^width.
  std::size_t size = std::min(width, width + 2 - gap.significant_bytes);
  while (size > 0 && bytes[size - 1] == std::byte{0})
    --size;
  out.set_size(size);
  return out.view();
}

template <std::size_t MaxKey>
std::optional<ByteView> KeyArith<MaxKey>::interpolate_key(KeyRange range,
                                                          CutPosition cut,
                                                          KeyBuf& out) noexcept {
  check_no_overlap(range.start, out);
  check_no_overlap(range.end, out);
  if (cut.index == 0 || cut.index >= cut.count) return std::nullopt;
  const auto width = even_width(range, cut.count, MaxKey);
  if (!width) return std::nullopt;
  write_interpolated(range, cut, *width, out.mutable_data());
  out.set_size(*width);
  return out.view();
}

template struct KeyArith<1>;
template struct KeyArith<2>;
template struct KeyArith<3>;
template struct KeyArith<4>;
template struct KeyArith<6>;
template struct KeyArith<kMaxKeySize>;

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
