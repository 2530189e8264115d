#include "coord/etcd/run_operations.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/decide_run.h"
#include "coord/errors.h"
#include "coord/etcd/core.h"
#include "coord/etcd/keyspace.h"
#include "coord/etcd/limits.h"
#include "coord/etcd/owned_arguments.h"
#include "coord/etcd/records.h"
#include "coord/etcd/shapes.h"
#include "coord/etcd/store.h"
#include "coord/etcd/task.h"
#include "coord/identity.h"
#include "coord/outcome.h"
#include "coord/record_codec.h"
#include "coord/run_record.h"
#include "coord/shard_limits.h"
#include "coord/states.h"
#include "shard/manifest.h"

namespace cadastre::coord::etcd {
namespace {

constexpr const char* kLoad = "register_shards.load_run";
constexpr const char* kBegin = "register_shards.begin";
constexpr const char* kPrepare = "register_shards.batch";
constexpr const char* kActivate = "register_shards.txn";

// What a shard adds to a batch.
std::size_t batch_bytes(const Keyspace& keys, const ShardDump& shard, std::size_t encoded) {
  const ShardKey key = shard.state.key();
  return keys.shard(shard.state.tenant, key).size() +
         keys.shard_active(shard.state.tenant, key).size() + encoded;
}

}  // namespace

std::vector<ShardDump> roots_of(const RunRecord& run, std::span<const InitialShardInput> manifest) {
  std::vector<ShardDump> shards;
  shards.reserve(manifest.size());
  for (const InitialShardInput& row : manifest) {
    ShardDump& shard = shards.emplace_back();
    shard.state.tenant = run.tenant;
    shard.state.run = run.run;
    shard.state.shard = row.shard;
    shard.state.semantics = run.config.cursor_semantics;
    shard.start = base::to_owned(row.spec.start());
    shard.end = base::to_owned(row.spec.end());
    shard.metadata = base::to_owned(row.spec.metadata());
    if (const auto key = row.cursor.last_key()) shard.last_key = base::to_owned(*key);
    if (const auto token = row.cursor.token()) shard.token = base::to_owned(*token);
  }
  return shards;
}

Task<Result<std::optional<LoadedRun>, InfraError>> RunOperations::load(TenantId tenant,
                                                                       RunId run,
                                                                       const char* operation) {
  std::vector<Range> ranges;
  ranges.push_back(only(core_->keys().run(tenant, run)));
  auto reading = core_->read(std::move(ranges), operation);
  const Core::Found found = co_await reading;
  if (!found) co_return base::fail(found.error());
  co_return load_run(found->front(), tenant, run, operation);
}

Task<Result<RunRecord, CreateRunError>> RunOperations::create(RunRecord record) {
  for (std::uint32_t attempt = 0;; ++attempt) {
    auto committing = core_->commit(core_->shapes().create_run(record), "create_run.txn");
    const auto committed = co_await committing;
    if (!committed) co_return base::fail(CreateRunError(committed.error()));
    if (committed->succeeded) co_return record;
    auto loading = load(record.tenant, record.run, "create_run.load_run");
    const auto loaded = co_await loading;
    if (!loaded) co_return base::fail(CreateRunError(loaded.error()));
    if (*loaded) co_return base::fail(CreateRunError(RunAlreadyExists{record.run}));
    if (core_->is_last(attempt)) co_return base::fail(CreateRunError(exhausted("create_run.txn")));
    auto waiting = core_->wait(attempt);
    (void)co_await waiting;
  }
}

Task<Result<IdempotentOutcome<Unit>, RunTransitionError>> RunOperations::end(RunCall call,
                                                                             RunOpKind kind) {
  for (std::uint32_t attempt = 0;; ++attempt) {
    auto loading = load(call.tenant, call.run, "end_run.load_run");
    const auto loaded = co_await loading;
    if (!loaded) co_return base::fail(RunTransitionError(loaded.error()));
    if (!*loaded) co_return base::fail(RunTransitionError(RunNotFound{call.run}));
    const LoadedRun& run = **loaded;
    auto change = decide_run_transition(run.record, {call.now, call.tenant, call.op}, kind);
    if (!change) co_return base::fail(RunTransitionError(change.error()));
    if (!*change) co_return IdempotentOutcome<Unit>::replayed({});
    if (attempt > core_->options().retries) {
      co_return base::fail(RunTransitionError(exhausted("end_run.txn")));
    }
    RunRecord after = run.record;
    apply_to_run(**std::move(change), after);
    auto committing = core_->commit(core_->shapes().end_run(run, after), "end_run.txn");
    const auto committed = co_await committing;
    core_->runs().forget({call.tenant, call.run});
    if (!committed) co_return base::fail(RunTransitionError(committed.error()));
    if (committed->succeeded) {
      if (!is_registered(after)) {
        // Nobody could ever see what was prepared for it. Whatever stays goes with the run itself.
        auto clearing =
            core_->commit(core_->shapes().forget_prepared({after, committed->at}), "end_run.clear");
        (void)co_await clearing;
      }
      co_return IdempotentOutcome<Unit>::executed({});
    }
    if (!core_->is_last(attempt)) {
      auto waiting = core_->wait(attempt);
      (void)co_await waiting;
    }
  }
}

// ---- Registration --------------------------------------------------------------------------------

Task<RunOperations::Registered> RunOperations::register_shards(RunCall call,
                                                               OwnedManifest manifest) {
  using Ids = IdempotentOutcome<std::vector<ShardId>>;
  for (std::uint32_t attempt = 0;; ++attempt) {
    std::vector<Range> ranges;
    ranges.push_back(only(core_->keys().run(call.tenant, call.run)));
    ranges.push_back(only(core_->keys().shard_count(call.tenant)));
    auto reading = core_->read(std::move(ranges), kLoad);
    const Core::Found found = co_await reading;
    if (!found) co_return base::fail(RegisterShardsError(found.error()));
    auto run = load_run(found->front(), call.tenant, call.run, kLoad);
    if (!run) co_return base::fail(RegisterShardsError(run.error()));
    if (!*run) co_return base::fail(RegisterShardsError(RunNotFound{call.run}));
    auto counting = core_->count_of(call.tenant, found->at(1), kLoad);
    const auto count = co_await counting;
    if (!count) co_return base::fail(RegisterShardsError(count.error()));
    auto summing = core_->counts(*count, manifest.view().size(), kLoad);
    const auto counts = co_await summing;
    if (!counts) co_return base::fail(RegisterShardsError(counts.error()));
    const auto change = decide_register((*run)->record, {call.now, call.tenant, call.op},
                                        manifest.view(), *counts, core_->options().limits);
    if (!change) co_return base::fail(RegisterShardsError(change.error()));
    if (!*change) co_return Ids::replayed(registered_ids((*run)->record, call.op));
    if (attempt > core_->options().retries) {
      co_return base::fail(RegisterShardsError(exhausted(kActivate)));
    }
    auto preparing = prepare_and_activate(call, **std::move(run), &manifest);
    auto registered = co_await preparing;
    if (!registered) co_return base::fail(registered.error());
    if (*registered) co_return Ids::executed(**std::move(registered));
    if (!core_->is_last(attempt)) {
      auto waiting = core_->wait(attempt);
      (void)co_await waiting;
    }
  }
}

Task<RunOperations::Step> RunOperations::prepare_and_activate(RunCall call,
                                                              LoadedRun run,
                                                              const OwnedManifest* manifest) {
  std::vector<ShardDump> shards = roots_of(run.record, manifest->view());
  for (const ShardDump& shard : shards) {
    if (batch_bytes(core_->keys(), shard, encode(shard).size()) > core_->options().txn_bytes_max) {
      co_return base::fail(RegisterShardsError(RegistrationExhausted{"txn_bytes"}));
    }
  }
  auto beginning = core_->commit(core_->shapes().begin(run), kBegin);
  const auto begun = co_await beginning;
  if (!begun) co_return base::fail(RegisterShardsError(begun.error()));
  if (!begun->succeeded) co_return std::optional<std::vector<ShardId>>();
  run.revision = begun->at;

  auto preparing = prepare(run, std::move(shards));
  const auto prepared = co_await preparing;
  if (!prepared) co_return base::fail(RegisterShardsError(prepared.error()));
  if (!*prepared) co_return std::optional<std::vector<ShardId>>();
  auto activating = activate(call, std::move(run), manifest);
  Step activated = co_await activating;
  co_return activated;
}

Task<Result<bool, InfraError>> RunOperations::prepare(LoadedRun run,
                                                      std::vector<ShardDump> shards) {
  const TenantId& tenant = run.record.tenant;
  std::vector<Range> ranges;
  ranges.push_back(all_under(core_->keys().shards(tenant, run.record.run)));
  auto reading = core_->read(std::move(ranges), kPrepare);
  const Core::Found found = co_await reading;
  if (!found) co_return base::fail(found.error());
  std::map<std::string, std::string, std::less<>> there;
  for (const KeyValue& entry : found->front().keys)
    there.emplace(entry.key, entry.value);

  const auto is_there = [&](const ShardDump& shard) {
    const auto at = there.find(core_->keys().shard(tenant, shard.state.key()));
    return at != there.end() && at->second == to_value(encode(shard));
  };
  std::vector<ShardDump> missing;
  for (const ShardDump& shard : shards) {
    if (!is_there(shard)) missing.push_back(shard);
  }
  if (shards.size() - missing.size() != there.size()) {
    // An abandoned attempt with another manifest: nothing of it stays.
    auto clearing = core_->commit(core_->shapes().forget_prepared(run), kPrepare);
    const auto cleared = co_await clearing;
    if (!cleared) co_return base::fail(cleared.error());
    if (!cleared->succeeded) co_return false;
    missing = std::move(shards);
  }
  const std::size_t batch_max = batch_max_of(core_->options().txn_ops_max);
  for (std::size_t first = 0; first < missing.size();) {
    std::size_t count = 0;
    std::size_t bytes = 0;
    while (first + count < missing.size() && count < batch_max) {
      const ShardDump& shard = missing[first + count];
      bytes += batch_bytes(core_->keys(), shard, encode(shard).size());
      if (count != 0 && bytes > core_->options().txn_bytes_max) break;
      ++count;
    }
    auto writing = core_->commit(
        core_->shapes().batch(run, std::span(missing).subspan(first, count)), kPrepare);
    const auto written = co_await writing;
    if (!written) co_return base::fail(written.error());
    if (!written->succeeded) co_return false;
    first += count;
  }
  co_return true;
}

Task<RunOperations::Step> RunOperations::activate(RunCall call,
                                                  LoadedRun run,
                                                  const OwnedManifest* manifest) {
  std::vector<Range> ranges;
  ranges.push_back(only(core_->keys().shard_count(call.tenant)));
  auto reading = core_->read(std::move(ranges), kActivate);
  const Core::Found found = co_await reading;
  if (!found) co_return base::fail(RegisterShardsError(found.error()));
  auto counting = core_->count_of(call.tenant, found->front(), kActivate);
  const auto count = co_await counting;
  if (!count) co_return base::fail(RegisterShardsError(count.error()));
  auto summing = core_->counts(*count, manifest->view().size(), kActivate);
  const auto counts = co_await summing;
  if (!counts) co_return base::fail(RegisterShardsError(counts.error()));
  auto change = decide_register(run.record, {call.now, call.tenant, call.op}, manifest->view(),
                                *counts, core_->options().limits);
  if (!change) co_return base::fail(RegisterShardsError(change.error()));
  RunRecord after = run.record;
  apply_to_run(**std::move(change), after);
  auto committing = core_->commit(core_->shapes().activate(run, after, *count), kActivate);
  const auto committed = co_await committing;
  if (!committed) {
    core_->total_unknown();
    co_return base::fail(RegisterShardsError(committed.error()));
  }
  if (!committed->succeeded) co_return std::optional<std::vector<ShardId>>();
  core_->total_changed(static_cast<std::int64_t>(after.root_shards.size()));
  co_return std::optional<std::vector<ShardId>>(std::move(after.root_shards));
}

}  // namespace cadastre::coord::etcd
