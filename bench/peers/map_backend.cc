#include "bench/peers/map_backend.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/endian.h"
#include "base/function_ref.h"
#include "base/mutex.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/decide_run.h"
#include "coord/decide_shard.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "coord/outcome.h"
#include "coord/progress.h"
#include "coord/run_record.h"
#include "coord/shard_change.h"
#include "coord/shard_limits.h"
#include "coord/shard_record.h"
#include "coord/shard_summary.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/shard_spec.h"
#include "shard/split_plan.h"

namespace cadastre::bench {

using namespace coord;  // NOLINT(google-build-using-namespace): a second home of the same protocol
using base::MutexLock;

namespace {

std::string owned(base::ByteView bytes) {
  return std::string(base::as_text(bytes));
}

ShardState fresh(const RunRecord& run, ShardId id, std::optional<ShardId> parent) {
  ShardState state;
  state.tenant = run.tenant;
  state.run = run.run;
  state.shard = id;
  state.parent = parent;
  state.semantics = run.config.cursor_semantics;
  return state;
}

}  // namespace

ShardRecordView MapBackend::Shard::view() const {
  const auto cursor = last_key.empty()
                          ? CursorUpdate::initial()
                          : CursorUpdate::make(base::as_bytes(last_key), base::as_bytes(token));
  return {
      state,
      ShardSpecRef::unchecked(base::as_bytes(start), base::as_bytes(end), base::as_bytes(metadata)),
      cursor, SpawnedView(base::as_bytes(spawned))};
}

void MapBackend::Shard::apply(const ShardChange& change, std::span<const ShardId> spawned_ids) {
  if (change.cursor) {
    std::string key = owned(change.cursor->last_key().value_or(base::ByteView{}));
    token = owned(change.cursor->token().value_or(base::ByteView{}));
    last_key = std::move(key);
  }
  if (change.spec) {
    std::string new_end = owned(change.spec->end());
    metadata = owned(change.spec->metadata());
    end = std::move(new_end);
  }
  for (const ShardId id : spawned_ids) {
    std::array<std::byte, sizeof(std::uint64_t)> packed{};
    base::store_le(packed.data(), id.raw());
    spawned += base::as_text(packed);
  }
  apply_to_state(change, state);
  assert_invariants(view());
}

std::optional<base::ByteView> MapBackend::FindStart::operator()(ShardId id) const {
  const auto at = shards->find({tenant, run, id});
  if (at == shards->end()) return std::nullopt;
  return base::as_bytes(at->second.start);
}

MapBackend::Shard* MapBackend::find(const TenantId& tenant, const ShardKey& key) {
  const auto at = shards_.find({tenant, key.run, key.shard});
  return at == shards_.end() ? nullptr : &at->second;
}

const RunConfig& MapBackend::config_of(const Shard& shard) {
  return runs_.at({shard.state.tenant, shard.state.run}).config;
}

std::pair<MapBackend::Shards::iterator, MapBackend::Shards::iterator> MapBackend::shards_of(
    const TenantId& tenant, RunId run) {
  constexpr auto kLast = std::numeric_limits<std::uint64_t>::max();
  return {shards_.lower_bound({tenant, run, ShardId::from_raw(0)}),
          shards_.upper_bound({tenant, run, ShardId::from_raw(kLast)})};
}

CapacityHint MapBackend::capacity(const TenantId& tenant, RunId run, LogicalTime now) {
  CapacityHint hint;
  const auto [first, last] = shards_of(tenant, run);
  for (auto at = first; at != last; ++at) {
    const ShardState& state = at->second.state;
    if (state.status != ShardStatus::kActive) continue;
    if (!is_live(state.lease, now)) {
      ++hint.available_count;
    } else if (!hint.earliest_deadline || state.lease->deadline < *hint.earliest_deadline) {
      hint.earliest_deadline = state.lease->deadline;
    }
  }
  return hint;
}

ShardCounts MapBackend::counts(const TenantId& tenant) {
  ShardCounts counts;
  counts.total = shards_.size();
  for (const auto& [key, shard] : shards_) {
    if (std::get<0>(key) == tenant) ++counts.tenant;
  }
  return counts;
}

void MapBackend::add(const ShardState& state,
                     const ShardSpecRef& spec,
                     const CursorUpdate& cursor) {
  Shard shard;
  shard.state = state;
  shard.start = owned(spec.start());
  shard.end = owned(spec.end());
  shard.metadata = owned(spec.metadata());
  shard.last_key = owned(cursor.last_key().value_or(base::ByteView{}));
  shard.token = owned(cursor.token().value_or(base::ByteView{}));
  assert_invariants(shard.view());
  shards_.emplace(Key{state.tenant, state.run, state.shard}, std::move(shard));
}

Result<AcquireResultView, AcquireError> MapBackend::acquire(const AcquireRequest& request,
                                                            const ShardKey& key,
                                                            AcquireScratch& out) {
  Shard* const shard = find(request.tenant, key);
  if (shard == nullptr) return base::fail(AcquireError(ShardNotFound{key}));
  const auto decision =
      CAD_TRY(decide_acquire(shard->state, request, config_of(*shard).lease_duration));
  shard->apply(decision.change, {});
  return AcquireResultView{decision.lease, out.fill(shard->view()),
                           capacity(request.tenant, key.run, request.now)};
}

Result<AcquireResultView, AcquireError> MapBackend::acquire_and_restore_into(LogicalTime now,
                                                                             const TenantId& tenant,
                                                                             const ShardKey& key,
                                                                             WorkerId worker,
                                                                             AcquireScratch& out) {
  const MutexLock lock(mutex_);
  return acquire({now, tenant, worker}, key, out);
}

Result<RenewResult, RenewError> MapBackend::renew(LogicalTime now,
                                                  const TenantId& tenant,
                                                  const Lease& lease) {
  const MutexLock lock(mutex_);
  Shard* const shard = find(tenant, lease.shard_key());
  if (shard == nullptr) return base::fail(RenewError(ShardNotFound{lease.shard_key()}));
  const auto change =
      CAD_TRY(decide_renew(shard->state, {now, tenant, lease}, config_of(*shard).lease_duration));
  shard->apply(change, {});
  return RenewResult{change.lease->deadline, capacity(tenant, lease.run(), now)};
}

Result<MapBackend::RenewedLeases, RenewManyError> MapBackend::renew_many(
    LogicalTime now, const TenantId& tenant, std::span<const Lease> leases) {
  if (leases.size() > kRenewManyMax) {
    return base::fail(RenewManyError(TooManyLeases{leases.size(), kRenewManyMax}));
  }
  RenewedLeases renewed;
  for (const Lease& lease : leases)
    renewed.push_back(renew(now, tenant, lease));
  return renewed;
}

Result<IdempotentOutcome<Unit>, CheckpointError> MapBackend::checkpoint(LogicalTime now,
                                                                        const TenantId& tenant,
                                                                        const Lease& lease,
                                                                        const CursorUpdate& cursor,
                                                                        OpId op) {
  const MutexLock lock(mutex_);
  Shard* const shard = find(tenant, lease.shard_key());
  if (shard == nullptr) return base::fail(CheckpointError(ShardNotFound{lease.shard_key()}));
  const auto decision = CAD_TRY(decide_checkpoint(shard->view(), {now, tenant, lease}, cursor, op));
  if (!decision) return IdempotentOutcome<Unit>::replayed({});
  shard->apply(*decision, {});
  return IdempotentOutcome<Unit>::executed({});
}

Result<IdempotentOutcome<Unit>, CompleteError> MapBackend::complete(LogicalTime now,
                                                                    const TenantId& tenant,
                                                                    const Lease& lease,
                                                                    const CursorUpdate& cursor,
                                                                    OpId op) {
  const MutexLock lock(mutex_);
  Shard* const shard = find(tenant, lease.shard_key());
  if (shard == nullptr) return base::fail(CompleteError(ShardNotFound{lease.shard_key()}));
  const auto decision = CAD_TRY(decide_complete(shard->view(), {now, tenant, lease}, cursor, op));
  if (!decision) return IdempotentOutcome<Unit>::replayed({});
  shard->apply(*decision, {});
  return IdempotentOutcome<Unit>::executed({});
}

Result<IdempotentOutcome<Unit>, ParkError> MapBackend::park_shard(
    LogicalTime now, const TenantId& tenant, const Lease& lease, ParkReason reason, OpId op) {
  const MutexLock lock(mutex_);
  Shard* const shard = find(tenant, lease.shard_key());
  if (shard == nullptr) return base::fail(ParkError(ShardNotFound{lease.shard_key()}));
  const auto decision = CAD_TRY(decide_park(shard->state, {now, tenant, lease}, reason, op));
  if (!decision) return IdempotentOutcome<Unit>::replayed({});
  shard->apply(*decision, {});
  return IdempotentOutcome<Unit>::executed({});
}

Result<IdempotentOutcome<Unit>, ReleaseError> MapBackend::release_shard(LogicalTime now,
                                                                        const TenantId& tenant,
                                                                        const Lease& lease,
                                                                        const CursorUpdate& cursor,
                                                                        OpId op) {
  const MutexLock lock(mutex_);
  Shard* const shard = find(tenant, lease.shard_key());
  if (shard == nullptr) return base::fail(ReleaseError(ShardNotFound{lease.shard_key()}));
  const auto decision = CAD_TRY(decide_release(shard->view(), {now, tenant, lease}, cursor, op));
  if (!decision) return IdempotentOutcome<Unit>::replayed({});
  shard->apply(*decision, {});
  return IdempotentOutcome<Unit>::executed({});
}

Result<IdempotentOutcome<SplitReplaceResult>, SplitReplaceError> MapBackend::split_replace(
    LogicalTime now,
    const TenantId& tenant,
    const Lease& lease,
    const SplitReplacePlan& plan,
    OpId op) {
  const MutexLock lock(mutex_);
  Shard* const shard = find(tenant, lease.shard_key());
  if (shard == nullptr) return base::fail(SplitError(ShardNotFound{lease.shard_key()}));
  const FindStart find_start{&shards_, tenant, lease.run()};
  const auto decision = CAD_TRY(
      decide_split_replace(shard->view(), {now, tenant, lease}, plan, op,
                           {counts(tenant), options_.limits, options_.children_max, find_start}));
  if (decision.outcome == Outcome::kReplayed) {
    return IdempotentOutcome<SplitReplaceResult>::replayed(decision.result);
  }
  const auto ids = decision.result.children.as_span();
  const RunRecord& run = runs_.at({tenant, lease.run()});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto& child = plan.children()[decision.order[i]];
    add(fresh(run, ids[i], lease.shard()), child.spec, child.cursor);
  }
  shard->apply(decision.parent, ids);
  return IdempotentOutcome<SplitReplaceResult>::executed(decision.result);
}

Result<IdempotentOutcome<SplitResidualResult>, SplitResidualError> MapBackend::split_residual(
    LogicalTime now,
    const TenantId& tenant,
    const Lease& lease,
    const SplitResidualPlan& plan,
    OpId op) {
  const MutexLock lock(mutex_);
  Shard* const shard = find(tenant, lease.shard_key());
  if (shard == nullptr) return base::fail(SplitError(ShardNotFound{lease.shard_key()}));
  const FindStart find_start{&shards_, tenant, lease.run()};
  const auto decision = CAD_TRY(
      decide_split_residual(shard->view(), {now, tenant, lease}, plan, op,
                            {counts(tenant), options_.limits, options_.children_max, find_start}));
  if (decision.outcome == Outcome::kReplayed) {
    return IdempotentOutcome<SplitResidualResult>::replayed(decision.result);
  }
  const ShardId id = decision.result.residual;
  add(fresh(runs_.at({tenant, lease.run()}), id, lease.shard()), plan.residual(),
      CursorUpdate::initial());
  shard->apply(decision.parent, {&id, 1});
  return IdempotentOutcome<SplitResidualResult>::executed(decision.result);
}

Result<RunRecord, CreateRunError> MapBackend::create_run(LogicalTime now,
                                                         const TenantId& tenant,
                                                         RunId run,
                                                         const RunConfig& config) {
  const MutexLock lock(mutex_);
  CAD_TRY(coord::validate(config));
  if (runs_.contains({tenant, run})) return base::fail(CreateRunError(RunAlreadyExists{run}));
  return runs_.emplace(RunKey{tenant, run}, new_run(now, tenant, run, config)).first->second;
}

Result<IdempotentOutcome<std::vector<ShardId>>, RegisterShardsError> MapBackend::register_shards(
    LogicalTime now,
    const TenantId& tenant,
    RunId run,
    std::span<const InitialShardInput> shards,
    OpId op) {
  const MutexLock lock(mutex_);
  const auto at = runs_.find({tenant, run});
  if (at == runs_.end()) return base::fail(RegisterShardsError(RunNotFound{run}));
  RunRecord& record = at->second;
  auto change =
      CAD_TRY(decide_register(record, {now, tenant, op}, shards, counts(tenant), options_.limits));
  if (!change) {
    return IdempotentOutcome<std::vector<ShardId>>::replayed(registered_ids(record, op));
  }
  for (const InitialShardInput& shard : shards)
    add(fresh(record, shard.shard, std::nullopt), shard.spec, shard.cursor);
  apply_to_run(std::move(*change), record);
  return IdempotentOutcome<std::vector<ShardId>>::executed(record.root_shards);
}

Result<RunRecord, GetRunError> MapBackend::get_run(const TenantId& tenant, RunId run) {
  const MutexLock lock(mutex_);
  const auto at = runs_.find({tenant, run});
  if (at == runs_.end()) return base::fail(GetRunError(RunNotFound{run}));
  return at->second;
}

Result<RunProgress, GetRunError> MapBackend::get_run_progress(LogicalTime now,
                                                              const TenantId& tenant,
                                                              RunId run) {
  const MutexLock lock(mutex_);
  if (!runs_.contains({tenant, run})) return base::fail(GetRunError(RunNotFound{run}));
  RunProgress progress;
  const auto [first, last] = shards_of(tenant, run);
  for (auto at = first; at != last; ++at) {
    const ShardState& state = at->second.state;
    progress.observe(state.status, is_live(state.lease, now), at->second.view().cursor.last_key());
  }
  return progress;
}

Result<ShardDump, GetShardError> MapBackend::get_shard(const TenantId& tenant,
                                                       const ShardKey& key) {
  const MutexLock lock(mutex_);
  const Shard* const shard = find(tenant, key);
  if (shard == nullptr) return base::fail(GetShardError(ShardNotFound{key}));
  return dump(shard->view());
}

// NOLINTNEXTLINE(readability-function-size): the interface has these parameters
Result<void, ListShardsError> MapBackend::list_shards_into(LogicalTime now,
                                                           const TenantId& tenant,
                                                           RunId run,
                                                           const ShardFilter& filter,
                                                           const ShardPage& page,
                                                           std::vector<ShardSummary>& out) {
  const MutexLock lock(mutex_);
  out.clear();
  if (!runs_.contains({tenant, run})) return base::fail(ListShardsError(RunNotFound{run}));
  const auto [first, last] = shards_of(tenant, run);
  std::vector<const Shard*> sorted;
  for (auto at = first; at != last; ++at)
    sorted.push_back(&at->second);
  std::ranges::sort(sorted, {}, [](const Shard* shard) {
    return std::tie(shard->start, shard->state.shard);  // std::string compares its bytes unsigned.
  });
  auto from = sorted.begin();
  if (page.after) {
    from = std::ranges::find(sorted, *page.after, [](const Shard* s) { return s->state.shard; });
    if (from == sorted.end()) {
      return base::fail(ListShardsError(ShardNotFound{{run, *page.after}}));
    }
    ++from;
  }
  for (; from != sorted.end() && out.size() < page.limit; ++from) {
    if (filter.matches((*from)->state, now)) out.push_back(summarize((*from)->view(), now));
  }
  return {};
}

Result<std::vector<RunId>, InfraError> MapBackend::list_runs(const TenantId& tenant,
                                                             std::optional<RunId> after,
                                                             std::size_t limit) {
  const MutexLock lock(mutex_);
  std::vector<RunId> runs;
  for (const auto& [key, run] : runs_) {
    if (key.first != tenant || (after && key.second <= *after) || runs.size() == limit) continue;
    runs.push_back(key.second);
  }
  return runs;
}

std::optional<LogicalTime> MapBackend::candidates(const RunKey& run,
                                                  LogicalTime now,
                                                  std::vector<ShardId>& out) {
  out.clear();
  if (runs_.at(run).status != RunStatus::kActive) return std::nullopt;
  const auto [first, last] = shards_of(run.first, run.second);
  for (auto at = first; at != last; ++at) {
    const ShardState& state = at->second.state;
    if (state.status == ShardStatus::kActive && !is_live(state.lease, now)) {
      out.push_back(state.shard);
    }
  }
  return capacity(run.first, run.second, now).earliest_deadline;
}

Result<std::optional<LogicalTime>, GetRunError> MapBackend::collect_claim_candidates_into(
    LogicalTime now, const TenantId& tenant, RunId run, std::vector<ShardId>& out) {
  const MutexLock lock(mutex_);
  out.clear();
  if (!runs_.contains({tenant, run})) return base::fail(GetRunError(RunNotFound{run}));
  return candidates({tenant, run}, now, out);
}

Result<AcquireResultView, ClaimError> MapBackend::claim_next_available(
    LogicalTime now, const TenantId& tenant, RunId run, WorkerId worker, AcquireScratch& out) {
  const MutexLock lock(mutex_);
  const std::uint64_t interval = options_.claim_cooldown_interval;
  const auto claimed = cooldowns_.find({tenant, worker});
  if (interval != 0 && claimed != cooldowns_.end()) {
    const LogicalTime until = saturating_add(claimed->second, interval);
    if (now < until) return base::fail(ClaimError(Throttled{until}));
  }
  if (!runs_.contains({tenant, run})) return base::fail(ClaimError(RunNotFound{run}));
  std::vector<ShardId> free;
  const auto earliest = candidates({tenant, run}, now, free);
  if (free.empty()) return base::fail(ClaimError(NoneAvailable{earliest}));
  const ShardId chosen = free[worker.raw() % free.size()];
  auto acquired = acquire({now, tenant, worker}, {run, chosen}, out);
  CAD_CHECK(acquired.has_value(), "a free shard can be acquired under the lock");
  if (interval != 0) cooldowns_[{tenant, worker}] = now;
  return *acquired;
}

Result<IdempotentOutcome<Unit>, RunTransitionError> MapBackend::end_run(const RunRequest& request,
                                                                        RunId run,
                                                                        RunOpKind kind) {
  const MutexLock lock(mutex_);
  const auto at = runs_.find({request.tenant, run});
  if (at == runs_.end()) return base::fail(RunTransitionError(RunNotFound{run}));
  auto change = CAD_TRY(decide_run_transition(at->second, request, kind));
  if (!change) return IdempotentOutcome<Unit>::replayed({});
  apply_to_run(std::move(*change), at->second);
  return IdempotentOutcome<Unit>::executed({});
}

Result<IdempotentOutcome<Unit>, RunTransitionError> MapBackend::complete_run(LogicalTime now,
                                                                             const TenantId& tenant,
                                                                             RunId run,
                                                                             OpId op) {
  return end_run({now, tenant, op}, run, RunOpKind::kCompleteRun);
}

Result<IdempotentOutcome<Unit>, RunTransitionError> MapBackend::fail_run(LogicalTime now,
                                                                         const TenantId& tenant,
                                                                         RunId run,
                                                                         OpId op) {
  return end_run({now, tenant, op}, run, RunOpKind::kFailRun);
}

Result<IdempotentOutcome<Unit>, RunTransitionError> MapBackend::cancel_run(LogicalTime now,
                                                                           const TenantId& tenant,
                                                                           RunId run,
                                                                           OpId op) {
  return end_run({now, tenant, op}, run, RunOpKind::kCancelRun);
}

Result<IdempotentOutcome<FenceEpoch>, UnparkError> MapBackend::unpark_shard(LogicalTime now,
                                                                            const TenantId& tenant,
                                                                            const ShardKey& key,
                                                                            OpId op) {
  const MutexLock lock(mutex_);
  Shard* const shard = find(tenant, key);
  if (shard == nullptr) return base::fail(UnparkError(ShardNotFound{key}));
  const auto decision =
      CAD_TRY(decide_unpark(shard->state, runs_.at({tenant, key.run}).status, {now, tenant, op}));
  if (!decision) return IdempotentOutcome<FenceEpoch>::replayed(shard->state.fence);
  shard->apply(*decision, {});
  return IdempotentOutcome<FenceEpoch>::executed(shard->state.fence);
}

Result<std::size_t, InfraError> MapBackend::gc_terminal_runs(const TenantId& tenant,
                                                             LogicalTime completed_before) {
  const MutexLock lock(mutex_);
  std::size_t forgotten = 0;
  for (auto at = runs_.begin(); at != runs_.end();) {
    const RunRecord& run = at->second;
    const bool over = run.completed_at && *run.completed_at < completed_before;
    if (run.tenant != tenant || !over) {
      ++at;
      continue;
    }
    const auto [first, last] = shards_of(tenant, run.run);
    shards_.erase(first, last);
    at = runs_.erase(at);
    ++forgotten;
  }
  return forgotten;
}

void MapBackend::visit_shards(base::FunctionRef<void(const ShardRecordView&)> visit) const {
  const MutexLock lock(mutex_);
  std::vector<const Shard*> sorted;
  sorted.reserve(shards_.size());
  for (const auto& [key, shard] : shards_)
    sorted.push_back(&shard);
  std::ranges::sort(sorted, {}, [](const Shard* shard) {
    return std::tie(shard->state.tenant, shard->state.run, shard->start, shard->state.shard);
  });
  for (const Shard* shard : sorted)
    visit(shard->view());
}

std::vector<ShardDump> MapBackend::dump_shards() const {
  const MutexLock lock(mutex_);
  std::vector<ShardDump> shards;
  shards.reserve(shards_.size());
  for (const auto& [key, shard] : shards_)
    shards.push_back(dump(shard.view()));
  return shards;
}

std::vector<RunRecord> MapBackend::dump_runs() const {
  const MutexLock lock(mutex_);
  std::vector<RunRecord> runs;
  runs.reserve(runs_.size());
  for (const auto& [key, run] : runs_)
    runs.push_back(run);
  return runs;
}

void MapBackend::verify() const {
  const MutexLock lock(mutex_);
  for (const auto& [key, shard] : shards_)
    assert_invariants(shard.view());
  for (const auto& [key, run] : runs_)
    assert_invariants(run);
}

}  // namespace cadastre::bench
