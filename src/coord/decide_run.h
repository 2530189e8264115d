// Decisions about a run's record: its manifest and its end.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/op_log.h"
#include "coord/run_record.h"
#include "coord/shard_limits.h"
#include "coord/states.h"
#include "shard/manifest.h"

namespace cadastre::coord {

using base::Result;
using shard::InitialShardInput;

struct RunRequest {
  LogicalTime now;
  const TenantId& tenant;
  OpId op;
};

// What to install, as in shard_change.h.
struct RunChange {
  RunStatus status = RunStatus::kInitializing;
  std::optional<LogicalTime> completed_at;
  RunOpLogEntry entry;
  std::vector<ShardId> root_shards;  // of a registration; else empty
};

// The record that a run begins with.
[[nodiscard]] RunRecord new_run(LogicalTime now,
                                const TenantId& tenant,
                                RunId run,
                                const RunConfig& config) noexcept;

using RegisterRuleError =
    OneOf<TenantMismatch, WrongStatus, ManifestInvalid, RunOpIdConflict, ShardLimitExceeded>;

// Nothing: a retry, whose ids are in the log (registered_ids).
[[nodiscard]] Result<std::optional<RunChange>, RegisterRuleError> decide_register(
    const RunRecord& record,
    const RunRequest& request,
    std::span<const InitialShardInput> shards,
    const ShardCounts& counts,
    const ShardLimits& limits);

// What the registration with this op id answered.
[[nodiscard]] const std::vector<ShardId>& registered_ids(const RunRecord& record, OpId op) noexcept;

using TransitionRuleError = OneOf<TenantMismatch, RunTerminal, WrongStatus, RunOpIdConflict>;

// `kind` is kCompleteRun, kFailRun or kCancelRun. Nothing: a retry.
[[nodiscard]] Result<std::optional<RunChange>, TransitionRuleError> decide_run_transition(
    const RunRecord& record, const RunRequest& request, RunOpKind kind);

void apply_to_run(RunChange change, RunRecord& record);

}  // namespace cadastre::coord
