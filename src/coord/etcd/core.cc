#include "coord/etcd/core.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "coord/errors.h"
#include "coord/etcd/delay.h"
#include "coord/etcd/keyspace.h"
#include "coord/etcd/limits.h"
#include "coord/etcd/records.h"
#include "coord/etcd/store.h"
#include "coord/etcd/task.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/outcome.h"
#include "coord/shard_limits.h"
#include "coord/snapshot.h"
#include "coord/states.h"

namespace cadastre::coord::etcd {
namespace {

InfraError infra(const char* operation, const base::Error<StoreError>& error) {
  switch (error.code) {
    case StoreError::kUnavailable: return transient(operation, "unavailable: " + error.detail);
    case StoreError::kOutcomeUnknown:
      return transient(operation, "outcome unknown: " + error.detail);
    case StoreError::kRefused: return transient(operation, "refused: " + error.detail);
    case StoreError::kCompacted: return transient(operation, "compacted: " + error.detail);
    case StoreError::kNoLease: break;
  }
  return transient(operation, "the lease is gone");
}

// An owner key on a spare lease still lasts the owner's TTL.
std::chrono::seconds spare_age_max(const EtcdOptions& options) {
  return options.owner_ttl / kSpareLeaseAgeDivisor;
}

CapacityHint hint_of(std::size_t free) {
  return {static_cast<std::uint32_t>(
              std::min<std::size_t>(free, std::numeric_limits<std::uint32_t>::max())),
          std::nullopt};
}

}  // namespace

InfraError exhausted(const char* operation) {
  return transient(operation, "CAS retry budget exhausted");
}

Result<void, InfraError> check_lease(const RunConfig& config, const EtcdOptions& options) {
  if (options.tick.count() == 0) return {};
  const auto longest = static_cast<std::uint64_t>(options.owner_ttl / options.tick);
  if (config.lease_duration <= longest) return {};
  return base::fail(
      refused("create_run", fmt::format("a lease of {} ms outlasts the owner key in etcd, which is "
                                        "kept for {} s: raise the owner's TTL or "
                                        "take a shorter lease",
                                        config.lease_duration, options.owner_ttl.count())));
}

Core::Core(const EtcdParts& parts, EtcdOptions options)
    : store_(&parts.store),
      delay_(&parts.delay),
      clock_(&parts.clock),
      options_(std::move(options)),
      cache_(options_.lease_cache_max),
      free_records_(kFreeRecordsMax),
      runs_(kRememberedRunsMax),
      spares_(kSpareLeasesMax, spare_age_max(options_)),
      complaints_(parts.clock, parts.log),
      cooldowns_(options_.claim_cooldown_interval),
      random_(&parts.random) {
  CAD_CHECK(options_.retries >= 1 && options_.retries <= kTxnRetriesMax, "retries are bounded");
  CAD_CHECK(options_.children_max >= 1, "a shard can be split");
  CAD_CHECK(options_.children_max <= children_max_of(options_.txn_ops_max),
            "a split fits one transaction");
  CAD_CHECK(batch_max_of(options_.txn_ops_max) >= 1, "a shard fits one transaction");
  CAD_CHECK(options_.owner_ttl.count() > 0, "an owner key lasts a while");
  CAD_CHECK(options_.limits.per_tenant_max > 0, "a tenant may have a shard");
  CAD_CHECK(options_.limits.total_max > 0, "a registry may have a shard");
}

Task<Core::Found> Core::read(std::vector<Range> ranges, const char* operation) {
  using Answer = Result<std::vector<RangeResult>, StoreError>;
  Awaited<Answer> call([&](std::move_only_function<void(Answer)> done) {
    store_->read(std::move(ranges), std::move(done));
  });
  Answer answer = co_await call;
  if (!answer) co_return base::fail(infra(operation, answer.error()));
  co_return *std::move(answer);
}

Task<Result<std::optional<RangeResult>, InfraError>> Core::read_at(Range range,
                                                                   const char* operation) {
  using Answer = Result<std::vector<RangeResult>, StoreError>;
  std::vector<Range> ranges;
  ranges.push_back(std::move(range));
  Awaited<Answer> call([&](std::move_only_function<void(Answer)> done) {
    store_->read(std::move(ranges), std::move(done));
  });
  Answer answer = co_await call;
  if (answer) co_return std::optional(std::move(answer->front()));
  if (answer.error().code == StoreError::kCompacted) co_return std::optional<RangeResult>();
  co_return base::fail(infra(operation, answer.error()));
}

Task<Result<TransactionResult, InfraError>> Core::commit(Transaction transaction,
                                                         const char* operation) {
  using Answer = Result<TransactionResult, StoreError>;
  Awaited<Answer> call([&](std::move_only_function<void(Answer)> done) {
    store_->commit(std::move(transaction), std::move(done));
  });
  Answer answer = co_await call;
  if (answer) co_return *std::move(answer);
  if (answer.error().code == StoreError::kNoLease) co_return TransactionResult{};
  co_return base::fail(infra(operation, answer.error()));
}

Task<Result<GrantedLease, InfraError>> Core::grant(Grant which, const char* operation) {
  const base::Elapsed since = elapsed();
  if (which == Grant::kSpareOrNew) {
    const SpareLeases::Taken taken = spares_.take(since);
    for (const LeaseId old : taken.old)
      revoke(old);
    if (taken.lease) co_return *taken.lease;
  }
  using Answer = Result<LeaseId, StoreError>;
  Awaited<Answer> call([&](std::move_only_function<void(Answer)> done) {
    store_->grant_lease(options_.owner_ttl + spare_age_max(options_), std::move(done));
  });
  Answer answer = co_await call;
  if (!answer) co_return base::fail(infra(operation, answer.error()));
  co_return GrantedLease{*answer, since};
}

void Core::retire(LeaseId lease, std::optional<base::Elapsed> since) {
  if (since && spares_.put({lease, *since}, elapsed())) return;
  revoke(lease);
}

void Core::revoke_spares() {
  for (auto taken = spares_.take(elapsed()); taken.lease; taken = spares_.take(elapsed())) {
    taken.old.push_back(taken.lease->id);
    for (const LeaseId lease : taken.old)
      revoke(lease);
  }
}

void Core::revoke(LeaseId lease) {
  auto pass = gate_.enter();
  if (!pass) return;
  store_->revoke_lease(lease,
                       [this, held = std::move(pass)](const Result<void, StoreError>& revoked) {
                         // One that is gone is what was wanted.
                         if (!revoked && revoked.error().code != StoreError::kNoLease)
                           complaints_.add(Chore::kRevoke, revoked.error());
                       });
}

void Core::keep_alive(LeaseId lease) {
  auto pass = gate_.enter();
  if (!pass) return;
  store_->keep_alive(
      lease, [this, held = std::move(pass)](const Result<std::chrono::seconds, StoreError>& kept) {
        if (!kept) complaints_.add(Chore::kKeepAlive, kept.error());
      });
}

Task<Unit> Core::wait(std::uint32_t attempt) {
  std::chrono::nanoseconds time{};
  {
    const base::MutexLock lock(mutex_);
    time = jittered(retry_delay(attempt), *random_);
  }
  Awaited<Unit> call([&](std::move_only_function<void(Unit)> done) {
    delay_->wait(time, [done = std::move(done)]() mutable { done(Unit{}); });
  });
  const Unit waited = co_await call;
  co_return waited;
}

std::vector<Range> Core::lease_ranges(const TenantId& tenant, const ShardKey& key) const {
  std::vector<Range> ranges;
  ranges.push_back(all_under(keys().shard(tenant, key)));
  ranges.push_back(only(keys().run(tenant, key.run)));
  return ranges;
}

Task<Result<std::optional<LoadedLease>, InfraError>> Core::load_lease(TenantId tenant,
                                                                      ShardKey key,
                                                                      const char* operation) {
  const RunName run{tenant, key.run};
  if (const auto facts = runs_.facts(run)) {
    std::vector<Range> ranges = lease_ranges(tenant, key);
    ranges.back().fields = Fields::kKeys;
    auto reading = read(std::move(ranges), operation);
    const Found found = co_await reading;
    if (!found) co_return base::fail(found.error());
    const auto& there = found->at(1).keys;
    if (!there.empty() && there.front().modified == facts->revision)
      co_return etcd::load_lease(found->at(0), *facts, tenant, key, operation);
  }
  auto reading = read(lease_ranges(tenant, key), operation);
  const Found found = co_await reading;
  if (!found) co_return base::fail(found.error());
  auto loaded = etcd::load_lease(*found, tenant, key, operation);
  if (loaded && *loaded) runs_.remember(run, (*loaded)->run);
  co_return loaded;
}

// ---- Counts --------------------------------------------------------------------------------------

Task<Result<TenantCount, InfraError>> Core::count_of(TenantId tenant,
                                                     RangeResult found,
                                                     const char* operation) {
  const auto stored = load_count(found, operation);
  if (!stored) co_return base::fail(stored.error());
  if (*stored) co_return **stored;
  // Whoever changes what is counted writes the count: if it is still absent when the transaction compares, the
  // steps of the recount saw one state.
  auto counting = recount(tenant, operation);
  const auto counted = co_await counting;
  if (!counted) co_return base::fail(counted.error());
  co_return TenantCount{*counted, std::nullopt};
}

Task<Result<std::uint64_t, InfraError>> Core::recount(TenantId tenant, const char* operation) {
  std::vector<Range> all;
  all.push_back(all_under(keys().runs(tenant), Fields::kKeys));
  auto scan = read(std::move(all), operation);
  const Found found = co_await scan;
  if (!found) co_return base::fail(found.error());
  std::vector<std::pair<RunId, std::uint64_t>> runs;  // with the shards of each
  for (const KeyValue& entry : found->front().keys) {
    const auto of = keys().run_of_key(tenant, entry.key);
    if (!of) co_return base::fail(corruption(operation, "a key among the runs is none of ours"));
    if (runs.empty() || runs.back().first != of->run) runs.emplace_back(of->run, 0);
    const auto parsed = parse_shard_key(entry.key);
    if (parsed && parsed->kind == ShardKeyKind::kRecord) ++runs.back().second;
  }
  std::uint64_t count = 0;
  for (const auto& [run, shards] : runs) {
    if (shards == 0) continue;
    std::vector<Range> one;
    one.push_back(only(keys().run(tenant, run)));
    auto reading = read(std::move(one), operation);
    const Found record = co_await reading;
    if (!record) co_return base::fail(record.error());
    const auto loaded = load_run(record->front(), tenant, run, operation);
    if (!loaded) co_return base::fail(loaded.error());
    if (*loaded && is_registered((*loaded)->record)) count += shards;
  }
  co_return count;
}

Task<Result<std::uint64_t, InfraError>> Core::sum_of_counts(const char* operation) {
  const std::string end = end_of(keys().tenants());
  std::string next = keys().tenants();
  std::optional<std::string> count_key;
  std::uint64_t sum = 0;
  while (true) {
    // The count of the tenant found before, and the next tenant's first key.
    std::vector<Range> ranges;
    ranges.push_back({.key = next, .end = end, .limit = 1, .fields = Fields::kKeys});
    if (count_key) ranges.push_back(only(*count_key));
    auto step = read(std::move(ranges), operation);
    const Found found = co_await step;
    if (!found) co_return base::fail(found.error());
    if (count_key) {
      const auto count = load_count(found->at(1), operation);
      if (!count) co_return base::fail(count.error());
      if (*count) sum += (*count)->value;
    }
    if (found->front().keys.empty()) co_return sum;
    const auto digits = keys().tenant_digits(found->front().keys.front().key);
    if (!digits)
      co_return base::fail(corruption(operation, "a key among the tenants is none of ours"));
    const std::string folder = keys().tenants() + std::string(*digits) + "/";
    count_key = folder + "shard_count";
    next = end_of(folder);
  }
}

std::optional<std::uint64_t> Core::remembered_total(std::uint64_t additional) {
  const base::MutexLock lock(mutex_);
  if (!total_ || ++total_age_ > kTotalAgeMax) return std::nullopt;
  const std::uint64_t max = options_.limits.total_max;
  if (*total_ > max || additional > max - *total_) return std::nullopt;
  return total_;
}

Task<Result<ShardCounts, InfraError>> Core::counts(TenantCount tenant,
                                                   std::uint64_t additional,
                                                   const char* operation) {
  std::optional<std::uint64_t> total = remembered_total(additional);
  if (!total) {
    auto summing = sum_of_counts(operation);
    const auto sum = co_await summing;
    if (!sum) co_return base::fail(sum.error());
    total = *sum;
    const base::MutexLock lock(mutex_);
    total_ = total;
    total_age_ = 0;
  }
  co_return ShardCounts{tenant.value, std::max(*total, tenant.value)};
}

void Core::total_changed(std::int64_t by) {
  const base::MutexLock lock(mutex_);
  if (!total_) return;
  const auto less = by < 0 ? static_cast<std::uint64_t>(-by) : 0;
  total_ = by < 0 ? *total_ - std::min(*total_, less) : *total_ + static_cast<std::uint64_t>(by);
}

void Core::total_unknown() {
  const base::MutexLock lock(mutex_);
  total_.reset();
}

// ---- Hints ---------------------------------------------------------------------------------------

void Core::ask_hint(Transaction& transaction, const TenantId& tenant, RunId run) {
  switch (options_.hints) {
    case Hints::kNone: return;
    case Hints::kCounted:
      if (runs_.free_count({tenant, run}, elapsed())) return;
      transaction.success.emplace_back(
          all_under(keys().shards_active(tenant, run), Fields::kCount));
      transaction.success.emplace_back(all_under(keys().shards(tenant, run), Fields::kKeys));
      return;
    case Hints::kExact: transaction.success.emplace_back(all_under(keys().shards(tenant, run)));
  }
}

CapacityHint exact_hint(std::vector<LoadedShard>& shards, LogicalTime now) {
  CapacityHint hint;
  for (LoadedShard& shard : shards) {
    settle(shard, now);
    const auto& state = shard.record.state;
    if (state.status != ShardStatus::kActive) continue;
    if (!is_live(state.lease, now)) {
      ++hint.available_count;
    } else if (!hint.earliest_deadline || state.lease->deadline < *hint.earliest_deadline) {
      hint.earliest_deadline = state.lease->deadline;
    }
  }
  return hint;
}

CapacityHint Core::hint(const std::vector<RangeResult>& found,
                        const TenantId& tenant,
                        RunId run,
                        LogicalTime now) {
  switch (options_.hints) {
    case Hints::kNone: break;
    case Hints::kCounted: {
      if (found.empty()) return hint_of(runs_.free_count({tenant, run}, elapsed()).value_or(0));
      const auto owners = std::ranges::count_if(found.at(1).keys, [](const KeyValue& entry) {
        const auto parsed = parse_shard_key(entry.key);
        return parsed && parsed->kind == ShardKeyKind::kOwner;
      });
      const auto free =
          static_cast<std::size_t>(std::max<std::int64_t>(0, found.at(0).count - owners));
      runs_.remember_count({tenant, run}, free, elapsed());
      return hint_of(free);
    }
    case Hints::kExact: {
      auto shards = load_shards(found.at(0), tenant, run, "hint");
      if (shards) return exact_hint(*shards, now);
      complaints_.add(Chore::kHint, shards.error());
      return CapacityHint::zero();
    }
  }
  return CapacityHint::zero();
}

}  // namespace cadastre::coord::etcd
