// Splits: several records change at once. Everything that can fail happens in Staging; what follows
// cannot.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/byte_slab.h"
#include "base/check.h"
#include "base/result.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/memory/memory_backend.h"
#include "coord/memory/record_pool.h"
#include "coord/memory/run_index.h"
#include "coord/memory/staging.h"
#include "coord/outcome.h"
#include "coord/shard_change.h"
#include "coord/shard_record.h"
#include "shard/pooled.h"
#include "shard/split_plan.h"

namespace cadastre::coord::memory {
namespace {

// What a split makes of its parent's record: a shard of the same run, Active and nobody's.
ShardState derived_from(const ShardState& parent, ShardId id) noexcept {
  ShardState state;
  state.tenant = parent.tenant;
  state.run = parent.run;
  state.shard = id;
  state.parent = parent.shard;
  state.semantics = parent.semantics;
  return state;
}

// The parent's new bytes, made before anything is changed.
class ParentBytes {
 public:
  explicit ParentBytes(base::ByteSlab& slab) noexcept : slab_(&slab) {}
  ParentBytes(const ParentBytes&) = delete;
  ParentBytes& operator=(const ParentBytes&) = delete;
  ~ParentBytes() {
    spec_.release(*slab_);
    spawned_.release(*slab_);
  }

  [[nodiscard]] Result<void, base::SlabFull> prepare(const ShardChange& change,
                                                     const ShardRecordView& parent,
                                                     std::span<const ShardId> spawned) {
    std::vector<ShardId> all;
    all.reserve(parent.spawned.size() + spawned.size());
    for (std::size_t i = 0; i < parent.spawned.size(); ++i)
      all.push_back(parent.spawned[i]);
    all.insert(all.end(), spawned.begin(), spawned.end());
    CAD_TRY(spawned_.append(*slab_, all));
    if (change.spec) CAD_TRY(spec_.update(*slab_, *change.spec));
    return {};
  }

  // Takes their place in the record; what was there is given back by the destructor.
  void install(const ShardChange& change, Record& record) noexcept {
    std::swap(record.spawned, spawned_);
    if (change.spec) std::swap(record.spec, spec_);
  }

 private:
  base::ByteSlab* slab_;
  shard::PooledSpec spec_;
  shard::PooledIdList spawned_;
};

// What the blocks take that a split gives back: the parent's old list, and its old spec if that changes.
std::uint64_t freed_bytes(const ShardRecordView& parent, const ShardChange& change) noexcept {
  const auto block = [](ByteView string) -> std::uint64_t {
    return base::RoundPow2::round_up(static_cast<std::uint32_t>(string.size())).value_or(0);
  };
  std::uint64_t bytes = block(parent.spawned.packed());
  if (change.spec)
    bytes += block(parent.spec.start()) + block(parent.spec.end()) + block(parent.spec.metadata());
  return bytes;
}

std::unexpected<SplitError> exhausted(const base::SlabFull& slab) noexcept {
  return base::fail(SplitError(ResourceExhausted{slab}));
}

}  // namespace

std::optional<ByteView> MemoryBackend::FindStart::operator()(ShardId id) const {
  const auto number = backend->shards_.find(tenant->id, {run, id});
  if (!number) return std::nullopt;
  return backend->view_of(*number).spec.start();
}

void MemoryBackend::commit_split(Number parent,
                                 const ShardChange& change,
                                 std::span<const Number> fresh) {
  Run& run = *pool_[parent].run;
  Tenant& tenant = *find_tenant(run.record().tenant);
  for (const Number number : fresh) {
    shards_.insert(number);
    run.add(number);
  }
  tenant.shards += fresh.size();
  install(parent, change, IndexedState::of(pool_[parent]));
}

SplitSurroundings MemoryBackend::surroundings(const Tenant& tenant,
                                              const FindStart& find_start) const noexcept {
  return {.counts = counts(tenant),
          .limits = options_.limits,
          .children_max = options_.children_max,
          .find_start = find_start};
}

Result<IdempotentOutcome<SplitReplaceResult>, SplitReplaceError> MemoryBackend::split_replace(
    LogicalTime now,
    const TenantId& tenant,
    const Lease& lease,
    const SplitReplacePlan& plan,
    OpId op) {
  const auto number = find_shard(tenant, lease.shard_key());
  if (!number) return base::fail(SplitError(ShardNotFound{lease.shard_key()}));
  Tenant& owner = *find_tenant(tenant);
  const FindStart find_start{this, &owner, lease.run()};
  auto decision = decide_split_replace(view_of(*number), {now, tenant, lease}, plan, op,
                                       surroundings(owner, find_start));
  if (!decision) return base::fail(SplitError(checked(decision.error())));
  if (decision->outcome == Outcome::kReplayed) {
    return IdempotentOutcome<SplitReplaceResult>::replayed(decision->result);
  }
  Record& record = pool_[*number];
  const auto ids = decision->result.children.as_span();
  ParentBytes parent(slab_);
  if (const auto room = parent.prepare(decision->parent, view_of(*number), ids); !room) {
    return exhausted(room.error());
  }
  Staging staging(pool_, slab_);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto& child = plan.children()[decision->order[i]];
    const auto staged = staging.add(derived_from(record.state, ids[i]), child.spec, child.cursor);
    if (!staged) return exhausted(staged.error());
  }
  const auto fits = check_budget(freed_bytes(view_of(*number), decision->parent));
  if (!fits) return exhausted(fits.error());
  shards_.reserve(ids.size());
  record.run->reserve(ids.size());
  parent.install(decision->parent, record);
  commit_split(*number, decision->parent, staging.commit());
  return IdempotentOutcome<SplitReplaceResult>::executed(decision->result);
}

Result<IdempotentOutcome<SplitResidualResult>, SplitResidualError> MemoryBackend::split_residual(
    LogicalTime now,
    const TenantId& tenant,
    const Lease& lease,
    const SplitResidualPlan& plan,
    OpId op) {
  const auto number = find_shard(tenant, lease.shard_key());
  if (!number) return base::fail(SplitError(ShardNotFound{lease.shard_key()}));
  Tenant& owner = *find_tenant(tenant);
  const FindStart find_start{this, &owner, lease.run()};
  const auto decision = decide_split_residual(view_of(*number), {now, tenant, lease}, plan, op,
                                              surroundings(owner, find_start));
  if (!decision) return base::fail(SplitError(checked(decision.error())));
  if (decision->outcome == Outcome::kReplayed) {
    return IdempotentOutcome<SplitResidualResult>::replayed(decision->result);
  }
  Record& record = pool_[*number];
  const ShardId id = decision->result.residual;
  ParentBytes parent(slab_);
  if (const auto room = parent.prepare(decision->parent, view_of(*number), {&id, 1}); !room) {
    return exhausted(room.error());
  }
  Staging staging(pool_, slab_);
  const auto staged =
      staging.add(derived_from(record.state, id), plan.residual(), CursorUpdate::initial());
  if (!staged) return exhausted(staged.error());
  const auto fits = check_budget(freed_bytes(view_of(*number), decision->parent));
  if (!fits) return exhausted(fits.error());
  shards_.reserve(1);
  record.run->reserve(1);
  parent.install(decision->parent, record);
  commit_split(*number, decision->parent, staging.commit());
  return IdempotentOutcome<SplitResidualResult>::executed(decision->result);
}

}  // namespace cadastre::coord::memory
