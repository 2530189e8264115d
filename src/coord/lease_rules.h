// Whether a request may change a shard: tenant, retry, lease, in an order that tells a stranger
// nothing.
//
// The order is a security property. A foreign tenant learns neither state nor epoch; and a retry of
// a request that took effect is answered before the lease is looked at, so that it succeeds after
// expiry, after a hand-over and in terminal states.

#pragma once

#include <cstdint>

#include "base/result.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/outcome.h"
#include "coord/shard_record.h"
#include "coord/states.h"

namespace cadastre::coord {

// A worker's request, apart from its payload. `now` is not 0.
struct LeasedRequest {
  LogicalTime now;
  const TenantId& tenant;
  const Lease& lease;
};

// Whether record, lease and caller are of one tenant. The error names only the caller's.
[[nodiscard]] Result<void, TenantMismatch> check_tenant(const ShardState& state,
                                                        const LeasedRequest& request) noexcept;

// In this order: terminal, epoch, no lease, deadline, owner.
[[nodiscard]] Result<void, LeaseError> check_lease(const ShardState& state,
                                                   const LeasedRequest& request) noexcept;

// Both.
[[nodiscard]] Result<void, LeaseError> validate_lease(const ShardState& state,
                                                      const LeasedRequest& request) noexcept;

// A request's place in the op-log.
struct LoggedOp {
  OpId op;
  OpKind kind = OpKind::kCheckpoint;
  std::uint64_t payload_hash = 0;
};

using IdempotencyError = OneOf<OpIdConflict, InfraError>;

// Whether the request is new or a retry; a conflict if its id was used for another one. An entry of
// another kind with the same hash, or with a result that nobody writes, is corruption.
[[nodiscard]] Result<Outcome, IdempotencyError> check_op_idempotency(const ShardState& state,
                                                                     const LoggedOp& op);

using GateError =
    OneOf<TenantMismatch, ShardTerminal, StaleFence, LeaseExpired, OpIdConflict, InfraError>;

// Tenant, retry, lease. kReplayed: answer as before and change nothing.
[[nodiscard]] Result<Outcome, GateError> pass_gate(const ShardState& state,
                                                   const LeasedRequest& request,
                                                   const LoggedOp& op);

}  // namespace cadastre::coord
