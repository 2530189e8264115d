// What can be wrong with a shard's range and metadata.

#pragma once

#include <cstdint>
#include <string_view>

#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

// In the order of detection. A caller can only offer another spec.
struct SpecError {
  enum class Code : std::uint8_t {
    kKeyTooLarge,       // size, max; `which` names the bound
    kMetadataTooLarge,  // size, max
    kInvertedRange,     // start_len, end_len: start >= end
  };
  enum class Bound : std::uint8_t {
    kNone,
    kStart,
    kEnd,
  };

  Code code{};
  Bound which = Bound::kNone;  // Says more, and does not count for equality.
  std::uint64_t first = 0;     // size or start_len
  std::uint64_t second = 0;    // max or end_len

  [[nodiscard]] static constexpr SpecError key_too_large(std::uint64_t size,
                                                         std::uint64_t max,
                                                         Bound which = Bound::kNone) noexcept {
    return {Code::kKeyTooLarge, which, size, max};
  }
  [[nodiscard]] static constexpr SpecError metadata_too_large(std::uint64_t size,
                                                              std::uint64_t max) noexcept {
    return {Code::kMetadataTooLarge, Bound::kNone, size, max};
  }
  [[nodiscard]] static constexpr SpecError inverted_range(std::uint64_t start_len,
                                                          std::uint64_t end_len) noexcept {
    return {Code::kInvertedRange, Bound::kNone, start_len, end_len};
  }

  friend constexpr bool operator==(const SpecError& a, const SpecError& b) noexcept {
    return a.code == b.code && a.first == b.first && a.second == b.second;
  }
};

[[nodiscard]] std::string_view code_name(const SpecError& error) noexcept;
char* format_to(char* first, char* last, const SpecError& error) noexcept;

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
