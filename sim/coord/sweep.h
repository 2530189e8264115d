// Sweep: many seeds, one after the other, and what they reached together.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/function_ref.h"
#include "sim/coord/events.h"
#include "sim/coord/faults.h"
#include "sim/coord/simulation.h"
#include "sim/coord/world.h"

namespace cadastre::sim {

struct SweepOptions {
  std::uint64_t first_seed = 0;
  std::uint64_t seeds = 1;
  std::optional<FaultLevel> level = std::nullopt;  // absent: seed n has level n mod 3
  std::uint64_t operations = 1000;
  SimBackend backend = SimBackend::kMemory;
};

struct SweepReport {
  std::uint64_t seeds = 0;
  std::uint64_t operations = 0;
  std::uint64_t simulated_time = 0;
  Events events;
  std::optional<Report> failure;  // the first
};

// Until the first failure, or until `goes_on`, asked before each seed, says no. If a check of the
// code under test aborts, the seed and how to repeat it are printed first.
[[nodiscard]] SweepReport sweep(const SweepOptions& options, base::FunctionRef<bool()> goes_on);

[[nodiscard]] std::string to_text(const SweepReport& report);

// How to see this run again.
[[nodiscard]] std::string repeat_command(const SimulationOptions& options);

}  // namespace cadastre::sim
