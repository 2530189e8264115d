// Simulation: a whole run from one seed, and its repetition from its history.
//
//   const Report report = simulate({.seed = 7, .level = FaultLevel::kStormy});
//   replay(report.options, report.history);   // the same, without chance
//
// Stages: the scripted zombie, a warm-up, the safety stage, the liveness stage. A run ends at its
// first violation. Equal options give equal reports, on every machine.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sim/coord/events.h"
#include "sim/coord/faults.h"
#include "sim/coord/oracles/violation.h"
#include "sim/coord/step.h"
#include "sim/coord/world.h"

namespace cadastre::sim {

inline constexpr std::uint64_t kWarmUpOperations = 5;

struct SimulationOptions {
  std::uint64_t seed = 0;
  FaultLevel level = FaultLevel::kStormy;
  std::uint64_t safety_operations = 1000;
  std::uint64_t liveness_operations = 0;
  WorldOptions world = {};
};

// The usual world, with what the seed varies: cooldown, limits and memory are tight in some.
[[nodiscard]] SimulationOptions options_of(std::uint64_t seed,
                                           FaultLevel level,
                                           std::uint64_t operations);

struct Report {
  SimulationOptions options;
  std::uint64_t operations = 0;
  Events events;
  Violations violations;
  std::uint64_t end_time = 0;
  std::size_t non_terminal = 0;  // shards that are still Active
  History history;

  [[nodiscard]] bool converged() const noexcept { return non_terminal == 0; }
};

[[nodiscard]] Report simulate(const SimulationOptions& options);
[[nodiscard]] Report replay(const SimulationOptions& options, const History& history);

// The history of a run, and the steps that would come next. Those are not carried out: for finding
// out what a run did that ended in an abort.
[[nodiscard]] History look_ahead(const SimulationOptions& options);

// Everything but the history.
[[nodiscard]] std::string to_text(const Report& report);

}  // namespace cadastre::sim
