// Shrinking: the shortest history that still fails, by taking out pieces as long as it does.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/function_ref.h"
#include "sim/coord/simulation.h"
#include "sim/coord/step.h"

namespace cadastre::sim {

inline constexpr std::size_t kShrinkAttemptsMax = 4000;

// Halves, quarters, ... single steps. `fails` is asked about each candidate, at most
// kShrinkAttemptsMax times; `history` itself fails.
[[nodiscard]] History shrink(History history, base::FunctionRef<bool(const History&)> fails);

enum class Ending : std::uint8_t {
  kPassed,
  kViolated,  // an oracle spoke
  kAborted,   // a check of the code under test ended the process
};

// In a process of its own, whose abort does not end ours. Its error output is dropped.
[[nodiscard]] Ending simulate_in_child(const SimulationOptions& options);
[[nodiscard]] Ending replay_in_child(const SimulationOptions& options, const History& history);

// Shrinks a history that ends as `ending` to one that ends alike.
[[nodiscard]] History shrink_failure(const SimulationOptions& options,
                                     const History& history,
                                     Ending ending);

// What a run did whose simulation aborts, up to the operation that aborts it.
[[nodiscard]] History history_of_abort(const SimulationOptions& options);

// A history, step by step.
[[nodiscard]] std::string to_text(const History& history);

}  // namespace cadastre::sim
