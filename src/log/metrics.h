// What an operator sees of the log (spec section 11), as plain readings; a server gives them their names
// and labels. Recorded from the log's threads, read from any.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "log/histogram.h"
#include "log/propose.h"

namespace cadastre::log {

using Counter = std::atomic<std::uint64_t>;

// log_propose_seconds{stage}, in nanoseconds, once for each batch.
struct GroupMetrics {
  Histogram queue_ns;   // from the batch's first command to the engine
  Histogram write_ns;   // from the engine to the disk
  Histogram commit_ns;  // from the engine to the commit; of a group on one disk that is its sync
  Histogram apply_ns;   // from the commit to the answer
  Histogram batch_commands;

  // log_outcome_total{kind}
  Counter applied{0};
  std::array<Counter, 6> errors{};                  // By ProposeError.
  Counter system_refused{0};                        // Must stay 0.
  Counter leader_changes{0};                        // Leaders of new terms that were seen here.
  std::array<Counter, kReadModes> read_barriers{};  // By ReadMode; by lease only those that were.

  void record(ReadMode mode) noexcept {
    read_barriers[static_cast<std::size_t>(mode)].fetch_add(1, std::memory_order_relaxed);
  }
  void record(ProposeError error, std::uint64_t times) noexcept {
    errors[static_cast<std::size_t>(error)].fetch_add(times, std::memory_order_relaxed);
  }
};

struct NodeMetrics {
  Histogram set_bytes;
  Histogram set_groups;
  Histogram set_commands;
  Histogram sync_ns;
  Histogram pass_ns;
  Counter passes{0};
  Counter late_syncs{0};      // Not back after kSyncLate.
  Counter handover_waits{0};  // Sets that waited for callers to come back.
  Counter truncations{0};

  // Of replicated groups.
  Counter frames_dropped{0};       // Full queue, or not from whom they said.
  Counter frames_malformed{0};     // No message, or one that no peer may send.
  Counter frames_unknown{0};       // Of a group that is not here.
  Counter frames_of_strangers{0};  // Of nodes that are no members, and no leaders or candidates.
  Counter appends_refused{0};      // The applier is too far behind (L-9).
  Counter votes_dropped{0};        // By the vote guard.
  Counter read_rounds{0};
  Counter old_reads{0};    // Of entries that were no longer in memory (L-39).
  Counter sync_reads{0};   // The same, but the log thread had to wait for them.
  Counter cache_bytes{0};  // Entries in memory, of all groups, when the house was last kept.
  Counter snapshots_made{0};
  Counter snapshots_sent{0};  // Offered to peers.
  Counter snapshots_installed{0};
  Counter snapshots_failed{0};  // Not made, not staged, or given up.
  Counter stalls{0};  // Passes that came half an election timeout after the one before (L-62).
};

}  // namespace cadastre::log
