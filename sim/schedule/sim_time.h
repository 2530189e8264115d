// SimTime: nanoseconds since a simulation began. It never goes back, and no node can read it: nodes
// have clocks (sim/clock), which may be wrong.

#pragma once

#include <chrono>

namespace cadastre::sim {

struct Simulated {
  // NOLINTBEGIN(readability-identifier-naming): the names that <chrono> asks of a clock
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Simulated>;
  static constexpr bool is_steady = true;
  // NOLINTEND(readability-identifier-naming)
};

using SimTime = Simulated::time_point;

// For people.
[[nodiscard]] inline double in_seconds(std::chrono::nanoseconds time) noexcept {
  return std::chrono::duration<double>(time).count();
}

}  // namespace cadastre::sim
