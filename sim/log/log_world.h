// The log's world: nodes with the real log on simulated disks, clocks and networks, clients around them,
// and everything going wrong that a plan says.
//
//   const LogReport report = simulate_log({.seed = 7});
//   report.violations.empty();
//
// A run has three stages: faults happen for `lasts`; then they stop, and within `calm` every client must get answers
// again and every member of a group have what was committed before; then nobody asks any more, and everything that was
// asked must be answered. Equal options give equal reports. Oracles: log_node.h, raft_oracle.h; linearizability of every
// register; agreement of digests; liveness at the end.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "log/settings.h"
#include "sim/log/fault_plan.h"
#include "sim/log/log_client.h"
#include "sim/log/log_report.h"

namespace cadastre::sim {

struct LogWorldOptions {
  std::uint64_t seed = 0;
  std::uint64_t nodes = 3;
  Registers registers = Registers::kOfNodes;  // kOfAll: the nodes share all groups.
  std::uint64_t founders = 3;  // Then the first so many are the voters, and others may join.
  bool loses_disk = false;     // One node refuses its log for ever, and a new one takes its place.
  std::uint64_t groups = 4;
  std::uint64_t clients = 6;
  bool lease_reads =
      false;  // With them clocks are wrong within their bound, without them far beyond.
  std::chrono::nanoseconds lasts = std::chrono::seconds(20);
  std::chrono::nanoseconds calm = std::chrono::seconds(10);
  std::chrono::nanoseconds think_most = std::chrono::milliseconds(40);
  std::optional<std::vector<LogFault>> faults = std::nullopt;  // Nothing: by the seed.
};

// The usual world, with what the seed varies: how many nodes, groups and clients, and how busy they are.
[[nodiscard]] LogWorldOptions log_world_of(std::uint64_t seed);
// The same with replicated groups on three or five voters, and perhaps nodes that may join.
[[nodiscard]] LogWorldOptions raft_world_of(std::uint64_t seed);

[[nodiscard]] LogReport simulate_log(const LogWorldOptions& options);

// The faults without which the run does not fail.
[[nodiscard]] std::vector<LogFault> shrink_log_failure(const LogWorldOptions& options,
                                                       const std::vector<LogFault>& faults);

[[nodiscard]] std::string to_text(const LogWorldOptions& options, const LogReport& report);

}  // namespace cadastre::sim
