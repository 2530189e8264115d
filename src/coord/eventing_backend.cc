#include "coord/eventing_backend.h"

#include <cstddef>
#include <expected>
#include <span>
#include <utility>
#include <vector>

#include "coord/backend.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/event_collector.h"
#include "coord/events.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/outcome.h"
#include "coord/run_record.h"
#include "coord/snapshot.h"
#include "coord/states.h"

namespace cadastre::coord {
namespace {

// Where and when an event belongs, and who collects it.
struct Emitter {
  const TenantId& tenant;
  RunId run;
  LogicalTime at;
  EventCollector& events;

  void operator()(EventKind kind) const { events.emit({tenant, run, at, std::move(kind)}); }
};

// Passes the result on; an executed one makes its event first.
template <class T, class E, class MakeEvent>
std::expected<IdempotentOutcome<T>, E> noted(std::expected<IdempotentOutcome<T>, E> result,
                                             const Emitter& emit,
                                             const MakeEvent& make_event) {
  if (result && result->is_executed()) emit(make_event(result->value()));
  return result;
}

ShardAcquired acquired(const Lease& lease) {
  return {lease.shard(), lease.owner(), lease.fence()};
}

}  // namespace

// NOLINTBEGIN(readability-function-size): five parameters of the operation, and the collector

Result<AcquireResultView, AcquireError> EventingBackend::acquire_with_events(
    LogicalTime now,
    const TenantId& tenant,
    const ShardKey& key,
    WorkerId worker,
    AcquireScratch& out,
    EventCollector& events) {
  auto result = backend_->acquire_and_restore_into(now, tenant, key, worker, out);
  if (result) Emitter{tenant, key.run, now, events}(acquired(result->lease));
  return result;
}

Result<AcquireResultView, ClaimError> EventingBackend::claim_with_events(LogicalTime now,
                                                                         const TenantId& tenant,
                                                                         RunId run,
                                                                         WorkerId worker,
                                                                         AcquireScratch& out,
                                                                         EventCollector& events) {
  auto result = backend_->claim_next_available(now, tenant, run, worker, out);
  if (result) Emitter{tenant, run, now, events}(acquired(result->lease));
  return result;
}

Result<RenewResult, RenewError> EventingBackend::renew_with_events(LogicalTime now,
                                                                   const TenantId& tenant,
                                                                   const Lease& lease,
                                                                   EventCollector& events) {
  auto result = backend_->renew(now, tenant, lease);
  if (result) {
    Emitter{tenant, lease.run(), now,
            events}(ShardLeaseRenewed{lease.shard(), result->new_deadline});
  }
  return result;
}

Result<CoordinationBackend::RenewedLeases, RenewManyError> EventingBackend::renew_many_with_events(
    LogicalTime now,
    const TenantId& tenant,
    std::span<const Lease> leases,
    EventCollector& events) {
  auto result = backend_->renew_many(now, tenant, leases);
  if (!result) return result;
  for (std::size_t i = 0; i < leases.size(); ++i) {
    const auto& renewed = (*result)[i];
    if (!renewed) continue;
    Emitter{tenant, leases[i].run(), now,
            events}(ShardLeaseRenewed{leases[i].shard(), renewed->new_deadline});
  }
  return result;
}

Result<IdempotentOutcome<Unit>, CheckpointError> EventingBackend::checkpoint_with_events(
    LogicalTime now,
    const TenantId& tenant,
    const Lease& lease,
    const CursorUpdate& cursor,
    OpId op,
    EventCollector& events) {
  return noted(
      backend_->checkpoint(now, tenant, lease, cursor, op), {tenant, lease.run(), now, events},
      [&](Unit) { return ShardCheckpointed{lease.shard(), RedactedKey(cursor.last_key())}; });
}

Result<IdempotentOutcome<Unit>, CompleteError> EventingBackend::complete_with_events(
    LogicalTime now,
    const TenantId& tenant,
    const Lease& lease,
    const CursorUpdate& cursor,
    OpId op,
    EventCollector& events) {
  return noted(backend_->complete(now, tenant, lease, cursor, op),
               {tenant, lease.run(), now, events},
               [&](Unit) { return ShardCompleted{lease.shard()}; });
}

Result<IdempotentOutcome<Unit>, ParkError> EventingBackend::park_with_events(
    LogicalTime now,
    const TenantId& tenant,
    const Lease& lease,
    ParkReason reason,
    OpId op,
    EventCollector& events) {
  return noted(backend_->park_shard(now, tenant, lease, reason, op),
               {tenant, lease.run(), now, events},
               [&](Unit) { return ShardParked{lease.shard(), reason}; });
}

Result<IdempotentOutcome<Unit>, ReleaseError> EventingBackend::release_with_events(
    LogicalTime now,
    const TenantId& tenant,
    const Lease& lease,
    const CursorUpdate& cursor,
    OpId op,
    EventCollector& events) {
  return noted(backend_->release_shard(now, tenant, lease, cursor, op),
               {tenant, lease.run(), now, events},
               [&](Unit) { return ShardReleased{lease.shard(), RedactedKey(cursor.last_key())}; });
}

Result<IdempotentOutcome<SplitReplaceResult>, SplitReplaceError>
EventingBackend::split_replace_with_events(LogicalTime now,
                                           const TenantId& tenant,
                                           const Lease& lease,
                                           const SplitReplacePlan& plan,
                                           OpId op,
                                           EventCollector& events) {
  return noted(backend_->split_replace(now, tenant, lease, plan, op),
               {tenant, lease.run(), now, events}, [&](const SplitReplaceResult& split) {
                 return ShardSplit{lease.shard(), std::vector<ShardId>(split.children.begin(),
                                                                       split.children.end())};
               });
}

Result<IdempotentOutcome<SplitResidualResult>, SplitResidualError>
EventingBackend::split_residual_with_events(LogicalTime now,
                                            const TenantId& tenant,
                                            const Lease& lease,
                                            const SplitResidualPlan& plan,
                                            OpId op,
                                            EventCollector& events) {
  return noted(backend_->split_residual(now, tenant, lease, plan, op),
               {tenant, lease.run(), now, events}, [&](const SplitResidualResult& split) {
                 return ShardResidualCreated{lease.shard(), split.residual};
               });
}

Result<RunRecord, CreateRunError> EventingBackend::create_run_with_events(LogicalTime now,
                                                                          const TenantId& tenant,
                                                                          RunId run,
                                                                          const RunConfig& config,
                                                                          EventCollector& events) {
  auto result = backend_->create_run(now, tenant, run, config);
  if (result) Emitter{tenant, run, now, events}(RunCreated{});
  return result;
}

Result<IdempotentOutcome<std::vector<ShardId>>, RegisterShardsError>
EventingBackend::register_with_events(LogicalTime now,
                                      const TenantId& tenant,
                                      RunId run,
                                      std::span<const InitialShardInput> shards,
                                      OpId op,
                                      EventCollector& events) {
  return noted(backend_->register_shards(now, tenant, run, shards, op), {tenant, run, now, events},
               [](const std::vector<ShardId>& ids) { return RunActivated{ids.size()}; });
}

Result<IdempotentOutcome<Unit>, RunTransitionError> EventingBackend::complete_run_with_events(
    LogicalTime now, const TenantId& tenant, RunId run, OpId op, EventCollector& events) {
  return noted(backend_->complete_run(now, tenant, run, op), {tenant, run, now, events},
               [](Unit) { return RunEnded{RunStatus::kDone}; });
}

Result<IdempotentOutcome<Unit>, RunTransitionError> EventingBackend::fail_run_with_events(
    LogicalTime now, const TenantId& tenant, RunId run, OpId op, EventCollector& events) {
  return noted(backend_->fail_run(now, tenant, run, op), {tenant, run, now, events},
               [](Unit) { return RunEnded{RunStatus::kFailed}; });
}

Result<IdempotentOutcome<Unit>, RunTransitionError> EventingBackend::cancel_run_with_events(
    LogicalTime now, const TenantId& tenant, RunId run, OpId op, EventCollector& events) {
  return noted(backend_->cancel_run(now, tenant, run, op), {tenant, run, now, events},
               [](Unit) { return RunEnded{RunStatus::kCancelled}; });
}

Result<IdempotentOutcome<FenceEpoch>, UnparkError> EventingBackend::unpark_with_events(
    LogicalTime now, const TenantId& tenant, const ShardKey& key, OpId op, EventCollector& events) {
  return noted(backend_->unpark_shard(now, tenant, key, op), {tenant, key.run, now, events},
               [&](FenceEpoch fence) { return ShardUnparked{key.shard, fence}; });
}

// NOLINTEND(readability-function-size)

}  // namespace cadastre::coord
