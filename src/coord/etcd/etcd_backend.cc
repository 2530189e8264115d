#include "coord/etcd/etcd_backend.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/gate.h"
#include "base/random.h"
#include "base/result.h"
#include "coord/async_backend.h"
#include "coord/backend.h"
#include "coord/decide_run.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/etcd/core.h"
#include "coord/etcd/delay.h"
#include "coord/etcd/owned_arguments.h"
#include "coord/etcd/renew_many.h"
#include "coord/etcd/run_operations.h"
#include "coord/etcd/store.h"
#include "coord/etcd/task.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "coord/outcome.h"
#include "coord/progress.h"
#include "coord/run_record.h"
#include "coord/shard_summary.h"
#include "coord/snapshot.h"
#include "coord/states.h"

namespace cadastre::coord::etcd {

EtcdBackend::EtcdBackend(const EtcdParts& parts, EtcdOptions options)
    : core_(parts, std::move(options)),
      shards_(core_),
      splits_(core_),
      runs_(core_),
      lists_(core_),
      claims_(core_, lists_, shards_),
      collection_(core_, lists_) {}

EtcdBackend::~EtcdBackend() {
  core_.revoke_spares();
  core_.gate().close();
}

// `pass` goes last: the backend may end as soon as it has gone.
template <class Answer>
Detached EtcdBackend::run(base::Gate::Pass pass,
                          Task<Answer> task,
                          std::move_only_function<void(Answer)> done) {
  const base::Gate::Pass held = std::move(pass);
  Task<Answer> running = std::move(task);
  Answer answer = co_await running;
  done(std::move(answer));
}

template <class Answer>
void EtcdBackend::start(Task<Answer> task, std::move_only_function<void(Answer)> done) {
  auto pass = core_.gate().enter();
  CAD_CHECK(pass.has_value(), "nobody calls a backend that ends");
  run<Answer>(*std::move(pass), std::move(task), std::move(done));
}

// ---- Shards --------------------------------------------------------------------------------------

// NOLINTNEXTLINE(readability-function-size): the interface has these parameters
void EtcdBackend::acquire_and_restore_into(LogicalTime now,
                                           const TenantId& tenant,
                                           const ShardKey& key,
                                           WorkerId worker,
                                           AcquireScratch& out,
                                           Completion<AcquireResultView, AcquireError> done) {
  start(shards_.acquire({now, tenant, key, worker}, &out), std::move(done));
}

void EtcdBackend::renew(LogicalTime now,
                        const TenantId& tenant,
                        const Lease& lease,
                        Completion<RenewResult, RenewError> done) {
  start(shards_.renew({now, tenant, lease}), std::move(done));
}

void EtcdBackend::renew_many(LogicalTime now,
                             const TenantId& tenant,
                             std::span<const Lease> leases,
                             Completion<CoordinationBackend::RenewedLeases, RenewManyError> done) {
  if (leases.size() > kRenewManyMax) {
    done(base::fail(RenewManyError(TooManyLeases{leases.size(), kRenewManyMax})));
    return;
  }
  if (leases.empty()) return done(CoordinationBackend::RenewedLeases());
  auto pass = core_.gate().enter();
  CAD_CHECK(pass.has_value(), "nobody calls a backend that ends");
  RenewMany::start(shards_, *std::move(pass), {now, tenant, {leases.begin(), leases.end()}},
                   std::move(done));
}

// NOLINTNEXTLINE(readability-function-size): the interface has these parameters
void EtcdBackend::checkpoint(LogicalTime now,
                             const TenantId& tenant,
                             const Lease& lease,
                             const CursorUpdate& cursor,
                             OpId op,
                             Completion<IdempotentOutcome<Unit>, CheckpointError> done) {
  start(shards_.checkpoint({now, tenant, lease}, OwnedCursor(cursor), op), std::move(done));
}

// NOLINTNEXTLINE(readability-function-size): the interface has these parameters
void EtcdBackend::complete(LogicalTime now,
                           const TenantId& tenant,
                           const Lease& lease,
                           const CursorUpdate& cursor,
                           OpId op,
                           Completion<IdempotentOutcome<Unit>, CompleteError> done) {
  start(shards_.complete({now, tenant, lease}, OwnedCursor(cursor), op), std::move(done));
}

// NOLINTNEXTLINE(readability-function-size): the interface has these parameters
void EtcdBackend::park_shard(LogicalTime now,
                             const TenantId& tenant,
                             const Lease& lease,
                             ParkReason reason,
                             OpId op,
                             Completion<IdempotentOutcome<Unit>, ParkError> done) {
  start(shards_.park({now, tenant, lease}, reason, op), std::move(done));
}

// NOLINTNEXTLINE(readability-function-size): the interface has these parameters
void EtcdBackend::release_shard(LogicalTime now,
                                const TenantId& tenant,
                                const Lease& lease,
                                const CursorUpdate& cursor,
                                OpId op,
                                Completion<IdempotentOutcome<Unit>, ReleaseError> done) {
  start(shards_.release({now, tenant, lease}, OwnedCursor(cursor), op), std::move(done));
}

// NOLINTNEXTLINE(readability-function-size): the interface has these parameters
void EtcdBackend::split_replace(
    LogicalTime now,
    const TenantId& tenant,
    const Lease& lease,
    const SplitReplacePlan& plan,
    OpId op,
    Completion<IdempotentOutcome<SplitReplaceResult>, SplitReplaceError> done) {
  start(splits_.replace({now, tenant, lease}, OwnedReplacePlan(plan), op), std::move(done));
}

// NOLINTNEXTLINE(readability-function-size): the interface has these parameters
void EtcdBackend::split_residual(
    LogicalTime now,
    const TenantId& tenant,
    const Lease& lease,
    const SplitResidualPlan& plan,
    OpId op,
    Completion<IdempotentOutcome<SplitResidualResult>, SplitResidualError> done) {
  start(splits_.residual({now, tenant, lease}, OwnedResidualPlan(plan), op), std::move(done));
}

void EtcdBackend::unpark_shard(LogicalTime now,
                               const TenantId& tenant,
                               const ShardKey& key,
                               OpId op,
                               Completion<IdempotentOutcome<FenceEpoch>, UnparkError> done) {
  start(shards_.unpark(now, tenant, key, op), std::move(done));
}

// NOLINTNEXTLINE(readability-function-size): the interface has these parameters
void EtcdBackend::claim_next_available(LogicalTime now,
                                       const TenantId& tenant,
                                       RunId run,
                                       WorkerId worker,
                                       AcquireScratch& out,
                                       Completion<AcquireResultView, ClaimError> done) {
  start(claims_.claim({now, tenant, run, worker}, &out), std::move(done));
}

// ---- Runs ----------------------------------------------------------------------------------------

void EtcdBackend::create_run(LogicalTime now,
                             const TenantId& tenant,
                             RunId run,
                             const RunConfig& config,
                             Completion<RunRecord, CreateRunError> done) {
  if (const auto valid = validate(config); !valid) {
    done(base::fail(CreateRunError(valid.error())));
    return;
  }
  if (const auto lasts = check_lease(config, core_.options()); !lasts) {
    done(base::fail(CreateRunError(lasts.error())));
    return;
  }
  start(runs_.create(new_run(now, tenant, run, config)), std::move(done));
}

// NOLINTNEXTLINE(readability-function-size): the interface has these parameters
void EtcdBackend::register_shards(
    LogicalTime now,
    const TenantId& tenant,
    RunId run,
    std::span<const InitialShardInput> shards,
    OpId op,
    Completion<IdempotentOutcome<std::vector<ShardId>>, RegisterShardsError> done) {
  start(runs_.register_shards({now, tenant, run, op}, OwnedManifest(shards)), std::move(done));
}

void EtcdBackend::complete_run(LogicalTime now,
                               const TenantId& tenant,
                               RunId run,
                               OpId op,
                               Completion<IdempotentOutcome<Unit>, RunTransitionError> done) {
  start(runs_.end({now, tenant, run, op}, RunOpKind::kCompleteRun), std::move(done));
}

void EtcdBackend::fail_run(LogicalTime now,
                           const TenantId& tenant,
                           RunId run,
                           OpId op,
                           Completion<IdempotentOutcome<Unit>, RunTransitionError> done) {
  start(runs_.end({now, tenant, run, op}, RunOpKind::kFailRun), std::move(done));
}

void EtcdBackend::cancel_run(LogicalTime now,
                             const TenantId& tenant,
                             RunId run,
                             OpId op,
                             Completion<IdempotentOutcome<Unit>, RunTransitionError> done) {
  start(runs_.end({now, tenant, run, op}, RunOpKind::kCancelRun), std::move(done));
}

// ---- Lists ---------------------------------------------------------------------------------------

void EtcdBackend::get_run(const TenantId& tenant,
                          RunId run,
                          Completion<RunRecord, GetRunError> done) {
  start(lists_.get_run(tenant, run), std::move(done));
}

void EtcdBackend::get_run_progress(LogicalTime now,
                                   const TenantId& tenant,
                                   RunId run,
                                   Completion<RunProgress, GetRunError> done) {
  start(lists_.progress(now, tenant, run), std::move(done));
}

void EtcdBackend::get_shard(const TenantId& tenant,
                            const ShardKey& key,
                            Completion<ShardDump, GetShardError> done) {
  start(lists_.get_shard(tenant, key), std::move(done));
}

// NOLINTNEXTLINE(readability-function-size): the interface has these parameters
void EtcdBackend::list_shards(LogicalTime now,
                              const TenantId& tenant,
                              RunId run,
                              const ShardFilter& filter,
                              const ShardPage& page,
                              Completion<std::vector<ShardSummary>, ListShardsError> done) {
  start(lists_.list_shards(now, tenant, run, filter, page), std::move(done));
}

void EtcdBackend::list_runs(const TenantId& tenant,
                            std::optional<RunId> after,
                            std::size_t limit,
                            Completion<std::vector<RunId>, InfraError> done) {
  start(lists_.list_runs(tenant, after, limit), std::move(done));
}

void EtcdBackend::collect_claim_candidates(LogicalTime now,
                                           const TenantId& tenant,
                                           RunId run,
                                           Completion<ClaimCandidates, GetRunError> done) {
  start(lists_.candidates(now, tenant, run), std::move(done));
}

void EtcdBackend::list_active_runs(const TenantId& tenant,
                                   Completion<std::vector<RunId>, InfraError> done) {
  start(lists_.list_active_runs(tenant), std::move(done));
}

// ---- Collection ----------------------------------------------------------------------------------

void EtcdBackend::gc_terminal_runs(const TenantId& tenant,
                                   LogicalTime completed_before,
                                   Completion<std::size_t, InfraError> done) {
  start(collection_.collect_terminal(tenant, completed_before), std::move(done));
}

void EtcdBackend::gc_stale_initializing_runs(const TenantId& tenant,
                                             LogicalTime cutoff,
                                             Completion<std::vector<RunId>, InfraError> done) {
  start(collection_.collect_stale(tenant, cutoff), std::move(done));
}

}  // namespace cadastre::coord::etcd
