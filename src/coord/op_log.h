// Op-logs: the last few requests that changed a record, so that a retry is told apart from a new one.
//
// A retry window, not an audit trail: what falls out of it is harmless to repeat for other reasons,
// the fence above all. Entries are in the order of execution and their times never decrease.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ring_buffer.h"
#include "coord/identity.h"
#include "coord/limits.h"
#include "coord/states.h"

namespace cadastre::coord {

struct OpLogEntry {
  OpId op_id;
  std::uint64_t payload_hash = 0;  // never 0 in a log
  LogicalTime executed_at;         // never 0 in a log
  OpKind kind = OpKind::kCheckpoint;
  OpResult result = OpResult::kCompleted;

  friend bool operator==(const OpLogEntry&, const OpLogEntry&) = default;
};
static_assert(sizeof(OpLogEntry) == 32, "sixteen of them are most of a shard's record");

struct RunOpLogEntry {
  OpId op_id;
  std::uint64_t payload_hash = 0;
  LogicalTime executed_at;
  RunOpKind kind = RunOpKind::kCancelRun;
  std::vector<ShardId> registered;  // of kRegisterShards, in the caller's order; else empty

  friend bool operator==(const RunOpLogEntry&, const RunOpLogEntry&) = default;
};

using OpLog = base::RingBuffer<OpLogEntry, kOpLogCapacity>;
using RunOpLog = base::RingBuffer<RunOpLogEntry, kRunOpLogCapacity>;

// The entry with this op id, or null. There is at most one: an op id is logged once.
template <class Log>
[[nodiscard]] auto find_op(const Log& log, OpId op) noexcept -> decltype(log.get(0)) {
  for (const auto& stretch : log.stretches()) {
    for (const auto& entry : stretch) {
      if (entry.op_id == op) return &entry;
    }
  }
  return nullptr;
}

// When the next entry counts as executed: a clock that steps back does not order entries anew.
template <class Log>
[[nodiscard]] LogicalTime next_executed_at(const Log& log, LogicalTime now) noexcept {
  return log.empty() ? now : std::max(now, log.get(log.size() - 1)->executed_at);
}

}  // namespace cadastre::coord
