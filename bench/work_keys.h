// The keys that every side of a coordination benchmark works on: shard n is the range [shard_start(n),
// shard_start(n + 1)), and cursor_key(n, step) grows inside it. Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace cadastre::bench {

inline constexpr std::size_t kWorkShards = 1'024;
inline constexpr std::size_t kCursorKeyBytes = 32;

[[nodiscard]] inline std::string shard_start(std::uint64_t shard) {
  return fmt::format("work/{:010}/", shard);
}

[[nodiscard]] inline std::string cursor_key(std::uint64_t shard, std::uint64_t step) {
  return shard_start(shard) + fmt::format("{:016x}", step);
}

}  // namespace cadastre::bench
