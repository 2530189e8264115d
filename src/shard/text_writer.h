// TextWriter: composes an error's text into a caller's buffer. Internal to the room.
//
// Errors here own no strings; their text is made on demand by format_to(first, last, error), which
// writes at most last - first characters, cuts what does not fit, and returns the new end. It prints
// lengths, counts, ids and rows, never a key's bytes: keys may be secrets.

#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

class TextWriter {
 public:
  TextWriter(char* first, char* last) noexcept : at_(first), last_(last) {}

  TextWriter& text(std::string_view words) noexcept {
    const std::size_t room = std::min(words.size(), static_cast<std::size_t>(last_ - at_));
    if (room != 0) std::memcpy(at_, words.data(), room);
    at_ += room;
    return *this;
  }

  TextWriter& number(std::uint64_t value) noexcept {
    char digits[20];  // NOLINT(modernize-avoid-c-arrays): to_chars wants pointers
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    return text({digits, static_cast<std::size_t>(end - digits)});
  }

  // Appends another error's text.
  template <class E>
  TextWriter& error(const E& inner) noexcept {
    at_ = format_to(at_, last_, inner);
    return *this;
  }

  [[nodiscard]] char* end() const noexcept { return at_; }

 private:
  char* at_;
  char* last_;
};

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
