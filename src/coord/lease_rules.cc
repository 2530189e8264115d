#include "coord/lease_rules.h"

#include "base/check.h"
#include "base/result.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/op_log.h"
#include "coord/outcome.h"
#include "coord/shard_record.h"
#include "coord/states.h"

namespace cadastre::coord {

Result<void, TenantMismatch> check_tenant(const ShardState& state,
                                          const LeasedRequest& request) noexcept {
  CAD_CHECK(request.now != LogicalTime(), "time 0 is no time");
  if (state.tenant != request.tenant) return base::fail(TenantMismatch{request.tenant});
  if (request.lease.tenant() != request.tenant) return base::fail(TenantMismatch{request.tenant});
  return {};
}

Result<void, LeaseError> check_lease(const ShardState& state,
                                     const LeasedRequest& request) noexcept {
  const Lease& lease = request.lease;
  if (is_terminal(state.status)) {
    return base::fail(LeaseError(ShardTerminal{state.key(), state.status}));
  }
  const StaleFence stale{lease.fence(), state.fence};
  if (lease.fence() != state.fence) return base::fail(LeaseError(stale));
  if (!state.lease) return base::fail(LeaseError(stale));
  if (!is_live(state.lease, request.now)) {
    return base::fail(LeaseError(LeaseExpired{state.lease->deadline, request.now}));
  }
  if (state.lease->owner != lease.owner()) return base::fail(LeaseError(stale));
  return {};
}

Result<void, LeaseError> validate_lease(const ShardState& state,
                                        const LeasedRequest& request) noexcept {
  CAD_TRY(check_tenant(state, request));
  return check_lease(state, request);
}

Result<Outcome, IdempotencyError> check_op_idempotency(const ShardState& state,
                                                       const LoggedOp& op) {
  const OpLogEntry* const entry = find_op(state.op_log, op.op);
  if (entry == nullptr) return Outcome::kExecuted;
  if (entry->payload_hash != op.payload_hash) {
    return base::fail(IdempotencyError(OpIdConflict(op.op, entry->payload_hash, op.payload_hash)));
  }
  if (entry->kind != op.kind || entry->result != OpResult::kCompleted) {
    return base::fail(IdempotencyError(
        corruption("op_log.replay", "an entry has another kind or result than its hash says")));
  }
  return Outcome::kReplayed;
}

Result<Outcome, GateError> pass_gate(const ShardState& state,
                                     const LeasedRequest& request,
                                     const LoggedOp& op) {
  CAD_TRY(check_tenant(state, request));
  if (CAD_TRY(check_op_idempotency(state, op)) == Outcome::kReplayed) return Outcome::kReplayed;
  CAD_TRY(check_lease(state, request));
  return Outcome::kExecuted;
}

}  // namespace cadastre::coord
