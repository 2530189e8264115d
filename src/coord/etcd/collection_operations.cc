#include "coord/etcd/collection_operations.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.h"
#include "coord/errors.h"
#include "coord/etcd/core.h"
#include "coord/etcd/keyspace.h"
#include "coord/etcd/limits.h"
#include "coord/etcd/list_operations.h"
#include "coord/etcd/records.h"
#include "coord/etcd/shapes.h"
#include "coord/etcd/store.h"
#include "coord/etcd/task.h"
#include "coord/identity.h"
#include "coord/run_record.h"
#include "coord/states.h"

namespace cadastre::coord::etcd {

bool CollectionOperations::Wanted::matches(const RunRecord& run) const noexcept {
  if (completed_before) return run.completed_at && *run.completed_at < *completed_before;
  return run.status == RunStatus::kInitializing && run.created_at < *initializing_before;
}

Task<Result<std::vector<RunRecord>, InfraError>> CollectionOperations::find(TenantId tenant,
                                                                            Wanted wanted,
                                                                            const char* operation) {
  auto listing = lists_->list_runs(tenant, std::nullopt, std::numeric_limits<std::size_t>::max());
  const auto runs = co_await listing;
  if (!runs) co_return base::fail(runs.error());
  std::vector<RunRecord> found;
  for (std::size_t first = 0; first < runs->size(); first += kKeysPerReadMax) {
    const std::size_t count = std::min(kKeysPerReadMax, runs->size() - first);
    std::vector<Range> ranges;
    ranges.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      ranges.push_back(only(core_->keys().run(tenant, (*runs)[first + i])));
    auto reading = core_->read(std::move(ranges), operation);
    const Core::Found read = co_await reading;
    if (!read) co_return base::fail(read.error());
    for (std::size_t i = 0; i < count; ++i) {
      auto run = load_run(read->at(i), tenant, (*runs)[first + i], operation);
      if (!run) co_return base::fail(run.error());
      if (*run && wanted.matches((*run)->record)) found.push_back((**std::move(run)).record);
    }
  }
  co_return found;
}

Task<Result<CollectionOperations::Try, InfraError>> CollectionOperations::try_forget(
    TenantId tenant, RunId run, Wanted wanted, const char* operation) {
  std::vector<Range> ranges;
  ranges.push_back(only(core_->keys().run(tenant, run)));
  ranges.push_back(only(core_->keys().shard_count(tenant)));
  Range shards = all_under(core_->keys().shards(tenant, run), Fields::kKeys);
  shards.limit = kCollectShardsMax;
  ranges.push_back(std::move(shards));
  auto reading = core_->read(std::move(ranges), operation);
  const Core::Found found = co_await reading;
  if (!found) co_return base::fail(found.error());
  const auto loaded = load_run(found->at(0), tenant, run, operation);
  if (!loaded) co_return base::fail(loaded.error());
  if (!*loaded || !wanted.matches((*loaded)->record)) co_return Try::kUnwanted;
  auto counting = core_->count_of(tenant, found->at(1), operation);
  const auto count = co_await counting;
  if (!count) co_return base::fail(count.error());

  const RangeResult& page = found->at(2);
  std::uint64_t records = 0;
  ShardId last;
  for (const KeyValue& entry : page.keys) {
    const auto parsed = parse_shard_key(entry.key);
    if (!parsed)
      co_return base::fail(corruption(operation, "a key among the shards is none of ours"));
    if (parsed->kind == ShardKeyKind::kRecord) ++records;
    last = parsed->shard;
  }
  const std::uint64_t counted = is_registered((*loaded)->record) ? records : 0;
  if (counted > count->value) {
    co_return base::fail(corruption(operation, "a tenant's count is below the shards of one run"));
  }
  const Shapes shapes = core_->shapes();
  auto committing = core_->commit(page.more ? shapes.forget_shards(**loaded, *count, last, counted)
                                            : shapes.forget_run(**loaded, *count, counted),
                                  operation);
  const auto committed = co_await committing;
  core_->runs().forget({tenant, run});
  if (!committed) {
    core_->total_unknown();
    co_return base::fail(committed.error());
  }
  if (!committed->succeeded) co_return Try::kLost;
  core_->total_changed(-static_cast<std::int64_t>(counted));
  co_return page.more ? Try::kPart : Try::kGone;
}

Task<Result<bool, InfraError>> CollectionOperations::forget(TenantId tenant,
                                                            RunId run,
                                                            Wanted wanted,
                                                            const char* operation) {
  std::uint32_t attempt = 0;
  while (true) {
    auto trying = try_forget(tenant, run, wanted, operation);
    const auto tried = co_await trying;
    if (!tried) co_return base::fail(tried.error());
    switch (*tried) {
      case Try::kGone: co_return true;
      case Try::kUnwanted: co_return false;
      case Try::kPart: attempt = 0; continue;
      case Try::kLost: break;
    }
    if (core_->is_last(attempt)) co_return base::fail(exhausted(operation));
    auto waiting = core_->wait(attempt);
    (void)co_await waiting;
    ++attempt;
  }
}

Task<Result<std::size_t, InfraError>> CollectionOperations::collect_terminal(
    TenantId tenant, LogicalTime completed_before) {
  const Wanted wanted{completed_before, std::nullopt};
  auto finding = find(tenant, wanted, "gc_terminal_runs.scan");
  const auto runs = co_await finding;
  if (!runs) co_return base::fail(runs.error());
  std::size_t gone = 0;
  for (const RunRecord& run : *runs) {
    auto forgetting = forget(tenant, run.run, wanted, "gc_terminal_runs.txn");
    const auto forgotten = co_await forgetting;
    if (!forgotten) co_return base::fail(forgotten.error());
    if (*forgotten) ++gone;
  }
  co_return gone;
}

Task<Result<std::vector<RunId>, InfraError>> CollectionOperations::collect_stale(
    TenantId tenant, LogicalTime cutoff) {
  const Wanted wanted{std::nullopt, cutoff};
  auto finding = find(tenant, wanted, "gc_stale_initializing_runs.scan");
  auto runs = co_await finding;
  if (!runs) co_return base::fail(runs.error());
  std::ranges::sort(*runs, {},
                    [](const RunRecord& run) { return std::tuple(run.created_at, run.run); });
  std::vector<RunId> gone;
  for (const RunRecord& run : *runs) {
    auto forgetting = forget(tenant, run.run, wanted, "gc_stale_initializing_runs.txn");
    const auto forgotten = co_await forgetting;
    if (!forgotten) co_return base::fail(forgotten.error());
    if (*forgotten) gone.push_back(run.run);
  }
  co_return gone;
}

}  // namespace cadastre::coord::etcd
