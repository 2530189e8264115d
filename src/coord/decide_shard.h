// Decisions about one shard's record: who gets it, how far it is, how it ends.
//
// Each function looks at the record and the request and answers with an error or a change
// (shard_change.h); nothing happens here. The record is the one that the request's tenant and key
// name: a backend that finds none answers ShardNotFound itself.

#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/lease_rules.h"
#include "coord/shard_change.h"
#include "coord/shard_record.h"
#include "coord/states.h"
#include "shard/cursor.h"

namespace cadastre::coord {

// What to install, or nothing: a retry of what was done.
using Decision = std::optional<ShardChange>;

struct AcquireRequest {
  LogicalTime now;
  const TenantId& tenant;
  WorkerId worker;
};

struct AcquireDecision {
  ShardChange change;
  Lease lease;
};

using AcquireRuleError = OneOf<TenantMismatch, ShardTerminal, AlreadyLeased>;

// A free or expired shard goes to the worker, under the next epoch. Not for the holder of a live
// lease either: whoever has lost track of it cannot be told from a second one.
[[nodiscard]] Result<AcquireDecision, AcquireRuleError> decide_acquire(
    const ShardState& state, const AcquireRequest& request, std::uint64_t lease_duration) noexcept;

// The lease lasts lease_duration from now, and never ends earlier than before.
[[nodiscard]] Result<ShardChange, LeaseError> decide_renew(const ShardState& state,
                                                           const LeasedRequest& request,
                                                           std::uint64_t lease_duration) noexcept;

using CheckpointRuleError = OneOf<TenantMismatch,
                                  ShardTerminal,
                                  StaleFence,
                                  LeaseExpired,
                                  OpIdConflict,
                                  CheckpointMissingKey,
                                  CursorKeyTooLarge,
                                  CursorTokenTooLarge,
                                  CursorRegression,
                                  CursorOutOfBounds,
                                  InfraError>;

// The stored cursor becomes `cursor`, token included.
[[nodiscard]] Result<Decision, CheckpointRuleError> decide_checkpoint(const ShardRecordView& record,
                                                                      const LeasedRequest& request,
                                                                      const CursorUpdate& cursor,
                                                                      OpId op);
[[nodiscard]] Result<Decision, CheckpointRuleError> decide_complete(const ShardRecordView& record,
                                                                    const LeasedRequest& request,
                                                                    const CursorUpdate& cursor,
                                                                    OpId op);

using ReleaseRuleError = OneOf<TenantMismatch,
                               ShardTerminal,
                               StaleFence,
                               LeaseExpired,
                               OpIdConflict,
                               CursorKeyTooLarge,
                               CursorTokenTooLarge,
                               CursorRegression,
                               CursorOutOfBounds,
                               InfraError>;

// The lease ends; the shard stays Active at `cursor`, or where it was if that is the initial one.
// The fence stays: the next owner raises it.
[[nodiscard]] Result<Decision, ReleaseRuleError> decide_release(const ShardRecordView& record,
                                                                const LeasedRequest& request,
                                                                const CursorUpdate& cursor,
                                                                OpId op);

[[nodiscard]] Result<Decision, GateError> decide_park(const ShardState& state,
                                                      const LeasedRequest& request,
                                                      ParkReason reason,
                                                      OpId op);

struct UnparkRequest {
  LogicalTime now;
  const TenantId& tenant;
  OpId op;
};

using UnparkRuleError = OneOf<TenantMismatch, RunTerminal, NotParked, RunOpIdConflict, InfraError>;

// Administrative: no lease. Raises the fence, so that whoever parked the shard stays out.
[[nodiscard]] Result<Decision, UnparkRuleError> decide_unpark(const ShardState& state,
                                                              RunStatus run_status,
                                                              const UnparkRequest& request);

}  // namespace cadastre::coord
