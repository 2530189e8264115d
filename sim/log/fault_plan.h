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
  kDrift,       // The node's clock runs `amount` parts per million too fast, for ever.
  kPartition,  // No frames between the node and clients for `lasts`; one way only if `amount` is not 0:
               // 1 to the node, 2 from it.
  kReset,      // Streams to the node break.
  kFlush,      // The state of one group, `amount`, is flushed.
  kCutPair,  // No frames from the node to voter `amount` for `lasts`.
  kIsolate,  // No frames between the node and the other voters for `lasts`, one way only as above.
  kBitFlip,  // A bit of the node's log turns while it is down; the node must not come up again.
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
  std::chrono::nanoseconds lasts{0};  // Of the stage in which faults happen.
};

// In the order of their times.
[[nodiscard]] std::vector<LogFault> plan_faults(std::uint64_t seed, const PlanShape& shape);

[[nodiscard]] std::string to_text(const LogFault& fault);

}  // namespace cadastre::sim
