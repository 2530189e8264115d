// Bounds: how large the worlds are that the explorer walks through to their end.

#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <vector>

namespace cadastre::sim {

inline constexpr std::size_t kExplorerWorkers = 2;

struct Bound {
  std::string_view name;
  std::size_t roots = 1;    // shards that are registered
  std::uint8_t keys = 2;    // that a cursor may reach, at most 3
  std::uint64_t ticks = 4;  // the clock goes from 1 to this
  std::uint64_t lease_ticks = 2;
  std::uint8_t fence_max = 3;          // nobody acquires or unparks beyond it, at most 7
  std::uint8_t derived_fence_max = 3;  // the same for shards that a split made
  bool splits = false;                 // the first shard can be split, in both ways, at one point
  bool run_ends = false;               // the run can be cancelled
  std::size_t states_max = 20'000'000;
};

inline std::ostream& operator<<(std::ostream& out, const Bound& bound) {
  return out << bound.name;
}

enum class BoundSize : std::uint8_t {
  kTiny,   // seconds under a sanitizer
  kSmall,  // about a minute
  kLarge,  // by hand
};

[[nodiscard]] std::vector<Bound> bounds_of(BoundSize size);

}  // namespace cadastre::sim
