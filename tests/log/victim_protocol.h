// What log_victim and the test that kills it agree on.
//
//   log_victim work DIRECTORY LIFE     proposes numbers until it is killed; writes each one that was
//                                      executed to its standard output, eight bytes, when it is told so
//   log_victim verify DIRECTORY 0      opens the log; for each group writes group, term, digest, count and
//                                      the numbers that it has executed, as words of eight bytes; ends with 0
//
// DIRECTORY holds the log in "log" and the states of the groups in "state.1", "state.2", ...

#pragma once

#include <cstdint>

namespace cadastre::log {

inline constexpr std::uint64_t kVictimGroups = 4;
inline constexpr std::uint64_t kVictimSubmitters = 3;

// A number says who proposed it, in which life of the process, and as which of its own.
struct VictimNumber {
  std::uint64_t life = 0;
  std::uint64_t submitter = 0;
  std::uint64_t count = 0;

  [[nodiscard]] static constexpr VictimNumber of(std::uint64_t number) noexcept {
    return {number >> 40U, (number >> 32U) & 0xffU, number & 0xffff'ffffU};
  }
  [[nodiscard]] constexpr std::uint64_t value() const noexcept {
    return life << 40U | submitter << 32U | count;
  }
  // From 1. A submitter visits the groups in turn.
  [[nodiscard]] constexpr std::uint64_t group() const noexcept { return count % kVictimGroups + 1; }
};

}  // namespace cadastre::log
