// Runs: creation, registration, lists, the end.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/decide_run.h"
#include "coord/decide_shard.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/memory/memory_backend.h"
#include "coord/memory/record_pool.h"
#include "coord/memory/run_index.h"
#include "coord/memory/staging.h"
#include "coord/outcome.h"
#include "coord/progress.h"
#include "coord/run_record.h"
#include "coord/shard_record.h"
#include "coord/shard_summary.h"
#include "coord/states.h"

namespace cadastre::coord::memory {
namespace {

ShardState root_of(const RunRecord& run, ShardId id) noexcept {
  ShardState state;
  state.tenant = run.tenant;
  state.run = run.run;
  state.shard = id;
  state.semantics = run.config.cursor_semantics;
  return state;
}

}  // namespace

Result<RunRecord, CreateRunError> MemoryBackend::create_run(LogicalTime now,
                                                            const TenantId& tenant,
                                                            RunId run,
                                                            const RunConfig& config) {
  CAD_TRY(validate(config));
  if (find_run(tenant, run) != nullptr) {
    return base::fail(CreateRunError(RunAlreadyExists{run}));
  }
  RunRecord record = new_run(now, tenant, run, config);
  assert_invariants(record);
  tenant_for(tenant).runs.emplace(run, std::make_unique<Run>(record, pool_, slab_));
  return record;
}

Result<IdempotentOutcome<std::vector<ShardId>>, RegisterShardsError> MemoryBackend::register_shards(
    LogicalTime now,
    const TenantId& tenant,
    RunId run,
    std::span<const InitialShardInput> shards,
    OpId op) {
  Run* const found = find_run(tenant, run);
  if (found == nullptr) return base::fail(RegisterShardsError(RunNotFound{run}));
  Tenant& owner = *find_tenant(tenant);
  auto change = CAD_TRY(
      decide_register(found->record(), {now, tenant, op}, shards, counts(owner), options_.limits));
  if (!change) {
    return IdempotentOutcome<std::vector<ShardId>>::replayed(registered_ids(found->record(), op));
  }
  Staging staging(pool_, slab_);
  for (const InitialShardInput& shard : shards) {
    const auto staged =
        staging.add(root_of(found->record(), shard.shard), shard.spec, shard.cursor);
    if (!staged) return base::fail(RegisterShardsError(RegistrationExhausted{"shard_slab"}));
  }
  if (!check_budget(0)) {
    return base::fail(RegisterShardsError(RegistrationExhausted{"shard_slab"}));
  }
  shards_.reserve(shards.size());
  found->reserve(shards.size());
  for (const Number number : staging.commit()) {
    shards_.insert(number);
    found->add(number);
  }
  owner.shards += shards.size();
  apply_to_run(std::move(*change), found->record());
  return IdempotentOutcome<std::vector<ShardId>>::executed(found->record().root_shards);
}

Result<RunRecord, GetRunError> MemoryBackend::get_run(const TenantId& tenant, RunId run) {
  const Run* const found = find_run(tenant, run);
  if (found == nullptr) return base::fail(GetRunError(RunNotFound{run}));
  return found->record();
}

Result<RunProgress, GetRunError> MemoryBackend::get_run_progress(LogicalTime now,
                                                                 const TenantId& tenant,
                                                                 RunId run) {
  Run* const found = find_run(tenant, run);
  if (found == nullptr) return base::fail(GetRunError(RunNotFound{run}));
  found->stand_at(now);
  RunProgress progress;
  progress.total = static_cast<std::uint32_t>(found->size());
  progress.active = found->count(ShardStatus::kActive);
  progress.done = found->count(ShardStatus::kDone);
  progress.split = found->count(ShardStatus::kSplit);
  progress.parked = found->count(ShardStatus::kParked);
  progress.leased = static_cast<std::uint32_t>(found->leased());
  if (const auto least = found->least_far()) {
    progress.watermark.emplace(*view_of(*least).cursor.last_key());
  }
  return progress;
}

Result<ShardDump, GetShardError> MemoryBackend::get_shard(const TenantId& tenant,
                                                          const ShardKey& key) {
  const auto number = find_shard(tenant, key);
  if (!number) return base::fail(GetShardError(ShardNotFound{key}));
  return dump(view_of(*number));
}

// NOLINTNEXTLINE(readability-function-size): the interface has these parameters
Result<void, ListShardsError> MemoryBackend::list_shards_into(LogicalTime now,
                                                              const TenantId& tenant,
                                                              RunId run,
                                                              const ShardFilter& filter,
                                                              const ShardPage& page,
                                                              std::vector<ShardSummary>& out) {
  out.clear();
  const Run* const found = find_run(tenant, run);
  if (found == nullptr) return base::fail(ListShardsError(RunNotFound{run}));
  const auto take = [&](Number number) {
    if (out.size() == page.limit) return false;
    const ShardRecordView record = view_of(number);
    if (filter.matches(record.state, now)) out.push_back(summarize(record, now));
    return true;
  };
  if (!page.after) {
    found->visit(take);
    return {};
  }
  const auto after = find_shard(tenant, {run, *page.after});
  if (!after) return base::fail(ListShardsError(ShardNotFound{{run, *page.after}}));
  found->visit_after(*after, take);
  return {};
}

Result<std::vector<RunId>, InfraError> MemoryBackend::list_runs(const TenantId& tenant,
                                                                std::optional<RunId> after,
                                                                std::size_t limit) {
  std::vector<RunId> runs;
  const Tenant* const found = find_tenant(tenant);
  if (found == nullptr) return runs;
  auto at = after ? found->runs.upper_bound(*after) : found->runs.begin();
  for (; at != found->runs.end() && runs.size() < limit; ++at)
    runs.push_back(at->first);
  return runs;
}

Result<std::optional<LogicalTime>, GetRunError> MemoryBackend::collect_claim_candidates_into(
    LogicalTime now, const TenantId& tenant, RunId run, std::vector<ShardId>& out) {
  out.clear();
  Run* const found = find_run(tenant, run);
  if (found == nullptr) return base::fail(GetRunError(RunNotFound{run}));
  if (found->record().status != RunStatus::kActive) return std::nullopt;
  found->stand_at(now);
  for (std::size_t rank = 0; rank < found->available(); ++rank)
    out.push_back(pool_[found->free_shard(rank)].state.shard);
  return found->earliest_deadline();
}

Result<IdempotentOutcome<Unit>, RunTransitionError> MemoryBackend::end_run(
    LogicalTime now, const TenantId& tenant, RunId run, OpId op, RunOpKind kind) {
  Run* const found = find_run(tenant, run);
  if (found == nullptr) return base::fail(RunTransitionError(RunNotFound{run}));
  auto change = CAD_TRY(decide_run_transition(found->record(), {now, tenant, op}, kind));
  if (!change) return IdempotentOutcome<Unit>::replayed({});
  apply_to_run(std::move(*change), found->record());
  return IdempotentOutcome<Unit>::executed({});
}

Result<IdempotentOutcome<Unit>, RunTransitionError> MemoryBackend::complete_run(
    LogicalTime now, const TenantId& tenant, RunId run, OpId op) {
  return end_run(now, tenant, run, op, RunOpKind::kCompleteRun);
}

Result<IdempotentOutcome<Unit>, RunTransitionError> MemoryBackend::fail_run(LogicalTime now,
                                                                            const TenantId& tenant,
                                                                            RunId run,
                                                                            OpId op) {
  return end_run(now, tenant, run, op, RunOpKind::kFailRun);
}

Result<IdempotentOutcome<Unit>, RunTransitionError> MemoryBackend::cancel_run(
    LogicalTime now, const TenantId& tenant, RunId run, OpId op) {
  return end_run(now, tenant, run, op, RunOpKind::kCancelRun);
}

Result<IdempotentOutcome<FenceEpoch>, UnparkError> MemoryBackend::unpark_shard(
    LogicalTime now, const TenantId& tenant, const ShardKey& key, OpId op) {
  const auto number = find_shard(tenant, key);
  if (!number) return base::fail(UnparkError(ShardNotFound{key}));
  const Record& record = pool_[*number];
  const auto decision = decide_unpark(record.state, record.run->record().status, {now, tenant, op});
  if (!decision) return base::fail(UnparkError(checked(decision.error())));
  const auto outcome = carry_out(*number, *decision);
  CAD_CHECK(outcome.has_value(), "unparking stores no bytes");
  return IdempotentOutcome<FenceEpoch>(*outcome, record.state.fence);
}

std::optional<LogicalTime> MemoryBackend::oldest_completion(const TenantId& tenant) const noexcept {
  const Tenant* const found = find_tenant(tenant);
  if (found == nullptr) return std::nullopt;
  std::optional<LogicalTime> oldest;
  for (const auto& [id, run] : found->runs) {
    const auto completed = run->record().completed_at;
    if (completed && (!oldest || *completed < *oldest)) oldest = completed;
  }
  return oldest;
}

void MemoryBackend::forget_run(Tenant& tenant, RunId run) {
  const auto at = tenant.runs.find(run);
  std::vector<Number> numbers;
  at->second->visit([&](Number number) {
    numbers.push_back(number);
    return true;
  });
  for (const Number number : numbers) {
    shards_.erase(number);
    pool_[number].release(slab_);
    pool_.free(number);
  }
  tenant.shards -= numbers.size();
  tenant.runs.erase(at);
}

Result<std::size_t, InfraError> MemoryBackend::gc_terminal_runs(const TenantId& tenant,
                                                                LogicalTime completed_before) {
  Tenant* const found = find_tenant(tenant);
  if (found == nullptr) return std::size_t{0};
  std::vector<RunId> over;
  for (const auto& [id, run] : found->runs) {
    const auto completed = run->record().completed_at;
    if (completed && *completed < completed_before) over.push_back(id);
  }
  for (const RunId run : over)
    forget_run(*found, run);
  return over.size();
}

}  // namespace cadastre::coord::memory
