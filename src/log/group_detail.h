// What a group is doing here, in detail: for people who look into a running node. Positions, numbers and sizes; never a
// command's bytes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "log/conf_state.h"
#include "log/replica.h"
#include "log/types.h"

namespace cadastre::log {

// As the log thread sees it in one pass.
struct GroupDetail {
  std::vector<PeerProgress> progress = {};  // Of a leader: itself too.
  std::vector<ConfRecord> confs = {};       // By index; the last one is in force, or about to be.
  // Queues.
  std::size_t queued_commands = 0;  // Wait for the log thread.
  std::size_t queued_bytes = 0;
  std::size_t unapplied_commands = 0;  // Accepted and not answered, those in the queue included.
  std::size_t apply_entries = 0;       // Committed, and wait for the applier.
  std::size_t apply_bytes = 0;
  // Messages that wait for a sync, or for an install.
  std::size_t held_outputs = 0;
  std::size_t held_messages = 0;
  // Who waits.
  std::size_t waiting_entries = 0;  // Entries that somebody waits for.
  std::size_t readers = 0;          // Barriers without an answer.
  std::size_t read_rounds = 0;      // On their way to a quorum.
  std::size_t outcome_waits = 0;    // Terms that were lost, and whose commands wait.
  bool conf_waits = false;          // A change of membership, for its commit,
  bool conf_in_disk = false;        // or for its sync.
  bool transfer = false;            // Leadership is being handed over.
  bool installing = false;          // A snapshot is on its way into the state.
  std::uint64_t cache_bytes = 0;
};
// Nothing: the node is going down, or too many ask.
using DetailDone = std::move_only_function<void(std::optional<GroupDetail>)>;

struct EntryFacts {
  Position at;
  EntryType type = EntryType::kNormal;
  std::size_t bytes = 0;  // Of the body.
};

}  // namespace cadastre::log
