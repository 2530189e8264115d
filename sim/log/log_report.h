// LogReport: what a run of the log's world found, and what it reached on the way.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/log/fault_plan.h"

namespace cadastre::sim {

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
  std::uint64_t removals_told = 0;     // To nodes that did not know of theirs.
  std::uint64_t retreats = 0;          // Of leaders whose disks had little room.
  std::uint64_t appends_refused = 0;   // By nodes with less.
  std::uint64_t full_ends = 0;         // Processes that a full disk ended.
  std::uint64_t nodes_replaced = 0;    // By one with another id: their logs were damaged.
  std::uint64_t long_pauses = 0;
  std::uint64_t late_syncs = 0;  // As the log counts them.
  std::uint64_t joined = 0;      // Nodes that did not found a group and have its state.

  // The counts of another run too.
  void add(const LogReport& other);
};

[[nodiscard]] std::string to_text(const LogReport& report);  // The counts alone.

}  // namespace cadastre::sim
