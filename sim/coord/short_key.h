// ShortKey: a key of at most eight bytes, by value. Simulated keyspaces are tiny, so that ranges
// touch, cursors meet and split points collide.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/random.h"

namespace cadastre::sim {

inline constexpr std::size_t kShortKeyMax = 8;

class ShortKey {
 public:
  constexpr ShortKey() noexcept = default;
  constexpr ShortKey(std::initializer_list<std::uint8_t> bytes) noexcept {
    for (const std::uint8_t byte : bytes)
      push_back(byte);
  }

  constexpr void push_back(std::uint8_t byte) noexcept {
    if (size_ < kShortKeyMax) bytes_[size_++] = static_cast<std::byte>(byte);
  }
  // The first eight bytes.
  [[nodiscard]] static ShortKey prefix_of(base::ByteView bytes) noexcept {
    ShortKey key;
    for (const std::byte byte : bytes.first(std::min(bytes.size(), kShortKeyMax)))
      key.push_back(static_cast<std::uint8_t>(byte));
    return key;
  }

  [[nodiscard]] base::ByteView view() const noexcept CAD_LIFETIMEBOUND {
    return base::ByteView(bytes_).first(size_);
  }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  friend bool operator==(const ShortKey&, const ShortKey&) noexcept = default;

 private:
  std::array<std::byte, kShortKeyMax> bytes_{};
  std::uint8_t size_ = 0;
};

// Any key of [low, high), one to three bytes where there is one; nothing if none was found.
[[nodiscard]] std::optional<ShortKey> draw_key(base::Random& random,
                                               base::ByteView low,
                                               base::ByteView high) noexcept;

// Any key strictly between the two.
[[nodiscard]] std::optional<ShortKey> draw_point(base::Random& random,
                                                 base::ByteView low,
                                                 base::ByteView high) noexcept;

}  // namespace cadastre::sim
