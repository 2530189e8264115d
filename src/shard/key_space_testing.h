// Bounded key spaces small enough to count: every key of at most `key_bytes_max` bytes has a rank,
// its position in the order, so that "the next key" and "no key in between" are plain arithmetic.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "shard/key_arith.h"
#include "shard/key_buf.h"
#include "shard/key_range.h"

namespace cadastre::shard {

class KeySpace {
 public:
  static constexpr std::size_t kKeyBytesMaxMax = 6;  // Ranks fit 64 bits.

  explicit KeySpace(std::size_t key_bytes_max) : key_bytes_max_(key_bytes_max) {
    CAD_CHECK(key_bytes_max <= kKeyBytesMaxMax, "ranks fit 64 bits");
  }

  [[nodiscard]] std::size_t key_bytes_max() const noexcept { return key_bytes_max_; }

  // How many keys there are.
  [[nodiscard]] std::uint64_t size() const noexcept { return keys_below(0); }

  // How many keys begin with a given prefix of `depth` bytes, itself included.
  [[nodiscard]] std::uint64_t keys_below(std::size_t depth) const noexcept {
    std::uint64_t count = 0;
    for (std::size_t i = depth; i <= key_bytes_max_; ++i)
      count = count * 256 + 1;
    return count;
  }

  [[nodiscard]] std::uint64_t rank(base::ByteView key) const noexcept {
    std::uint64_t rank = 0;
    for (std::size_t i = 0; i < key.size(); ++i)
      rank += 1 + std::to_integer<std::uint64_t>(key[i]) * keys_below(i + 1);
    return rank;
  }

  // The key of that rank, or nothing past the last one.
  [[nodiscard]] std::optional<base::Bytes> key_at(std::uint64_t rank) const {
    if (rank >= size()) return std::nullopt;
    base::Bytes key;
    while (rank != 0) {
      const std::uint64_t each = keys_below(key.size() + 1);
      key.push_back(static_cast<std::byte>((rank - 1) / each));
      rank = (rank - 1) % each;
    }
    return key;
  }

 private:
  std::size_t key_bytes_max_;
};

// All keys over `alphabet` with at most `key_bytes_max` bytes, in order.
[[nodiscard]] inline std::vector<base::Bytes> keys_over(std::span<const std::uint8_t> alphabet,
                                                        std::size_t key_bytes_max) {
  std::vector<base::Bytes> keys = {{}};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].size() == key_bytes_max) continue;
    for (const std::uint8_t byte : alphabet) {
      base::Bytes longer = keys[i];
      longer.push_back(static_cast<std::byte>(byte));
      keys.push_back(std::move(longer));
    }
  }
  std::ranges::sort(keys, [](const auto& a, const auto& b) { return base::less(a, b); });
  return keys;
}

// KeyArith with its limit as a value.
struct Arith {
  std::size_t key_bytes_max;
  std::optional<base::ByteView> (*prefix_successor)(base::ByteView, KeyBuf&) noexcept;
  std::optional<base::ByteView> (*key_successor)(base::ByteView, KeyBuf&) noexcept;
  std::optional<base::ByteView> (*byte_midpoint)(base::ByteView, base::ByteView, KeyBuf&) noexcept;
  std::optional<base::ByteView> (*balanced_split_point)(base::ByteView,
                                                        base::ByteView,
                                                        KeyBuf&) noexcept;
  std::optional<base::ByteView> (*interpolate_key)(KeyRange, CutPosition, KeyBuf&) noexcept;
};

template <std::size_t MaxKey>
inline constexpr Arith kArith = {MaxKey,
                                 &KeyArith<MaxKey>::prefix_successor,
                                 &KeyArith<MaxKey>::key_successor,
                                 &KeyArith<MaxKey>::byte_midpoint,
                                 &KeyArith<MaxKey>::balanced_split_point,
                                 &KeyArith<MaxKey>::interpolate_key};

// A repeatable stream of numbers for samples (SplitMix64).
class SampleStream {
 public:
  explicit SampleStream(std::uint64_t seed) noexcept : state_(seed) {}

  [[nodiscard]] std::uint64_t below(std::uint64_t bound) noexcept {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return (mixed ^ (mixed >> 31)) % bound;
  }

 private:
  std::uint64_t state_;
};

}  // namespace cadastre::shard
