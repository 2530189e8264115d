#include "coord/shard_record.h"

#include <array>
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

// Whether any two op ids are equal. Ids that fall on different bits of a small table are different,
// which settles nearly all logs in one pass; the others are compared pair by pair.
bool has_duplicate_ops(const OpLog& log) noexcept {
  constexpr std::size_t kTableBits = 1024;
  constexpr std::size_t kWordBits = 64;
  constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
  std::array<std::uint64_t, kTableBits / kWordBits> seen{};
  bool collided = false;
  for (const OpLogEntry& entry : log) {
    const std::uint64_t place = (entry.op_id.raw() * kSpread) >> (kWordBits - 10);
    std::uint64_t& word = seen[place / kWordBits];
    const std::uint64_t bit = std::uint64_t{1} << (place % kWordBits);
    collided |= (word & bit) != 0;
    word |= bit;
  }
  return collided && has_equal_pair(log);
}

bool is_time_ordered(const OpLog& log) noexcept {
  LogicalTime before;
  for (const OpLogEntry& entry : log) {
    if (entry.executed_at < before) return false;
    before = entry.executed_at;
  }
  return true;
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
  CAD_CHECK(held.has_value(), held.error().text.data());
}

bool is_legal_transition(ShardStatus from, ShardStatus to) noexcept {
  if (from == ShardStatus::kActive) return true;
  return from == ShardStatus::kParked && to == ShardStatus::kActive;
}

}  // namespace cadastre::coord
