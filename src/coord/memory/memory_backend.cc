#include "coord/memory/memory_backend.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/byte_slab.h"
#include "base/check.h"
#include "base/result.h"
#include "base/xxh3.h"
#include "coord/backend.h"
#include "coord/decide_shard.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "coord/memory/record_pool.h"
#include "coord/memory/run_index.h"
#include "coord/outcome.h"
#include "coord/shard_change.h"
#include "coord/shard_limits.h"
#include "coord/shard_record.h"
#include "coord/snapshot.h"
#include "coord/states.h"

namespace cadastre::coord::memory {
namespace {

constexpr std::uint64_t kU32Max = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kStringsPerShard = 6;  // start, end, metadata, last key, token, spawned

std::uint32_t slab_bytes(const MemoryOptions& options) noexcept {
  CAD_CHECK(options.limits.per_tenant_max > 0, "a tenant may have a shard");
  CAD_CHECK(options.limits.total_max > 0, "a registry may have a shard");
  if (options.slab_capacity != 0) {
    return static_cast<std::uint32_t>(std::min(options.slab_capacity, kU32Max));
  }
  const std::uint64_t shards = std::min(options.limits.total_max, kSlabBytesAutoMax);
  return static_cast<std::uint32_t>(std::min(shards * kSlabBytesPerShard, kSlabBytesAutoMax));
}

// As many strings as the shards can have, and as the slab can hold.
std::uint32_t slab_strings(const MemoryOptions& options) noexcept {
  const std::uint64_t by_bytes = slab_bytes(options) / base::kSlabMinBlock;
  const std::uint64_t shards = std::min(options.limits.total_max, kU32Max);
  // Twice: an update makes its new strings before it frees the old ones.
  return static_cast<std::uint32_t>(std::min(by_bytes, 2 * kStringsPerShard * shards));
}

std::uint64_t block_bytes(std::optional<ByteView> string) noexcept {
  if (!string) return 0;
  return base::RoundPow2::round_up(static_cast<std::uint32_t>(string->size())).value_or(kU32Max);
}

std::uint64_t block_bytes(const CursorUpdate& cursor) noexcept {
  return block_bytes(cursor.last_key()) + block_bytes(cursor.token());
}

}  // namespace

std::size_t MemoryBackend::SeededTenantHash::operator()(const TenantId& tenant) const noexcept {
  return base::xxh3_64(tenant.as_bytes(), seed);
}

MemoryBackend::MemoryBackend(const MemoryOptions& options)
    : options_(options),
      slab_(slab_bytes(options), slab_strings(options)),
      shards_(pool_, options.hash_seed),
      tenants_(0, SeededTenantHash{options.hash_seed}) {}

MemoryBackend::~MemoryBackend() {
  CAD_CHECK_SLOW(open_sessions() == 0, "a session does not outlive its backend");
  if constexpr (base::kSlowChecks) {
    // Every string must belong to a record.
    for (const Run* run : runs_in_order()) {
      run->visit([this](Number number) {
        pool_[number].release(slab_);
        return true;
      });
    }
    CAD_CHECK(slab_.stats().live_count == 0, "every string belongs to a record");
  } else {
    slab_.clear();
  }
}

MemoryBackend::Tenant* MemoryBackend::find_tenant(const TenantId& tenant) const noexcept {
  const auto found = tenants_.find(tenant);
  return found == tenants_.end() ? nullptr : found->second.get();
}

MemoryBackend::Tenant& MemoryBackend::tenant_for(const TenantId& tenant) {
  auto& found = tenants_[tenant];
  if (!found) found = std::make_unique<Tenant>(tenant);
  return *found;
}

std::optional<Number> MemoryBackend::find_shard(const TenantId& tenant,
                                                const ShardKey& key) const noexcept {
  return shards_.find(tenant, key);
}

Run* MemoryBackend::find_run(const TenantId& tenant, RunId run) const noexcept {
  const Tenant* const found = find_tenant(tenant);
  if (found == nullptr) return nullptr;
  const auto at = found->runs.find(run);
  return at == found->runs.end() ? nullptr : at->second.get();
}

ShardRecordView MemoryBackend::view_of(Number number) const noexcept {
  return pool_[number].view(slab_);
}

ShardCounts MemoryBackend::counts(const Tenant& tenant) const noexcept {
  return {tenant.shards, shards_.size()};
}

Result<void, base::SlabFull> MemoryBackend::check_budget(std::uint64_t freed) const noexcept {
  const std::uint64_t live = slab_.stats().live_bytes - freed;
  const std::uint64_t max = options_.record_bytes_max;
  if (max == 0 || live <= max) return {};
  return base::fail(base::SlabFull{.requested = live, .available = max});
}

Result<void, base::SlabFull> MemoryBackend::check_budget(std::uint64_t before,
                                                         std::uint64_t after) const noexcept {
  const std::uint64_t others = slab_.stats().live_bytes - before;
  const std::uint64_t max = options_.record_bytes_max;
  if (max == 0 || after <= before || others + after <= max) return {};
  return base::fail(base::SlabFull{.requested = others + after, .available = max});
}

void MemoryBackend::change_settings(const MemorySettings& settings) noexcept {
  CAD_CHECK(settings.limits.per_tenant_max > 0, "a tenant may have a shard");
  CAD_CHECK(settings.limits.total_max > 0, "a registry may have a shard");
  options_.limits = settings.limits;
  options_.claim_cooldown_interval = settings.claim_cooldown_interval;
  options_.children_max = settings.children_max;
  options_.record_bytes_max = settings.record_bytes_max;
}

void MemoryBackend::install(Number number, const ShardChange& change, const IndexedState& before) {
  Record& record = pool_[number];
  apply_to_state(change, record.state);
  assert_invariants(record.view(slab_));
  record.run->refresh(number, before);
}

Result<Outcome, ResourceExhausted> MemoryBackend::carry_out(Number number,
                                                            const Decision& decision) {
  if (!decision) return Outcome::kReplayed;
  Record& record = pool_[number];
  const IndexedState before = IndexedState::of(record);
  if (decision->cursor) {
    const auto fits =
        check_budget(block_bytes(record.cursor.view(slab_)), block_bytes(*decision->cursor));
    if (!fits) return base::fail(ResourceExhausted{fits.error()});
    const auto stored = record.cursor.update(slab_, *decision->cursor);
    if (!stored) return base::fail(ResourceExhausted{stored.error()});
  }
  install(number, *decision, before);
  return Outcome::kExecuted;
}

AcquireResultView MemoryBackend::acquire(Number number,
                                         const AcquireDecision& decision,
                                         AcquireScratch& out) {
  install(number, decision.change, IndexedState::of(pool_[number]));
  return {decision.lease, out.fill(view_of(number)), pool_[number].run->capacity()};
}

Result<AcquireResultView, AcquireError> MemoryBackend::acquire_and_restore_into(
    LogicalTime now,
    const TenantId& tenant,
    const ShardKey& key,
    WorkerId worker,
    AcquireScratch& out) {
  const auto number = find_shard(tenant, key);
  if (!number) return base::fail(AcquireError(ShardNotFound{key}));
  Record& record = pool_[*number];
  const auto decision = CAD_TRY(decide_acquire(record.state, {now, tenant, worker},
                                               record.run->record().config.lease_duration));
  record.run->stand_at(now);
  return acquire(*number, decision, out);
}

Result<RenewResult, RenewError> MemoryBackend::renew(LogicalTime now,
                                                     const TenantId& tenant,
                                                     const Lease& lease) {
  const auto number = find_shard(tenant, lease.shard_key());
  if (!number) return base::fail(RenewError(ShardNotFound{lease.shard_key()}));
  Record& record = pool_[*number];
  const auto change = CAD_TRY(
      decide_renew(record.state, {now, tenant, lease}, record.run->record().config.lease_duration));
  record.run->stand_at(now);
  install(*number, change, IndexedState::of(record));
  return RenewResult{change.lease->deadline, record.run->capacity()};
}

Result<MemoryBackend::RenewedLeases, RenewManyError> MemoryBackend::renew_many(
    LogicalTime now, const TenantId& tenant, std::span<const Lease> leases) {
  if (leases.size() > kRenewManyMax) {
    return base::fail(RenewManyError(TooManyLeases{leases.size(), kRenewManyMax}));
  }
  RenewedLeases renewed;
  renewed.reserve(leases.size());
  for (const Lease& lease : leases)
    renewed.push_back(renew(now, tenant, lease));
  return renewed;
}

Result<IdempotentOutcome<Unit>, CheckpointError> MemoryBackend::checkpoint(
    LogicalTime now,
    const TenantId& tenant,
    const Lease& lease,
    const CursorUpdate& cursor,
    OpId op) {
  const auto number = find_shard(tenant, lease.shard_key());
  if (!number) return base::fail(CheckpointError(ShardNotFound{lease.shard_key()}));
  const auto decision = decide_checkpoint(view_of(*number), {now, tenant, lease}, cursor, op);
  if (!decision) return base::fail(CheckpointError(checked(decision.error())));
  return IdempotentOutcome<Unit>(CAD_TRY(carry_out(*number, *decision)), {});
}

Result<IdempotentOutcome<Unit>, CompleteError> MemoryBackend::complete(LogicalTime now,
                                                                       const TenantId& tenant,
                                                                       const Lease& lease,
                                                                       const CursorUpdate& cursor,
                                                                       OpId op) {
  const auto number = find_shard(tenant, lease.shard_key());
  if (!number) return base::fail(CompleteError(ShardNotFound{lease.shard_key()}));
  const auto decision = decide_complete(view_of(*number), {now, tenant, lease}, cursor, op);
  if (!decision) return base::fail(CompleteError(checked(decision.error())));
  return IdempotentOutcome<Unit>(CAD_TRY(carry_out(*number, *decision)), {});
}

Result<IdempotentOutcome<Unit>, ReleaseError> MemoryBackend::release_shard(
    LogicalTime now,
    const TenantId& tenant,
    const Lease& lease,
    const CursorUpdate& cursor,
    OpId op) {
  const auto number = find_shard(tenant, lease.shard_key());
  if (!number) return base::fail(ReleaseError(ShardNotFound{lease.shard_key()}));
  const auto decision = decide_release(view_of(*number), {now, tenant, lease}, cursor, op);
  if (!decision) return base::fail(ReleaseError(checked(decision.error())));
  return IdempotentOutcome<Unit>(CAD_TRY(carry_out(*number, *decision)), {});
}

Result<IdempotentOutcome<Unit>, ParkError> MemoryBackend::park_shard(
    LogicalTime now, const TenantId& tenant, const Lease& lease, ParkReason reason, OpId op) {
  const auto number = find_shard(tenant, lease.shard_key());
  if (!number) return base::fail(ParkError(ShardNotFound{lease.shard_key()}));
  const auto decision = decide_park(pool_[*number].state, {now, tenant, lease}, reason, op);
  if (!decision) return base::fail(ParkError(checked(decision.error())));
  const auto outcome = carry_out(*number, *decision);
  CAD_CHECK(outcome.has_value(), "parking stores no bytes");
  return IdempotentOutcome<Unit>(*outcome, {});
}

Result<AcquireResultView, ClaimError> MemoryBackend::claim_next_available(
    LogicalTime now, const TenantId& tenant, RunId run, WorkerId worker, AcquireScratch& out) {
  CAD_CHECK(now != LogicalTime(), "time 0 is no time");
  Tenant* const owner = find_tenant(tenant);
  if (owner == nullptr) return base::fail(ClaimError(RunNotFound{run}));
  const std::uint64_t interval = options_.claim_cooldown_interval;
  if (interval != 0) {
    if (const auto until = owner->cooldowns.throttled_until(worker, now, interval)) {
      return base::fail(ClaimError(Throttled{*until}));
    }
  }
  Run* const found = find_run(tenant, run);
  if (found == nullptr) return base::fail(ClaimError(RunNotFound{run}));
  if (found->record().status != RunStatus::kActive) {
    return base::fail(ClaimError(NoneAvailable{}));
  }
  found->stand_at(now);
  if (found->available() == 0) {
    return base::fail(ClaimError(NoneAvailable{found->earliest_deadline()}));
  }
  // Nobody can come between looking and taking, so the first candidate is taken.
  const Number number = found->free_shard(worker.raw() % found->available());
  const auto decision = decide_acquire(pool_[number].state, {now, tenant, worker},
                                       found->record().config.lease_duration);
  CAD_CHECK(decision.has_value(), "a shard that is free can be acquired");
  if (interval != 0) owner->cooldowns.record(worker, now, interval);
  return acquire(number, *decision, out);
}

}  // namespace cadastre::coord::memory
