// What the backend holds, from outside: dumps, recounts, and records put back.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/byte_slab.h"
#include "base/check.h"
#include "base/function_ref.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/memory/memory_backend.h"
#include "coord/memory/record_pool.h"
#include "coord/memory/run_index.h"
#include "coord/memory/staging.h"
#include "coord/run_record.h"
#include "coord/shard_record.h"
#include "coord/states.h"

namespace cadastre::coord::memory {

namespace {

// How many strings a record has in the slab.
std::size_t count_strings(const ShardRecordView& record) noexcept {
  return (record.spec.start().empty() ? 0U : 1U) + (record.spec.end().empty() ? 0U : 1U) +
         (record.spec.metadata().empty() ? 0U : 1U) + (record.cursor.last_key() ? 1U : 0U) +
         (record.cursor.token() ? 1U : 0U) + (record.spawned.empty() ? 0U : 1U);
}

}  // namespace

std::vector<const Run*> MemoryBackend::runs_in_order() const {
  std::vector<const Tenant*> tenants;
  tenants.reserve(tenants_.size());
  for (const auto& [id, tenant] : tenants_)
    tenants.push_back(tenant.get());
  std::ranges::sort(tenants, {}, [](const Tenant* tenant) { return tenant->id; });
  std::vector<const Run*> runs;
  for (const Tenant* tenant : tenants) {
    for (const auto& [id, run] : tenant->runs)
      runs.push_back(run.get());
  }
  return runs;
}

Totals MemoryBackend::totals() const noexcept {
  Totals totals;
  for (const auto& [id, tenant] : tenants_) {  // Sums do not depend on the order.
    for (const auto& [run_id, run] : tenant->runs) {
      ++totals.runs[static_cast<std::size_t>(run->record().status)];
      for (std::size_t status = 0; status < totals.shards.size(); ++status)
        totals.shards[status] += run->count(static_cast<ShardStatus>(status));
      totals.leased += run->leased();
    }
  }
  return totals;
}

void MemoryBackend::visit_shards(base::FunctionRef<void(const ShardRecordView&)> visit) const {
  for (const Run* run : runs_in_order()) {
    run->visit([&](Number number) {
      visit(view_of(number));
      return true;
    });
  }
}

void MemoryBackend::visit_by_id(base::FunctionRef<void(const RunRecord&)> visit_run,
                                base::FunctionRef<void(const ShardRecordView&)> visit_shard) const {
  std::vector<Number> numbers;
  for (const Run* run : runs_in_order()) {
    visit_run(run->record());
    numbers.clear();
    run->visit([&](Number number) {
      numbers.push_back(number);
      return true;
    });
    std::ranges::sort(numbers, {}, [this](Number number) { return pool_[number].state.shard; });
    for (const Number number : numbers)
      visit_shard(view_of(number));
  }
}

std::vector<ShardDump> MemoryBackend::dump_shards() const {
  std::vector<ShardDump> shards;
  for (const Run* run : runs_in_order()) {
    const std::size_t first = shards.size();
    run->visit([&](Number number) {
      shards.push_back(dump(view_of(number)));
      return true;
    });
    std::sort(shards.begin() + static_cast<std::ptrdiff_t>(first), shards.end(),
              [](const ShardDump& a, const ShardDump& b) { return a.state.shard < b.state.shard; });
  }
  return shards;
}

std::vector<RunRecord> MemoryBackend::dump_runs() const {
  const std::vector<const Run*> found = runs_in_order();
  std::vector<RunRecord> runs;
  runs.reserve(found.size());
  for (const Run* run : found)
    runs.push_back(run->record());
  return runs;
}

std::size_t MemoryBackend::verify_run(const Run& run) const {
  assert_invariants(run.record());
  run.verify();
  std::size_t strings = 0;
  run.visit([&](Number number) {
    const ShardRecordView record = view_of(number);
    assert_invariants(record);
    CAD_CHECK(shards_.find(run.record().tenant, record.state.key()) == number,
              "the table finds every shard");
    strings += count_strings(record);
    return true;
  });
  return strings;
}

void MemoryBackend::verify() const {
  std::size_t total = 0;
  std::size_t strings = 0;
  for (const auto& [id, tenant] : tenants_) {
    std::size_t shards = 0;
    for (const auto& [run_id, run] : tenant->runs) {
      strings += verify_run(*run);
      shards += run->size();
    }
    CAD_CHECK(shards == tenant->shards, "a tenant's shards are counted");
    total += shards;
  }
  CAD_CHECK(total == shards_.size(), "all shards are counted");
  CAD_CHECK(strings == slab_.stats().live_count, "every string belongs to a record");
}

std::vector<TenantId> MemoryBackend::list_tenants(const std::optional<TenantId>& after,
                                                  std::size_t limit) const {
  std::vector<TenantId> tenants;
  for (const auto& [id, tenant] : tenants_) {
    if (!after || *after < id) tenants.push_back(id);
  }
  std::ranges::sort(tenants);
  tenants.resize(std::min(tenants.size(), limit));
  return tenants;
}

std::vector<CooldownDump> MemoryBackend::dump_cooldowns() const {
  std::vector<CooldownDump> cooldowns;
  for (const TenantId& id : list_tenants(std::nullopt, tenants_.size())) {
    for (const CooldownTable::Entry& entry : find_tenant(id)->cooldowns.entries())
      cooldowns.push_back({id, entry.worker, entry.claimed_at});
  }
  return cooldowns;
}

void MemoryBackend::load_cooldown(const CooldownDump& cooldown) {
  tenant_for(cooldown.tenant).cooldowns.load({cooldown.worker, cooldown.claimed_at});
}

void MemoryBackend::load_run(const RunRecord& record) {
  assert_invariants(record);
  CAD_CHECK(find_run(record.tenant, record.run) == nullptr, "a run is loaded once");
  tenant_for(record.tenant).runs.emplace(record.run, std::make_unique<Run>(record, pool_, slab_));
}

Result<void, base::SlabFull> MemoryBackend::load_shard(const ShardDump& shard) {
  Run* const run = find_run(shard.state.tenant, shard.state.run);
  CAD_CHECK(run != nullptr, "a run is loaded before its shards");
  Tenant& tenant = *find_tenant(shard.state.tenant);
  CAD_CHECK(!shards_.find(shard.state.tenant, shard.state.key()), "a shard is loaded once");
  Staging staging(pool_, slab_);
  const auto cursor = shard.last_key.empty() ? CursorUpdate::initial()
                                             : CursorUpdate::make(shard.last_key, shard.token);
  (void)CAD_TRY(staging.add(shard.state,
                            ShardSpecRef::unchecked(shard.start, shard.end, shard.metadata), cursor,
                            shard.spawned));
  for (const Number number : staging.commit()) {
    shards_.insert(number);
    run->add(number);
  }
  ++tenant.shards;
  return {};
}

}  // namespace cadastre::coord::memory
