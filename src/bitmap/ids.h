// Ids: what sets are made of, and how an id divides into chunk and slot.
//
//   id     63 ............................... 16 15 ..... 0
//          chunk: 48 bits, one container           slot

#pragma once

#include <cstdint>
#include <limits>

#include "base/strong.h"

namespace cadastre::bitmap {

using Id = base::Strong<struct IdTag, std::uint64_t>;
using Shard = base::Strong<struct ShardTag, std::uint16_t>;

// Closed at both ends: 2^64 - 1 is a legal id.
struct IdRange {
  Id first;
  Id last;

  [[nodiscard]] constexpr bool contains(Id id) const noexcept { return first <= id && id <= last; }
  friend bool operator==(const IdRange&, const IdRange&) = default;
};

inline constexpr unsigned kSlotBits = 16;
inline constexpr std::uint64_t kChunkMax = std::numeric_limits<std::uint64_t>::max() >> kSlotBits;
inline constexpr Id kIdMax{std::numeric_limits<std::uint64_t>::max()};

[[nodiscard]] constexpr std::uint64_t chunk_of(Id id) noexcept {
  return id.value() >> kSlotBits;
}

[[nodiscard]] constexpr std::uint16_t slot_of(Id id) noexcept {
  return static_cast<std::uint16_t>(id.value());
}

[[nodiscard]] constexpr Id id_at(std::uint64_t chunk, std::uint16_t slot) noexcept {
  return Id{chunk << kSlotBits | slot};
}

// The least id of a chunk: what a fence is.
[[nodiscard]] constexpr Id fence_at(std::uint64_t chunk) noexcept {
  return id_at(chunk, 0);
}

}  // namespace cadastre::bitmap
