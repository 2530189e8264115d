#include "coord/shard_record.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string_view>

#include "base/check.h"
#include "base/result.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "coord/op_log.h"
#include "coord/states.h"
#include "shard/cursor.h"

namespace cadastre::coord {
namespace {

bool has_equal_pair(const OpLog& log) noexcept {
  for (std::size_t i = 1; i < log.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (log.get(i)->op_id == log.get(j)->op_id) return true;
    }
  }
  return false;
}

// Four numbers that are compared at once.
using Quad = std::uint32_t __attribute__((vector_size(16)));

constexpr Quad turned(Quad quad) noexcept {
  return __builtin_shufflevector(quad, quad, 1, 2, 3, 0);
}

// Whether any number of `a` is also in `b`: all ones somewhere.
constexpr Quad common(Quad a, Quad b) noexcept {
  Quad equal = static_cast<Quad>(a == b);
  for (int turn = 1; turn < 4; ++turn) {
    b = turned(b);
    equal |= static_cast<Quad>(a == b);
  }
  return equal;
}

// Whether two of the four are equal.
constexpr Quad repeated(Quad quad) noexcept {
  const Quad next = turned(quad);
  return static_cast<Quad>(quad == next) | static_cast<Quad>(quad == turned(next));
}

// Whether two of the ids in a full log may be equal: their low halves are. This is the usual state
// of a shard that is worked on, and its check runs with every request.
bool full_log_may_repeat(const OpLog& log) noexcept {
  static_assert(kOpLogCapacity == 16);
  const auto quad = [&log](std::size_t first) {
    const auto half = [&log](std::size_t index) {
      return static_cast<std::uint32_t>(log.get(index)->op_id.raw());
    };
    return Quad{half(first), half(first + 1), half(first + 2), half(first + 3)};
  };
  const Quad a = quad(0);
  const Quad b = quad(4);
  const Quad c = quad(8);
  const Quad d = quad(12);
  const Quad equal = repeated(a) | repeated(b) | repeated(c) | repeated(d) | common(a, b) |
                     common(a, c) | common(a, d) | common(b, c) | common(b, d) | common(c, d);
  return (equal[0] | equal[1] | equal[2] | equal[3]) != 0;
}

bool has_duplicate_ops(const OpLog& log) noexcept {
  if (log.full() && !full_log_may_repeat(log)) return false;
  return has_equal_pair(log);
}

bool is_time_ordered(const OpLog& log) noexcept {
  bool ordered = true;
  LogicalTime before;
  for (const auto& stretch : log.stretches()) {
    for (const OpLogEntry& entry : stretch) {
      ordered &= entry.executed_at >= before;
      before = entry.executed_at;
    }
  }
  return ordered;
}

bool all_derived(const SpawnedView& spawned) noexcept {
  bool derived = true;
  for (std::size_t i = 0; i < spawned.size(); ++i)
    derived &= spawned[i].is_derived();
  return derived;
}

std::unexpected<BrokenInvariant> broken(int number, std::string_view text) noexcept {
  return base::fail(BrokenInvariant{number, text});
}

}  // namespace

Result<void, BrokenInvariant> check_invariants(const ShardRecordView& record) noexcept {
  const ShardState& state = record.state;
  if (state.park_reason.has_value() != (state.status == ShardStatus::kParked)) {
    return broken(1, "a park reason is present exactly if the shard is parked");
  }
  if (state.lease && state.lease->deadline == LogicalTime()) {
    return broken(2, "a lease has a deadline");
  }
  if (is_terminal(state.status) && state.lease) return broken(3, "a terminal shard has no lease");
  if (!is_assigned(state.fence)) return broken(4, "the fence is at least 1");
  if (state.op_log.size() > kOpLogCapacity) return broken(5, "the op-log is bounded");
  if (state.status == ShardStatus::kSplit && record.spawned.empty()) {
    return broken(6, "a split shard has spawned something");
  }
  if (state.parent.has_value() != state.shard.is_derived()) {
    return broken(7, "a parent is present exactly if the id is derived");
  }
  if (!all_derived(record.spawned)) return broken(8, "spawned ids are derived");
  if (has_duplicate_ops(state.op_log)) return broken(9, "op ids are distinct");
  if (record.spawned.size() > kMaxSpawnedPerShard) return broken(10, "spawned shards are bounded");
  if (!is_time_ordered(state.op_log)) return broken(11, "the op-log is ordered by time");
  if (record.cursor.last_key() &&
      shard::check_cursor_bounds(record.cursor, record.spec) != shard::CursorBounds::kInBounds) {
    return broken(12, "the cursor is inside the spec");
  }
  return {};
}

void assert_invariants(const ShardRecordView& record) noexcept {
  const auto held = check_invariants(record);
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): its texts are literals
  CAD_CHECK(held.has_value(), held.error().text.data());
}

bool is_legal_transition(ShardStatus from, ShardStatus to) noexcept {
  if (from == ShardStatus::kActive) return true;
  return from == ShardStatus::kParked && to == ShardStatus::kActive;
}

}  // namespace cadastre::coord
