// EventingBackend: the operations of a backend, each with the event that it makes.
//
// A decorator: it calls the backend and, if the operation was executed, hands one event to the
// collector. The plain interfaces know nothing of events. Borrows the backend.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/attributes.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/event_collector.h"
#include "coord/events.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/outcome.h"
#include "coord/run_record.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/split_plan.h"

namespace cadastre::coord {

class EventingBackend {
 public:
  explicit EventingBackend(CoordinationFacade& backend CAD_LIFETIMEBOUND) noexcept
      : backend_(&backend) {}

  [[nodiscard]] CoordinationFacade& backend() noexcept CAD_LIFETIMEBOUND { return *backend_; }

  [[nodiscard]] Result<AcquireResultView, AcquireError> acquire_with_events(LogicalTime now,
                                                                            const TenantId& tenant,
                                                                            const ShardKey& key,
                                                                            WorkerId worker,
                                                                            AcquireScratch& out,
                                                                            EventCollector& events);
  [[nodiscard]] Result<AcquireResultView, ClaimError> claim_with_events(LogicalTime now,
                                                                        const TenantId& tenant,
                                                                        RunId run,
                                                                        WorkerId worker,
                                                                        AcquireScratch& out,
                                                                        EventCollector& events);
  [[nodiscard]] Result<RenewResult, RenewError> renew_with_events(LogicalTime now,
                                                                  const TenantId& tenant,
                                                                  const Lease& lease,
                                                                  EventCollector& events);
  [[nodiscard]] Result<CoordinationBackend::RenewedLeases, RenewManyError> renew_many_with_events(
      LogicalTime now,
      const TenantId& tenant,
      std::span<const Lease> leases,
      EventCollector& events);
  [[nodiscard]] Result<IdempotentOutcome<Unit>, CheckpointError> checkpoint_with_events(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const CursorUpdate& cursor,
      OpId op,
      EventCollector& events);
  [[nodiscard]] Result<IdempotentOutcome<Unit>, CompleteError> complete_with_events(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const CursorUpdate& cursor,
      OpId op,
      EventCollector& events);
  [[nodiscard]] Result<IdempotentOutcome<Unit>, ParkError> park_with_events(LogicalTime now,
                                                                            const TenantId& tenant,
                                                                            const Lease& lease,
                                                                            ParkReason reason,
                                                                            OpId op,
                                                                            EventCollector& events);
  [[nodiscard]] Result<IdempotentOutcome<Unit>, ReleaseError> release_with_events(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const CursorUpdate& cursor,
      OpId op,
      EventCollector& events);
  [[nodiscard]] Result<IdempotentOutcome<SplitReplaceResult>, SplitReplaceError>
  split_replace_with_events(LogicalTime now,
                            const TenantId& tenant,
                            const Lease& lease,
                            const SplitReplacePlan& plan,
                            OpId op,
                            EventCollector& events);
  [[nodiscard]] Result<IdempotentOutcome<SplitResidualResult>, SplitResidualError>
  split_residual_with_events(LogicalTime now,
                             const TenantId& tenant,
                             const Lease& lease,
                             const SplitResidualPlan& plan,
                             OpId op,
                             EventCollector& events);
  [[nodiscard]] Result<RunRecord, CreateRunError> create_run_with_events(LogicalTime now,
                                                                         const TenantId& tenant,
                                                                         RunId run,
                                                                         const RunConfig& config,
                                                                         EventCollector& events);
  [[nodiscard]] Result<IdempotentOutcome<std::vector<ShardId>>, RegisterShardsError>
  register_with_events(LogicalTime now,
                       const TenantId& tenant,
                       RunId run,
                       std::span<const InitialShardInput> shards,
                       OpId op,
                       EventCollector& events);
  [[nodiscard]] Result<IdempotentOutcome<Unit>, RunTransitionError> complete_run_with_events(
      LogicalTime now, const TenantId& tenant, RunId run, OpId op, EventCollector& events);
  [[nodiscard]] Result<IdempotentOutcome<Unit>, RunTransitionError> fail_run_with_events(
      LogicalTime now, const TenantId& tenant, RunId run, OpId op, EventCollector& events);
  [[nodiscard]] Result<IdempotentOutcome<Unit>, RunTransitionError> cancel_run_with_events(
      LogicalTime now, const TenantId& tenant, RunId run, OpId op, EventCollector& events);
  [[nodiscard]] Result<IdempotentOutcome<FenceEpoch>, UnparkError> unpark_with_events(
      LogicalTime now,
      const TenantId& tenant,
      const ShardKey& key,
      OpId op,
      EventCollector& events);

 private:
  CoordinationFacade* backend_;
};

}  // namespace cadastre::coord
