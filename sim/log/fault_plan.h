// What goes wrong in a run of the log's world, and when: a list that a seed decides and a failure shrinks.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/log/log_client.h"
#include "sim/schedule/node_id.h"

namespace cadastre::sim {

enum class LogFaultKind : std::uint8_t {
  kCrash,     // The node dies; of what was not synced, `amount` per mille stay. Back after `lasts`.
  kPause,     // The node stands still for `lasts`.
  kSlowSync,  // The next sync takes `lasts`.
  kFailedSync,  // The next sync fails: the node stops itself, and is back after `lasts`.
  kClockJump,   // The node's wall clock jumps by `lasts`, back if `amount` is odd.
  kDrift,       // The node's clock runs `amount` parts per million too fast, for ever,
  kSlowDrift,   // or too slow.
  kPartition,  // No frames between the node and clients for `lasts`; one way only if `amount` is not 0:
               // 1 to the node, 2 from it.
  kReset,      // Streams to the node break.
  kFlush,      // The state of one group, `amount`, is flushed.
  kCutPair,   // No frames from the node to voter `amount` for `lasts`.
  kIsolate,   // No frames between the node and the other voters for `lasts`, one way only as above.
  kTransfer,  // Whoever leads a group, both by `amount`, hands it over to this node.
  kMembership,  // Whoever leads a group is asked to change its members, by `amount` (membership_churn.h).
  kSlowFiles,    // The next work of the node on files of a checkpoint takes `lasts`,
  kFailedFiles,  // or fails.
  kCrashFed,  // The node dies when it is fed a snapshot next: while it fetches if `amount` is odd, else while it
      // installs. Back after `lasts`.
  kBitFlip,   // A bit of the node's log turns while it is down; the node must not come up again.
  kFullDisk,  // The node's disk has little room for `lasts`. By `amount`: low; low, then critical; low, then critical,
              // then a write fails, which ends the process: the next one has room.
};

struct LogFault {
  std::chrono::nanoseconds when{0};  // Since the run began.
  LogFaultKind kind = LogFaultKind::kCrash;
  NodeId node;
  std::chrono::nanoseconds lasts{0};
  std::uint64_t amount = 0;
};

struct PlanShape {
  std::uint64_t nodes = 3;
  std::uint64_t groups = 4;
  Registers registers = Registers::kOfNodes;
  std::uint64_t drift_ppm_max = 10'000;
  std::chrono::nanoseconds lasts{0};  // Of the stage in which faults happen.
  bool loses_disk = false;            // One of the voters, for ever.
};

// A pause or a sync so long is one of those that L-51 is about.
inline constexpr std::chrono::seconds kLongPause{5};

// In the order of their times.
[[nodiscard]] std::vector<LogFault> plan_faults(std::uint64_t seed, const PlanShape& shape);

[[nodiscard]] std::string to_text(const LogFault& fault);

}  // namespace cadastre::sim
