// Fixed-width integers in memory: big-endian for everything that is ordered as bytes, little-endian
// for what only has to be read back.

#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>

namespace cadastre::base {

template <std::unsigned_integral T>
[[nodiscard]] constexpr T byte_swap(T value) noexcept {
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
  return value;
}

// `from` has at least sizeof(T) bytes; `to` has room for them. No alignment is needed.
template <std::unsigned_integral T>
[[nodiscard]] inline T load_be(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return std::endian::native == std::endian::big ? value : byte_swap(value);
}

template <std::unsigned_integral T>
inline void store_be(std::byte* to, T value) noexcept {
  if constexpr (std::endian::native != std::endian::big) value = byte_swap(value);
  std::memcpy(to, &value, sizeof value);
}

template <std::unsigned_integral T>
[[nodiscard]] inline T load_le(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return std::endian::native == std::endian::little ? value : byte_swap(value);
}

template <std::unsigned_integral T>
inline void store_le(std::byte* to, T value) noexcept {
  if constexpr (std::endian::native != std::endian::little) value = byte_swap(value);
  std::memcpy(to, &value, sizeof value);
}

}  // namespace cadastre::base
