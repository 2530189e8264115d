// Range arithmetic on byte keys: successors, midpoints, fair cuts.
//
// "The next key" and "no key in between" refer to the bounded key space: all keys of at most
// kMaxKeySize bytes. Every function writes into the caller's KeyBuf and returns a view of it, or
// nothing where no such key exists; then the buffer's content is unspecified. None allocates.
//
// Inputs must not overlap the buffer, except that the two successors work in place when the input is
// the buffer's own view. Checked builds abort on a violation.
//
// Which one to call: `balanced_split_point` to cut a range in two; `byte_midpoint` only where the
// result must equal the origin's, for it cuts ("a", "b") right behind "a".

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/attributes.h"
#include "base/bytes.h"
#include "shard/key_buf.h"
#include "shard/key_range.h"
#include "shard/limits.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

// Cut number `index` of the `count - 1` that divide a range into `count` equal parts.
struct CutPosition {
  std::uint64_t index;  // 1 <= index < count
  std::uint64_t count;
};

// The functions below with the size limit as a parameter, so that tests and fuzzing reach the
// branches at the limit with tiny keys. Instantiated for 1, 2, 3, 4, 6 and kMaxKeySize.
template <std::size_t MaxKey>
struct KeyArith {
  static_assert(MaxKey >= 1 && MaxKey <= kMaxKeySize);

  [[nodiscard]] static std::optional<ByteView> prefix_successor(ByteView prefix,
                                                                KeyBuf& out) noexcept;
  [[nodiscard]] static std::optional<ByteView> key_successor(ByteView key, KeyBuf& out) noexcept;
  [[nodiscard]] static std::optional<ByteView> byte_midpoint(ByteView a,
                                                             ByteView b,
                                                             KeyBuf& out) noexcept;
  [[nodiscard]] static std::optional<ByteView> balanced_split_point(ByteView start,
                                                                    ByteView end,
                                                                    KeyBuf& out) noexcept;
  [[nodiscard]] static std::optional<ByteView> interpolate_key(KeyRange range,
                                                               CutPosition cut,
                                                               KeyBuf& out) noexcept;
};

// The least key greater than every key that starts with `prefix`. Nothing for an empty, an
// oversized and an all-ff prefix.
[[nodiscard]] inline std::optional<ByteView> prefix_successor(
    ByteView prefix, KeyBuf& out CAD_LIFETIMEBOUND) noexcept {
  return KeyArith<kMaxKeySize>::prefix_successor(prefix, out);
}

// The least key strictly greater than `key`.
[[nodiscard]] inline std::optional<ByteView> key_successor(ByteView key,
                                                           KeyBuf& out CAD_LIFETIMEBOUND) noexcept {
  return KeyArith<kMaxKeySize>::key_successor(key, out);
}

// A key strictly between two plain keys: an empty `b` is the least key, not infinity. Nothing
// exactly when no key lies between them.
[[nodiscard]] inline std::optional<ByteView> byte_midpoint(ByteView a,
                                                           ByteView b,
                                                           KeyBuf& out CAD_LIFETIMEBOUND) noexcept {
  return KeyArith<kMaxKeySize>::byte_midpoint(a, b, out);
}

// A short key strictly inside the range [start, end), where an empty end is infinity, that leaves
// each side at least 49.4 % of the byte space wherever the space is not dense. Nothing exactly when
// no key lies inside.
[[nodiscard]] inline std::optional<ByteView> balanced_split_point(
    ByteView start, ByteView end, KeyBuf& out CAD_LIFETIMEBOUND) noexcept {
  return KeyArith<kMaxKeySize>::balanced_split_point(start, end, out);
}

// The key at `cut.index / cut.count` of the range, wide enough that all cuts of this count are
// distinct and inside. Nothing on a bad position, a range without room, or past the size limit.
[[nodiscard]] inline std::optional<ByteView> interpolate_key(
    KeyRange range, CutPosition cut, KeyBuf& out CAD_LIFETIMEBOUND) noexcept {
  return KeyArith<kMaxKeySize>::interpolate_key(range, cut, out);
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
