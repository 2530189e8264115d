// Words for tests: byte literals.

#pragma once

#include <cstddef>
#include <string_view>

#include "base/bytes.h"

namespace cadastre::shard::testing {

// "abc"_b is a view of the literal's bytes, embedded zeros included.
inline base::ByteView operator""_b(const char* text, std::size_t size) {
  return base::as_bytes(std::string_view(text, size));
}

// `count` times the same byte.
inline base::Bytes repeated(unsigned char byte, std::size_t count) {
  return base::Bytes(count, static_cast<std::byte>(byte));
}

}  // namespace cadastre::shard::testing
