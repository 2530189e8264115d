#include "coord/decide_run.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "coord/canonical.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/limits.h"
#include "coord/op_log.h"
#include "coord/outcome.h"
#include "coord/run_record.h"
#include "coord/shard_limits.h"
#include "coord/states.h"
#include "shard/manifest.h"

namespace cadastre::coord {
namespace {

Result<void, TenantMismatch> check_tenant(const RunRecord& record,
                                          const RunRequest& request) noexcept {
  CAD_CHECK(request.now != LogicalTime(), "time 0 is no time");
  if (record.tenant != request.tenant) return base::fail(TenantMismatch{request.tenant});
  return {};
}

Result<Outcome, RunOpIdConflict> check_idempotency(const RunRecord& record,
                                                   OpId op,
                                                   std::uint64_t payload_hash) noexcept {
  const RunOpLogEntry* const entry = find_op(record.op_log, op);
  if (entry == nullptr) return Outcome::kExecuted;
  if (entry->payload_hash != payload_hash) return base::fail(RunOpIdConflict{op});
  return Outcome::kReplayed;
}

RunStatus target_of(RunOpKind kind) noexcept {
  switch (kind) {
    case RunOpKind::kRegisterShards: return RunStatus::kActive;
    case RunOpKind::kCompleteRun: return RunStatus::kDone;
    case RunOpKind::kFailRun: return RunStatus::kFailed;
    case RunOpKind::kCancelRun: break;
  }
  return RunStatus::kCancelled;
}

RunOpLogEntry entry_for(const RunRecord& record,
                        const RunRequest& request,
                        RunOpKind kind,
                        std::uint64_t payload_hash) {
  return {.op_id = request.op,
          .payload_hash = payload_hash,
          .executed_at = next_executed_at(record.op_log, request.now),
          .kind = kind,
          .registered = {}};
}

// A manifest that is too long is never hashed: no log holds it, and 0 equals no logged hash.
std::uint64_t manifest_hash(std::span<const InitialShardInput> shards) {
  return shards.size() > kMaxInitialShards ? 0 : hash_register(shards);
}

Result<void, ManifestInvalid> check_manifest(std::span<const InitialShardInput> shards) {
  std::vector<std::uint32_t> scratch(std::min(shards.size(), kMaxInitialShards));
  const auto valid = shard::validate_manifest(shards, scratch);
  if (!valid) return base::fail(ManifestInvalid{valid.error()});
  return {};
}

}  // namespace

RunRecord new_run(LogicalTime now,
                  const TenantId& tenant,
                  RunId run,
                  const RunConfig& config) noexcept {
  CAD_CHECK(now != LogicalTime(), "time 0 is no time");
  RunRecord record;
  record.tenant = tenant;
  record.run = run;
  record.config = config;
  record.created_at = now;
  return record;
}

Result<std::optional<RunChange>, RegisterRuleError> decide_register(
    const RunRecord& record,
    const RunRequest& request,
    std::span<const InitialShardInput> shards,
    const ShardCounts& counts,
    const ShardLimits& limits) {
  CAD_TRY(check_tenant(record, request));
  const std::uint64_t hash = manifest_hash(shards);
  if (CAD_TRY(check_idempotency(record, request.op, hash)) == Outcome::kReplayed) {
    return std::nullopt;
  }
  if (record.status != RunStatus::kInitializing) {
    return base::fail(RegisterRuleError(WrongStatus{record.status, std::nullopt}));
  }
  CAD_TRY(check_manifest(shards));
  if (const auto over = shard_limit_violation(counts, shards.size(), limits)) {
    return base::fail(RegisterRuleError(*over));
  }
  RunChange change;
  change.status = RunStatus::kActive;
  change.root_shards.reserve(shards.size());
  for (const InitialShardInput& shard : shards)
    change.root_shards.push_back(shard.shard);
  change.entry = entry_for(record, request, RunOpKind::kRegisterShards, hash);
  change.entry.registered = change.root_shards;
  return change;
}

const std::vector<ShardId>& registered_ids(const RunRecord& record, OpId op) noexcept {
  const RunOpLogEntry* const entry = find_op(record.op_log, op);
  CAD_CHECK(entry != nullptr, "a replayed registration is in the log");
  return entry->registered;
}

Result<std::optional<RunChange>, TransitionRuleError> decide_run_transition(
    const RunRecord& record, const RunRequest& request, RunOpKind kind) {
  CAD_TRY(check_tenant(record, request));
  const std::uint64_t hash = hash_run_transition(kind);
  if (CAD_TRY(check_idempotency(record, request.op, hash)) == Outcome::kReplayed) {
    return std::nullopt;
  }
  if (is_terminal(record.status)) {
    return base::fail(TransitionRuleError(RunTerminal{record.status}));
  }
  const RunStatus target = target_of(kind);
  if (!is_legal_transition(record.status, target)) {
    return base::fail(TransitionRuleError(WrongStatus{record.status, target}));
  }
  RunChange change;
  change.status = target;
  change.completed_at = std::max(request.now, record.created_at);
  change.entry = entry_for(record, request, kind, hash);
  return change;
}

void apply_to_run(RunChange change, RunRecord& record) {
  CAD_CHECK(is_legal_transition(record.status, change.status),
            "a run changes by the table of states");
  CAD_CHECK(find_op(record.op_log, change.entry.op_id) == nullptr, "an op id is logged once");
  record.status = change.status;
  record.completed_at = change.completed_at;
  if (!change.root_shards.empty()) record.root_shards = std::move(change.root_shards);
  record.op_log.push_back_overwrite(std::move(change.entry));
  assert_invariants(record);
}

}  // namespace cadastre::coord
