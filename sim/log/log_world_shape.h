// What a seed makes of the log's world: its size, the settings of its nodes, the faults of its network.

#pragma once

#include <chrono>
#include <cstdint>

#include "log/settings.h"
#include "sim/log/log_world.h"
#include "sim/network/faults.h"

namespace cadastre::sim {

// Luck for one purpose of a seed.
[[nodiscard]] std::uint64_t mixed(std::uint64_t seed, std::uint64_t what);
[[nodiscard]] log::Settings settings_of(const LogWorldOptions& options, std::uint64_t node);
[[nodiscard]] std::uint64_t drift_ppm_max(const LogWorldOptions& options);
// Of replicated groups, one client in three waits until a deposed leader knows what became of its commands (1.5).
[[nodiscard]] std::chrono::nanoseconds patience_of(const LogWorldOptions& options,
                                                   std::uint64_t client);
[[nodiscard]] NetworkFaults faults_to_nodes(std::uint64_t seed);
// Between voters everything is possible, also twice.
[[nodiscard]] NetworkFaults faults_of_voters(std::uint64_t seed);

}  // namespace cadastre::sim
