#include "coord/etcd/list_operations.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/etcd/core.h"
#include "coord/etcd/keyspace.h"
#include "coord/etcd/limits.h"
#include "coord/etcd/records.h"
#include "coord/etcd/store.h"
#include "coord/etcd/task.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/progress.h"
#include "coord/record_codec.h"
#include "coord/run_record.h"
#include "coord/shard_record.h"
#include "coord/shard_summary.h"
#include "coord/states.h"

namespace cadastre::coord::etcd {
namespace {

bool comes_before(const LoadedShard& a, const LoadedShard& b) noexcept {
  if (!base::equal(a.record.start, b.record.start))
    return base::less(a.record.start, b.record.start);
  return a.record.state.shard < b.record.state.shard;
}

}  // namespace

Task<Result<std::optional<RunContent>, InfraError>> ListOperations::content(TenantId tenant,
                                                                            RunId run,
                                                                            const char* operation) {
  std::vector<Range> ranges;
  ranges.push_back(only(core_->keys().run(tenant, run)));
  ranges.push_back(all_under(core_->keys().shards(tenant, run)));
  auto reading = core_->read(std::move(ranges), operation);
  const Core::Found found = co_await reading;
  if (!found) co_return base::fail(found.error());
  auto loaded = load_run(found->at(0), tenant, run, operation);
  if (!loaded) co_return base::fail(loaded.error());
  if (!*loaded) co_return std::optional<RunContent>();
  RunContent content{**std::move(loaded), {}, found->at(1).at};
  if (is_registered(content.run.record)) {
    auto shards = load_shards(found->at(1), tenant, run, operation);
    if (!shards) co_return base::fail(shards.error());
    content.shards = *std::move(shards);
  }
  co_return std::optional<RunContent>(std::move(content));
}

Task<Result<RunRecord, GetRunError>> ListOperations::get_run(TenantId tenant, RunId run) {
  std::vector<Range> ranges;
  ranges.push_back(only(core_->keys().run(tenant, run)));
  auto reading = core_->read(std::move(ranges), "get_run.load_run");
  const Core::Found found = co_await reading;
  if (!found) co_return base::fail(GetRunError(found.error()));
  auto loaded = load_run(found->front(), tenant, run, "get_run.load_run");
  if (!loaded) co_return base::fail(GetRunError(loaded.error()));
  if (!*loaded) co_return base::fail(GetRunError(RunNotFound{run}));
  co_return (**std::move(loaded)).record;
}

Task<Result<ShardDump, GetShardError>> ListOperations::get_shard(TenantId tenant, ShardKey key) {
  auto reading = core_->read(core_->lease_ranges(tenant, key), "get_shard.load_shard");
  const Core::Found found = co_await reading;
  if (!found) co_return base::fail(GetShardError(found.error()));
  auto loaded = load_lease(*found, tenant, key, "get_shard.load_shard");
  if (!loaded) co_return base::fail(GetShardError(loaded.error()));
  if (!*loaded) co_return base::fail(GetShardError(ShardNotFound{key}));
  co_return (**std::move(loaded)).shard.record;
}

Task<Result<RunProgress, GetRunError>> ListOperations::progress(LogicalTime now,
                                                                TenantId tenant,
                                                                RunId run) {
  auto loading = content(tenant, run, "get_run_progress.load");
  auto found = co_await loading;
  if (!found) co_return base::fail(GetRunError(found.error()));
  if (!*found) co_return base::fail(GetRunError(RunNotFound{run}));
  RunProgress progress;
  for (LoadedShard& shard : (*found)->shards) {
    settle(shard, now);
    const ShardDump& record = shard.record;
    std::optional<base::ByteView> last_key;
    if (!record.last_key.empty()) last_key = record.last_key;
    progress.observe(record.state.status, is_live(record.state.lease, now), last_key);
  }
  co_return progress;
}

Task<Result<std::vector<ShardSummary>, ListShardsError>> ListOperations::list_shards(
    LogicalTime now, TenantId tenant, RunId run, ShardFilter filter, ShardPage page) {
  auto loading = content(tenant, run, "list_shards.load");
  auto found = co_await loading;
  if (!found) co_return base::fail(ListShardsError(found.error()));
  if (!*found) co_return base::fail(ListShardsError(RunNotFound{run}));
  auto& shards = (*found)->shards;
  std::ranges::sort(shards, comes_before);
  auto at = shards.begin();
  if (page.after) {
    at = std::ranges::find_if(
        shards, [&](const LoadedShard& shard) { return shard.record.state.shard == *page.after; });
    if (at == shards.end()) {
      co_return base::fail(ListShardsError(ShardNotFound{{run, *page.after}}));
    }
    ++at;
  }
  std::vector<ShardSummary> summaries;
  for (; at != shards.end() && summaries.size() < page.limit; ++at) {
    settle(*at, now);
    base::Bytes spawned;
    const ShardRecordView record = view_of(at->record, spawned);
    if (filter.matches(record.state, now)) summaries.push_back(summarize(record, now));
  }
  co_return summaries;
}

Task<Result<ClaimCandidates, GetRunError>> ListOperations::candidates(LogicalTime now,
                                                                      TenantId tenant,
                                                                      RunId run) {
  auto surveying = survey(now, tenant, run);
  auto found = co_await surveying;
  if (!found) co_return base::fail(found.error());
  co_return std::move(found->candidates);
}

Task<Result<Survey, GetRunError>> ListOperations::survey(LogicalTime now,
                                                         TenantId tenant,
                                                         RunId run) {
  auto loading = content(tenant, run, "collect_claim_candidates.load");
  auto found = co_await loading;
  if (!found) co_return base::fail(GetRunError(found.error()));
  if (!*found) co_return base::fail(GetRunError(RunNotFound{run}));
  auto& shards = (*found)->shards;
  Survey survey{.candidates = {},
                .free = {},
                .status = (*found)->run.record.status,
                .shards = shards.size(),
                .revision = (*found)->at};
  if (survey.status != RunStatus::kActive) co_return survey;
  survey.candidates.earliest_deadline = exact_hint(shards, now).earliest_deadline;
  const RunFacts facts = facts_of((*found)->run);
  for (LoadedShard& shard : shards) {
    const ShardState& state = shard.record.state;
    if (state.status != ShardStatus::kActive || is_live(state.lease, now)) continue;
    survey.candidates.shards.push_back(state.shard);
    survey.free.push_back({std::move(shard), facts});
  }
  co_return survey;
}

Task<Result<std::vector<RunId>, InfraError>> ListOperations::list_runs(TenantId tenant,
                                                                       std::optional<RunId> after,
                                                                       std::size_t limit) {
  for (std::uint32_t attempt = 0; attempt < kListAttemptsMax; ++attempt) {
    auto listing = list_at_once(tenant, {after, limit});
    auto runs = co_await listing;
    if (!runs) co_return base::fail(runs.error());
    if (*runs) co_return **std::move(runs);
  }
  co_return base::fail(transient("list_runs.scan", "etcd forgets faster than the runs are read"));
}

Task<Result<std::optional<std::vector<RunId>>, InfraError>> ListOperations::list_at_once(
    TenantId tenant, RunPage wanted) {
  const Keyspace& keys = core_->keys();
  const std::string end = end_of(keys.runs(tenant));
  std::string next =
      wanted.after ? end_of(keys.run(tenant, *wanted.after) + "/") : keys.runs(tenant);
  Revision at{};  // of the first step, for all
  std::vector<RunId> runs;
  while (runs.size() < wanted.limit) {
    auto step = core_->read_at(
        {.key = next, .end = end, .limit = kRunScanKeysMax, .fields = Fields::kKeys, .at = at},
        "list_runs.scan");
    const auto found = co_await step;
    if (!found) co_return base::fail(found.error());
    if (!*found) co_return std::optional<std::vector<RunId>>();
    const RangeResult& page = **found;
    if (at == Revision()) at = page.at;
    for (const KeyValue& entry : page.keys) {
      const auto of = keys.run_of_key(tenant, entry.key);
      if (!of) {
        co_return base::fail(corruption("list_runs.scan", "a key among the runs is none of ours"));
      }
      if (of->is_record && runs.size() < wanted.limit) runs.push_back(of->run);
      // What is left of this run's shards is passed over.
      next = end_of(keys.run(tenant, of->run) + "/");
    }
    if (!page.more) break;
  }
  co_return std::optional(std::move(runs));
}

Task<Result<std::vector<RunId>, InfraError>> ListOperations::list_active_runs(TenantId tenant) {
  const std::string folder = core_->keys().runs_active(tenant);
  std::vector<Range> ranges;
  ranges.push_back(all_under(folder, Fields::kKeys));
  auto reading = core_->read(std::move(ranges), "list_active_runs.scan");
  const Core::Found found = co_await reading;
  if (!found) co_return base::fail(found.error());
  std::vector<RunId> runs;
  for (const KeyValue& entry : found->front().keys) {
    const auto id = parse_id(std::string_view(entry.key).substr(folder.size()));
    if (!id) {
      co_return base::fail(
          corruption("list_active_runs.scan", "a key among the active runs is none of ours"));
    }
    runs.push_back(RunId::from_raw(*id));
  }
  co_return runs;
}

}  // namespace cadastre::coord::etcd
