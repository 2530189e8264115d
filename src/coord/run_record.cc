#include "coord/run_record.h"

#include <algorithm>
#include <expected>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/limits.h"
#include "coord/op_log.h"
#include "coord/shard_record.h"
#include "coord/states.h"

namespace cadastre::coord {
namespace {

template <class T>
bool has_duplicates(std::vector<T> values) {
  std::ranges::sort(values);
  return std::ranges::adjacent_find(values) != values.end();
}

std::vector<OpId> op_ids(const RunOpLog& log) {
  std::vector<OpId> ids;
  for (const RunOpLogEntry& entry : log)
    ids.push_back(entry.op_id);
  return ids;
}

bool is_time_ordered(const RunOpLog& log) noexcept {
  LogicalTime before;
  for (const RunOpLogEntry& entry : log) {
    if (entry.executed_at < before) return false;
    before = entry.executed_at;
  }
  return true;
}

bool results_match_kinds(const RunOpLog& log) noexcept {
  return std::ranges::all_of(log, [](const RunOpLogEntry& entry) {
    return entry.registered.empty() == (entry.kind != RunOpKind::kRegisterShards);
  });
}

std::unexpected<BrokenInvariant> broken(int number, std::string_view text) noexcept {
  return base::fail(BrokenInvariant{number, text});
}

}  // namespace

Result<void, InvalidConfig> validate(const RunConfig& config) noexcept {
  if (config.lease_duration == 0) return base::fail(InvalidConfig{});
  return {};
}

Result<void, BrokenInvariant> check_invariants(const RunRecord& record) {
  if (record.status == RunStatus::kActive && record.root_shards.empty()) {
    return broken(1, "an active run has root shards");
  }
  if (record.completed_at.has_value() != is_terminal(record.status)) {
    return broken(2, "a completion time is present exactly if the run is terminal");
  }
  if (record.created_at == LogicalTime()) return broken(3, "a run has a creation time");
  if (record.status == RunStatus::kInitializing && !record.root_shards.empty()) {
    return broken(4, "an initializing run has no root shards");
  }
  if (record.completed_at && *record.completed_at < record.created_at) {
    return broken(5, "a run completes after its creation");
  }
  if (record.op_log.size() > kRunOpLogCapacity) return broken(6, "the op-log is bounded");
  if (has_duplicates(op_ids(record.op_log))) return broken(7, "op ids are distinct");
  if (record.config.lease_duration == 0) return broken(8, "a lease lasts");
  if (has_duplicates(record.root_shards)) return broken(9, "root shards are distinct");
  if (!is_time_ordered(record.op_log)) return broken(10, "the op-log is ordered by time");
  if (!results_match_kinds(record.op_log)) {
    return broken(11, "registrations carry shard ids, and nothing else does");
  }
  return {};
}

void assert_invariants(const RunRecord& record) {
  const auto held = check_invariants(record);
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): its texts are literals
  CAD_CHECK(held.has_value(), held.error().text.data());
}

bool is_legal_transition(RunStatus from, RunStatus to) noexcept {
  if (from == RunStatus::kInitializing) {
    return to == RunStatus::kActive || to == RunStatus::kCancelled;
  }
  return from == RunStatus::kActive && is_terminal(to);
}

}  // namespace cadastre::coord
