// The log's world: nodes with the real log on simulated disks, clocks and networks, clients around them,
// and everything going wrong that a plan says.
//
//   const LogReport report = simulate_log({.seed = 7});
//   report.violations.empty();
//
// A run has two stages: faults happen for `lasts`, then they stop, and within `calm` every client must get
// answers again and every member of a group have what was committed before. Equal options give equal reports. Oracles: log_node.h, raft_oracle.h; linearizability of
// every register; agreement of digests; liveness at the end.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "log/settings.h"
#include "sim/log/fault_plan.h"
#include "sim/log/log_client.h"

namespace cadastre::sim {

struct LogWorldOptions {
  std::uint64_t seed = 0;
  std::uint64_t nodes = 3;
  Registers registers = Registers::kOfNodes;  // kOfAll: the nodes share all groups.
  std::uint64_t founders = 3;  // Then the first so many are the voters, and others may join.
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

struct LogReport {
  std::vector<std::string> violations;
  std::vector<LogFault> faults;
  std::uint64_t tasks = 0;
  std::uint64_t messages = 0;
  std::uint64_t operations = 0;  // of clients
  std::uint64_t executed = 0;    // commands that were answered
  std::uint64_t crashes = 0;
  std::uint64_t sets = 0;
  std::uint64_t truncations = 0;
  std::uint64_t flips_found = 0;
  std::uint64_t elections = 0;
  std::uint64_t replaced = 0;  // Entries on a disk, by those of a later leader.
  std::uint64_t transfers = 0;
  std::uint64_t changes = 0;         // Of membership, answered as done.
  std::uint64_t configurations = 0;  // That disks had, beyond the first.
  std::uint64_t lease_reads = 0;
  std::uint64_t lease_refusals = 0;  // Readers that were held up and looked twice.
  std::uint64_t snapshots_made = 0;
  std::uint64_t snapshots_sent = 0;
  std::uint64_t snapshots_installed = 0;
  std::uint64_t snapshots_failed = 0;
  std::uint64_t stagings_cut = 0;      // By a crash of the receiver.
  std::uint64_t installs_resumed = 0;  // Begun by a process that died, completed by the next.
  std::uint64_t letters_refused = 0;   // Of a process whose successor was heard.
  std::uint64_t joined = 0;            // Nodes that did not found a group and have its state.

  // The counts of another run too.
  void add(const LogReport& other);
};

[[nodiscard]] LogReport simulate_log(const LogWorldOptions& options);

// The faults without which the run does not fail.
[[nodiscard]] std::vector<LogFault> shrink_log_failure(const LogWorldOptions& options,
                                                       const std::vector<LogFault>& faults);

[[nodiscard]] std::string to_text(const LogReport& report);  // The counts alone.
[[nodiscard]] std::string to_text(const LogWorldOptions& options, const LogReport& report);

}  // namespace cadastre::sim
