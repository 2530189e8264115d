// Bytes: the one view of them, their order, and hexadecimal.
//
// Order is unsigned and byte-wise: the common prefix decides; if there is no difference, the shorter
// string is smaller. Never compare through `char`, whose sign would put 80 before 7f. A null view of
// size 0 equals every empty view.
//
// Everything here is a pure function.

#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/attributes.h"
#include "base/endian.h"

namespace cadastre::base {

using ByteView = std::span<const std::byte>;
using Bytes = std::vector<std::byte>;

[[nodiscard]] constexpr std::strong_ordering compare(ByteView a, ByteView b) noexcept {
  const std::size_t shared = std::min(a.size(), b.size());
  if (std::is_constant_evaluated()) {
    for (std::size_t i = 0; i < shared; ++i) {
      if (a[i] != b[i]) return a[i] <=> b[i];
    }
  } else if (shared != 0) {
    if (shared >= sizeof(std::uint64_t)) {  // Most keys differ early: no call for those.
      const auto a_word = load_be<std::uint64_t>(a.data());
      const auto b_word = load_be<std::uint64_t>(b.data());
      if (a_word != b_word) return a_word <=> b_word;
    }
    const int order = std::memcmp(a.data(), b.data(), shared);
    if (order != 0) return order <=> 0;
  }
  return a.size() <=> b.size();
}

[[nodiscard]] constexpr bool equal(ByteView a, ByteView b) noexcept {
  if (a.size() != b.size()) return false;
  if (std::is_constant_evaluated()) return compare(a, b) == std::strong_ordering::equal;
  return a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0;
}

[[nodiscard]] constexpr bool less(ByteView a, ByteView b) noexcept {
  return compare(a, b) < 0;
}

// Whether the two views share a byte of memory. Empty views overlap nothing.
[[nodiscard]] inline bool overlaps(ByteView a, ByteView b) noexcept {
  const auto a_begin = reinterpret_cast<std::uintptr_t>(a.data());
  const auto b_begin = reinterpret_cast<std::uintptr_t>(b.data());
  return a_begin < b_begin + b.size() && b_begin < a_begin + a.size() && !a.empty() && !b.empty();
}

[[nodiscard]] inline ByteView as_bytes(std::string_view text CAD_LIFETIMEBOUND) noexcept {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

[[nodiscard]] inline ByteView as_bytes(
    std::span<const std::uint8_t> bytes CAD_LIFETIMEBOUND) noexcept {
  return {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
}

[[nodiscard]] inline std::string_view as_text(ByteView bytes CAD_LIFETIMEBOUND) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[nodiscard]] inline Bytes to_owned(ByteView bytes) {
  return {bytes.begin(), bytes.end()};
}

// Lower-case, two digits for each byte.
[[nodiscard]] std::string to_hex(ByteView bytes);
void append_hex(std::string& out, ByteView bytes);

// Nothing on an odd length or on a character that is no hexadecimal digit. Takes both cases.
[[nodiscard]] std::optional<Bytes> from_hex(std::string_view digits);

// Offset of the first byte that is not part of well-formed UTF-8 (no surrogates, no overlong
// forms, nothing above U+10FFFF), or nothing if all of it is.
[[nodiscard]] std::optional<std::size_t> find_invalid_utf8(ByteView text) noexcept;

}  // namespace cadastre::base
