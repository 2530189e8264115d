// The text of an error, for tests.

#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace cadastre::shard {

inline constexpr std::size_t kErrorTextMax = 512;

template <class E>
[[nodiscard]] std::string text_of(const E& error) {
  std::array<char, kErrorTextMax> buffer{};
  char* const end = format_to(buffer.data(), buffer.data() + buffer.size(), error);
  return {buffer.data(), end};
}

}  // namespace cadastre::shard
