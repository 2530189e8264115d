// Even cuts: `count - 1` keys that divide a range into `count` parts of equal byte space.
//
// All cuts of one plan have the same width, so a plan of a million shards is one flat table of
// bytes, or a stream that holds two keys. Cut i is exactly interpolate_key(range, {i, count}); the
// stream gets from one to the next by addition instead of a division each.
//
//   EvenSplitPoints cuts;
//   if (!cuts.init({start, end}, 1'000'000)) ...        // no room for that many parts
//   while (auto key = cuts.next(buf)) use(*key);
//
// Byte space is not data: real keys cluster. Cut at sampled keys where there are any.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/attributes.h"
#include "base/bytes.h"
#include "shard/key_buf.h"
#include "shard/key_range.h"
#include "shard/limits.h"
#include "shard/view_guard.h"
#include "shard/wide_key.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

// The cuts in ascending order. About 8 KiB; allocates nothing.
class EvenSplitPoints {
 public:
  // False if `count` is 0, or if the range has no room for so many parts within the size limit.
  [[nodiscard]] bool init(KeyRange range, std::uint64_t count) noexcept;

  [[nodiscard]] std::size_t width() const noexcept { return width_; }
  [[nodiscard]] std::uint64_t remaining() const noexcept { return remaining_; }

  // The next cut, or nothing after the last one.
  [[nodiscard]] std::optional<ByteView> next(KeyBuf& out CAD_LIFETIMEBOUND) noexcept;

  // Writes the next cut's width() bytes to `out`. There is one left.
  void write_next(std::byte* out) noexcept;

 private:
  using Words = std::array<std::uint64_t, word_count(kMaxKeySize)>;

  std::size_t width_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t remaining_ = 0;
  std::uint64_t step_remainder_ = 0;  // D mod count: what a step of floor(D / count) falls short of
  std::uint64_t error_ = 0;           // Its sum so far, below count_; an overflow adds one unit.
  Words step_{};                      // floor(D / count), least significant word first
  Words current_{};                   // the last cut; at first the range's start
};

// A view of keys of equal width that lie back to back.
struct FixedWidthKeysView {
  std::span<const std::byte> bytes;
  std::size_t width = 1;

  [[nodiscard]] std::size_t size() const noexcept { return bytes.size() / width; }
  [[nodiscard]] ByteView operator[](std::size_t index) const noexcept {
    return bytes.subspan(index * width, width);
  }
};

// How wide the cuts of such a plan are, or nothing if there is no room for it.
[[nodiscard]] std::optional<std::size_t> even_split_width(KeyRange range,
                                                          std::uint64_t count) noexcept;

// Fills `out` with the count - 1 cuts. Nothing if there is no room in the range, or if `out` holds
// fewer than (count - 1) * even_split_width(range, count) bytes.
[[nodiscard]] std::optional<FixedWidthKeysView> even_split_points(
    KeyRange range, std::uint64_t count, std::span<std::byte> out CAD_LIFETIMEBOUND) noexcept;

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
