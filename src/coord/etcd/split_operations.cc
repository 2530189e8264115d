#include "coord/etcd/split_operations.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/canonical.h"
#include "coord/decide_split.h"
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
#include "coord/lease_rules.h"
#include "coord/outcome.h"
#include "coord/record_codec.h"
#include "coord/shard_change.h"
#include "coord/shard_record.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/shard_spec.h"
#include "shard/split_coverage.h"

namespace cadastre::coord::etcd {
namespace {

constexpr const char* kReplaceLoad = "split_replace.load_shard";
constexpr const char* kReplaceCommit = "split_replace.txn";
constexpr const char* kResidualLoad = "split_residual.load_shard";
constexpr const char* kResidualCommit = "split_residual.txn";
constexpr std::size_t kResidual = 0;  // instead of a number of children

// A shard that a split makes: of the same run, Active and nobody's.
ShardDump derived_from(const ShardState& parent,
                       ShardId id,
                       const ShardSpecRef& spec,
                       const CursorUpdate& cursor) {
  ShardDump shard;
  shard.state.tenant = parent.tenant;
  shard.state.run = parent.run;
  shard.state.shard = id;
  shard.state.parent = parent.shard;
  shard.state.semantics = parent.semantics;
  shard.start = base::to_owned(spec.start());
  shard.end = base::to_owned(spec.end());
  shard.metadata = base::to_owned(spec.metadata());
  if (const auto key = cursor.last_key()) shard.last_key = base::to_owned(*key);
  if (const auto token = cursor.token()) shard.token = base::to_owned(*token);
  return shard;
}

ShardId derive(const ShardDump& parent, OpId op, DerivedShardKind kind, std::size_t index) {
  return derive_split_shard_id({.run = parent.state.run,
                                .parent = parent.state.shard,
                                .op = op,
                                .kind = kind,
                                .index = static_cast<std::uint32_t>(index)});
}

// Looks among starts that were read before the decision.
struct FindStart {
  const std::map<ShardId, base::Bytes>* starts;
  std::optional<ByteView> operator()(ShardId id) const {
    const auto found = starts->find(id);
    if (found == starts->end()) return std::nullopt;
    return ByteView(found->second);
  }
};

}  // namespace

SplitOperations::Names SplitOperations::names_of_children(const ShardDump& parent,
                                                          OpId op,
                                                          std::size_t count) {
  Names names;
  names.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    names.push_back(derive(parent, op, DerivedShardKind::kChild, parent.spawned.size() + i));
  return names;
}

SplitOperations::Names SplitOperations::names_of_residual(const ShardDump& parent, OpId op) {
  Names names;
  for (std::size_t i = 0; i < parent.spawned.size(); ++i) {
    const ShardId name = derive(parent, op, DerivedShardKind::kResidual, i);
    if (name == parent.spawned[i]) names.push_back(name);
  }
  names.push_back(derive(parent, op, DerivedShardKind::kResidual, parent.spawned.size()));
  return names;
}

Task<Result<std::map<ShardId, base::Bytes>, InfraError>> SplitOperations::find_starts(
    TenantId tenant, RunId run, Names names, const char* operation) {
  std::map<ShardId, base::Bytes> starts;
  for (std::size_t first = 0; first < names.size(); first += kKeysPerReadMax) {
    const std::size_t count = std::min(kKeysPerReadMax, names.size() - first);
    std::vector<Range> ranges;
    ranges.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      ranges.push_back(only(core_->keys().shard(tenant, {run, names[first + i]})));
    auto reading = core_->read(std::move(ranges), operation);
    const Core::Found found = co_await reading;
    if (!found) co_return base::fail(found.error());
    for (std::size_t i = 0; i < count; ++i) {
      const ShardKey key{run, names[first + i]};
      auto shard = load_shard(found->at(i), tenant, key, operation);
      if (!shard) co_return base::fail(shard.error());
      if (*shard) starts.emplace(key.shard, std::move((*shard)->record.start));
    }
  }
  co_return starts;
}

Task<Result<std::optional<SplitOperations::Situation>, InfraError>> SplitOperations::load(
    LeasedCall call, OpId op, std::size_t children, const char* operation) {
  const ShardKey key = call.lease.shard_key();
  std::vector<Range> ranges = core_->lease_ranges(call.tenant, key);
  ranges.push_back(only(core_->keys().shard_count(call.tenant)));
  auto reading = core_->read(std::move(ranges), operation);
  const Core::Found found = co_await reading;
  if (!found) co_return base::fail(found.error());
  auto loaded = load_lease(*found, call.tenant, key, operation);
  if (!loaded) co_return base::fail(loaded.error());
  if (!*loaded) co_return std::optional<Situation>();
  Situation situation{.parent = **std::move(loaded), .count = {}, .counts = {}, .starts = {}};

  auto counting = core_->count_of(call.tenant, found->at(2), operation);
  const auto count = co_await counting;
  if (!count) co_return base::fail(count.error());
  situation.count = *count;
  auto summing = core_->counts(*count, children == kResidual ? 1 : children, operation);
  const auto counts = co_await summing;
  if (!counts) co_return base::fail(counts.error());
  situation.counts = *counts;

  const ShardDump& parent = situation.parent.shard.record;
  auto probing = find_starts(call.tenant, key.run,
                             children == kResidual ? names_of_residual(parent, op)
                                                   : names_of_children(parent, op, children),
                             operation);
  auto starts = co_await probing;
  if (!starts) co_return base::fail(starts.error());
  situation.starts = *std::move(starts);
  settle(situation.parent.shard, call.now);
  co_return std::optional<Situation>(std::move(situation));
}

Task<Result<bool, InfraError>> SplitOperations::commit(Transaction transaction,
                                                       std::size_t fresh,
                                                       const char* operation) {
  auto committing = core_->commit(std::move(transaction), operation);
  const auto committed = co_await committing;
  if (!committed) {
    core_->total_unknown();
    co_return base::fail(committed.error());
  }
  if (committed->succeeded) core_->total_changed(static_cast<std::int64_t>(fresh));
  co_return committed->succeeded;
}

Task<Result<IdempotentOutcome<SplitReplaceResult>, SplitError>> SplitOperations::replace(
    LeasedCall call, OwnedReplacePlan plan, OpId op) {
  const ShardKey key = call.lease.shard_key();
  const std::size_t children = plan.view().children().size();
  for (std::uint32_t attempt = 0;; ++attempt) {
    auto loading = load(call, op, children, kReplaceLoad);
    auto situation = co_await loading;
    if (!situation) co_return base::fail(SplitError(situation.error()));
    if (!*situation) co_return base::fail(SplitError(ShardNotFound{key}));
    const LoadedShard& parent = (*situation)->parent.shard;
    const FindStart find_start{&(*situation)->starts};
    base::Bytes spawned;
    const auto decision = decide_split_replace(view_of(parent.record, spawned),
                                               {call.now, call.tenant, call.lease}, plan.view(), op,
                                               {.counts = (*situation)->counts,
                                                .limits = core_->options().limits,
                                                .children_max = core_->options().children_max,
                                                .find_start = find_start});
    if (!decision) co_return base::fail(SplitError(decision.error()));
    if (decision->outcome == Outcome::kReplayed) {
      co_return IdempotentOutcome<SplitReplaceResult>::replayed(decision->result);
    }
    if (attempt > core_->options().retries)
      co_return base::fail(SplitError(exhausted(kReplaceCommit)));

    const auto ids = decision->result.children.as_span();
    ShardChange change = decision->parent;
    change.spawned = ids;
    SplitWrites writes{changed(parent.record, change), {}, (*situation)->count};
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto& child = plan.view().children()[decision->order[i]];
      writes.fresh.push_back(derived_from(parent.record.state, ids[i], child.spec, child.cursor));
    }
    Transaction transaction = core_->shapes().split_replace(parent, writes);
    if (written_bytes(transaction) > core_->options().txn_bytes_max) {
      co_return base::fail(
          SplitError(SplitInvalid{{.code = shard::SplitError::Code::kBackendChildLimitExceeded,
                                   .values = {children, core_->options().children_max}}}));
    }
    auto committing = commit(std::move(transaction), ids.size(), kReplaceCommit);
    const auto committed = co_await committing;
    if (!committed) {
      core_->runs().forget({call.tenant, key.run});
      co_return base::fail(SplitError(committed.error()));
    }
    if (*committed) {
      core_->cache().forget(call.tenant, key);
      core_->revoke(parent.owner->lease);
      core_->runs().is_over(call.tenant, key);
      for (const ShardId child : ids)
        core_->runs().is_free(call.tenant, {key.run, child});
      co_return IdempotentOutcome<SplitReplaceResult>::executed(decision->result);
    }
    if (!core_->is_last(attempt)) {
      auto waiting = core_->wait(attempt);
      (void)co_await waiting;
    }
  }
}

Task<Result<IdempotentOutcome<SplitResidualResult>, SplitError>> SplitOperations::residual(
    LeasedCall call, OwnedResidualPlan plan, OpId op) {
  const ShardKey key = call.lease.shard_key();
  const SplitResidualPlan wanted = plan.view();
  for (std::uint32_t attempt = 0;; ++attempt) {
    auto loading = load(call, op, kResidual, kResidualLoad);
    auto situation = co_await loading;
    if (!situation) co_return base::fail(SplitError(situation.error()));
    if (!*situation) co_return base::fail(SplitError(ShardNotFound{key}));
    const LoadedShard& parent = (*situation)->parent.shard;
    const FindStart find_start{&(*situation)->starts};
    base::Bytes spawned;
    const auto decision = decide_split_residual(view_of(parent.record, spawned),
                                                {call.now, call.tenant, call.lease}, wanted, op,
                                                {.counts = (*situation)->counts,
                                                 .limits = core_->options().limits,
                                                 .children_max = core_->options().children_max,
                                                 .find_start = find_start});
    if (!decision) co_return base::fail(SplitError(decision.error()));
    if (decision->outcome == Outcome::kReplayed) {
      co_return IdempotentOutcome<SplitResidualResult>::replayed(decision->result);
    }
    if (attempt > core_->options().retries)
      co_return base::fail(SplitError(exhausted(kResidualCommit)));

    const ShardId id = decision->result.residual;
    ShardChange change = decision->parent;
    change.spawned = std::span(&id, 1);
    SplitWrites writes{changed(parent.record, change), {}, (*situation)->count};
    writes.fresh.push_back(
        derived_from(parent.record.state, id, wanted.residual(), CursorUpdate::initial()));
    auto committing = commit(core_->shapes().split_residual(parent, writes), 1, kResidualCommit);
    const auto committed = co_await committing;
    if (!committed) {
      core_->runs().forget({call.tenant, key.run});
      co_return base::fail(SplitError(committed.error()));
    }
    if (*committed) {
      core_->cache().forget(call.tenant, key);
      core_->runs().is_free(call.tenant, {key.run, id});
      co_return IdempotentOutcome<SplitResidualResult>::executed(decision->result);
    }
    if (!core_->is_last(attempt)) {
      auto waiting = core_->wait(attempt);
      (void)co_await waiting;
    }
  }
}

}  // namespace cadastre::coord::etcd
