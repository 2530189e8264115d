#include "coord/decide_shard.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/check.h"
#include "base/result.h"
#include "coord/canonical.h"
#include "coord/cursor_rules.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/lease_rules.h"
#include "coord/op_log.h"
#include "coord/outcome.h"
#include "coord/shard_change.h"
#include "coord/shard_record.h"
#include "coord/states.h"

namespace cadastre::coord {
namespace {

OpLogEntry entry_for(const ShardState& state, LogicalTime now, const LoggedOp& op) noexcept {
  return {.op_id = op.op,
          .payload_hash = op.payload_hash,
          .executed_at = next_executed_at(state.op_log, now),
          .kind = op.kind,
          .result = OpResult::kCompleted};
}

}  // namespace

Result<AcquireDecision, AcquireRuleError> decide_acquire(const ShardState& state,
                                                         const AcquireRequest& request,
                                                         std::uint64_t lease_duration) noexcept {
  CAD_CHECK(request.now != LogicalTime(), "time 0 is no time");
  if (state.tenant != request.tenant) {
    return base::fail(AcquireRuleError(TenantMismatch{request.tenant}));
  }
  if (is_terminal(state.status)) {
    return base::fail(AcquireRuleError(ShardTerminal{state.key(), state.status}));
  }
  if (is_live(state.lease, request.now)) {
    return base::fail(AcquireRuleError(AlreadyLeased(state.lease->owner, state.lease->deadline)));
  }
  ShardChange change = unchanged(state);
  change.fence = next(state.fence);
  change.lease = LeaseHolder{request.worker, saturating_add(request.now, lease_duration)};
  const Lease lease = Lease::granted({.tenant = state.tenant,
                                      .key = state.key(),
                                      .owner = request.worker,
                                      .fence = change.fence,
                                      .deadline = change.lease->deadline});
  return AcquireDecision{change, lease};
}

Result<ShardChange, LeaseError> decide_renew(const ShardState& state,
                                             const LeasedRequest& request,
                                             std::uint64_t lease_duration) noexcept {
  CAD_TRY(validate_lease(state, request));
  ShardChange change = unchanged(state);
  change.lease->deadline =
      std::max(state.lease->deadline, saturating_add(request.now, lease_duration));
  return change;
}

Result<Decision, CheckpointRuleError> decide_checkpoint(const ShardRecordView& record,
                                                        const LeasedRequest& request,
                                                        const CursorUpdate& cursor,
                                                        OpId op) {
  const LoggedOp logged{op, OpKind::kCheckpoint, hash_checkpoint(cursor)};
  if (CAD_TRY(pass_gate(record.state, request, logged)) == Outcome::kReplayed) return std::nullopt;
  CAD_TRY(check_cursor(record, cursor));
  ShardChange change = unchanged(record.state);
  change.cursor = cursor;
  change.entry = entry_for(record.state, request.now, logged);
  return change;
}

Result<Decision, CheckpointRuleError> decide_complete(const ShardRecordView& record,
                                                      const LeasedRequest& request,
                                                      const CursorUpdate& cursor,
                                                      OpId op) {
  const LoggedOp logged{op, OpKind::kComplete, hash_complete(cursor)};
  if (CAD_TRY(pass_gate(record.state, request, logged)) == Outcome::kReplayed) return std::nullopt;
  CAD_TRY(check_cursor(record, cursor));
  ShardChange change = unchanged(record.state);
  change.status = ShardStatus::kDone;
  change.lease = std::nullopt;
  change.cursor = cursor;
  change.entry = entry_for(record.state, request.now, logged);
  return change;
}

Result<Decision, ReleaseRuleError> decide_release(const ShardRecordView& record,
                                                  const LeasedRequest& request,
                                                  const CursorUpdate& cursor,
                                                  OpId op) {
  const LoggedOp logged{op, OpKind::kRelease, hash_release(cursor)};
  if (CAD_TRY(pass_gate(record.state, request, logged)) == Outcome::kReplayed) return std::nullopt;
  ShardChange change = unchanged(record.state);
  if (cursor.last_key()) {
    CAD_TRY(check_cursor_move(record, cursor));
    change.cursor = cursor;
  }
  change.lease = std::nullopt;
  change.entry = entry_for(record.state, request.now, logged);
  return change;
}

Result<Decision, GateError> decide_park(const ShardState& state,
                                        const LeasedRequest& request,
                                        ParkReason reason,
                                        OpId op) {
  const LoggedOp logged{op, OpKind::kPark, hash_park(reason)};
  if (CAD_TRY(pass_gate(state, request, logged)) == Outcome::kReplayed) return std::nullopt;
  ShardChange change = unchanged(state);
  change.status = ShardStatus::kParked;
  change.park_reason = reason;
  change.lease = std::nullopt;
  change.entry = entry_for(state, request.now, logged);
  return change;
}

Result<Decision, UnparkRuleError> decide_unpark(const ShardState& state,
                                                RunStatus run_status,
                                                const UnparkRequest& request) {
  CAD_CHECK(request.now != LogicalTime(), "time 0 is no time");
  if (state.tenant != request.tenant) {
    return base::fail(UnparkRuleError(TenantMismatch{request.tenant}));
  }
  const LoggedOp logged{request.op, OpKind::kUnpark, hash_unpark(state.key())};
  const auto outcome = check_op_idempotency(state, logged);
  if (!outcome) {
    if (const auto* infra = outcome.error().get_if<InfraError>()) {
      return base::fail(UnparkRuleError(*infra));
    }
    return base::fail(UnparkRuleError(RunOpIdConflict{request.op}));
  }
  if (*outcome == Outcome::kReplayed) return std::nullopt;
  if (is_terminal(run_status)) return base::fail(UnparkRuleError(RunTerminal{run_status}));
  if (state.status != ShardStatus::kParked) {
    return base::fail(UnparkRuleError(NotParked{state.status}));
  }
  ShardChange change = unchanged(state);
  change.status = ShardStatus::kActive;
  change.park_reason = std::nullopt;
  change.fence = next(state.fence);
  change.entry = entry_for(state, request.now, logged);
  return change;
}

}  // namespace cadastre::coord
