#include "coord/etcd/shapes.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"
#include "coord/backend.h"
#include "coord/etcd/keyspace.h"
#include "coord/etcd/records.h"
#include "coord/etcd/store.h"
#include "coord/identity.h"
#include "coord/record_codec.h"
#include "coord/run_record.h"
#include "coord/shard_record.h"
#include "coord/states.h"

namespace cadastre::coord::etcd {
namespace {

Compare unchanged_since(std::string key, Revision revision) {
  return {std::move(key), Compare::Modified{revision}};
}
Compare absent(std::string key) {
  return {std::move(key), Compare::Absent{}};
}
Compare present(std::string key) {
  return {std::move(key), Compare::Present{}};
}

Put put_count(std::string key, std::uint64_t count) {
  return {std::move(key), to_value(encode_shard_count(count)), {}};
}
Delete all_below(std::string prefix) {
  std::string end = end_of(prefix);
  return {std::move(prefix), std::move(end)};
}

// A transaction about one shard, piece by piece.
class ShardDraft {
 public:
  ShardDraft(const Keyspace& keys, const ShardState& state)
      : keys_(&keys), tenant_(state.tenant), key_(state.key()) {}

  void compare_record(const LoadedShard& before) {
    draft_.compares.push_back(unchanged_since(keys_->shard(tenant_, key_), before.revision));
  }
  // The owner that was loaded, or that there was none.
  void compare_owner(const LoadedShard& before) {
    std::string key = keys_->owner(tenant_, key_);
    if (!before.owner) {
      draft_.compares.push_back(absent(std::move(key)));
      return;
    }
    draft_.compares.push_back(present(key));
    draft_.compares.push_back({key, Compare::Value{to_value(encode(before.owner->value))}});
    draft_.compares.push_back({std::move(key), Compare::BoundTo{before.owner->lease}});
  }
  void put_record(const ShardDump& after) {
    draft_.success.emplace_back(Put{keys_->shard(tenant_, key_), to_value(encode(after)), {}});
  }
  void put_owner(const OwnerValue& owner, LeaseId lease) {
    draft_.success.emplace_back(Put{keys_->owner(tenant_, key_), to_value(encode(owner)), lease});
  }
  void put_marker() {
    draft_.success.emplace_back(Put{keys_->shard_active(tenant_, key_), {}, {}});
  }
  void delete_owner() { draft_.success.emplace_back(Delete{keys_->owner(tenant_, key_), {}}); }
  void delete_marker() {
    draft_.success.emplace_back(Delete{keys_->shard_active(tenant_, key_), {}});
  }
  void make(const ShardDump& fresh) {
    const ShardKey key = fresh.state.key();
    draft_.compares.push_back(absent(keys_->shard(tenant_, key)));
    draft_.success.emplace_back(Put{keys_->shard(tenant_, key), to_value(encode(fresh)), {}});
    draft_.success.emplace_back(Put{keys_->shard_active(tenant_, key), {}, {}});
  }
  void recount(const TenantCount& count, std::uint64_t more) {
    std::string key = keys_->shard_count(tenant_);
    draft_.compares.push_back(guard(key, count));
    draft_.success.emplace_back(put_count(std::move(key), count.value + more));
  }

  [[nodiscard]] Transaction take() { return std::move(draft_); }

 private:
  const Keyspace* keys_;
  TenantId tenant_;
  ShardKey key_;
  Transaction draft_;
};

}  // namespace

Compare guard(const std::string& count_key, const TenantCount& count) {
  return count.revision ? unchanged_since(count_key, *count.revision) : absent(count_key);
}

std::size_t written_bytes(const Transaction& transaction) noexcept {
  std::size_t bytes = 0;
  for (const Operation& operation : transaction.success) {
    if (const auto* put = std::get_if<Put>(&operation))
      bytes += put->key.size() + put->value.size();
    if (const auto* gone = std::get_if<Delete>(&operation)) {
      bytes += gone->key.size() + gone->end.size();
    }
  }
  return bytes;
}

Transaction Shapes::create_run(const RunRecord& run) const {
  const std::string key = keys_->run(run.tenant, run.run);
  Transaction draft;
  draft.compares.push_back(absent(key));
  draft.success.emplace_back(Put{key, to_value(encode(run)), {}});
  return draft;
}

Transaction Shapes::begin(const LoadedRun& run) const {
  const std::string key = keys_->run(run.record.tenant, run.record.run);
  Transaction draft;
  draft.compares.push_back(unchanged_since(key, run.revision));
  draft.success.emplace_back(Put{key, to_value(encode(run.record)), {}});
  return draft;
}

Transaction Shapes::batch(const LoadedRun& run, std::span<const ShardDump> shards) const {
  const TenantId& tenant = run.record.tenant;
  Transaction draft;
  draft.compares.push_back(unchanged_since(keys_->run(tenant, run.record.run), run.revision));
  for (const ShardDump& shard : shards) {
    const ShardKey key = shard.state.key();
    draft.compares.push_back(absent(keys_->shard(tenant, key)));
    draft.success.emplace_back(Put{keys_->shard(tenant, key), to_value(encode(shard)), {}});
    draft.success.emplace_back(Put{keys_->shard_active(tenant, key), {}, {}});
  }
  return draft;
}

Transaction Shapes::activate(const LoadedRun& before,
                             const RunRecord& after,
                             const TenantCount& count) const {
  const std::string key = keys_->run(after.tenant, after.run);
  const std::string count_key = keys_->shard_count(after.tenant);
  Transaction draft;
  draft.compares.push_back(unchanged_since(key, before.revision));
  draft.compares.push_back(guard(count_key, count));
  draft.success.emplace_back(Put{key, to_value(encode(after)), {}});
  draft.success.emplace_back(Put{keys_->run_active(after.tenant, after.run), {}, {}});
  draft.success.emplace_back(put_count(count_key, count.value + after.root_shards.size()));
  return draft;
}

Transaction Shapes::acquire(const LoadedShard& before,
                            const ShardDump& after,
                            LeaseId lease) const {
  ShardDraft draft(*keys_, after.state);
  draft.compare_record(before);
  draft.compare_owner(before);
  draft.put_record(after);
  draft.put_owner({after.state.lease->owner, after.state.fence}, lease);
  return draft.take();
}

Compare Shapes::same_run(const ShardState& state, Revision revision) const {
  return unchanged_since(keys_->run(state.tenant, state.run), revision);
}

Transaction Shapes::leased(const LoadedShard& before, const ShardDump& after, Leaves leaves) const {
  CAD_CHECK(before.owner.has_value(), "whoever acts under a lease has an owner key");
  ShardDraft draft(*keys_, after.state);
  draft.compare_record(before);
  draft.compare_owner(before);
  draft.put_record(after);
  if (leaves != Leaves::kHeld) draft.delete_owner();
  if (leaves == Leaves::kEnded) draft.delete_marker();
  return draft.take();
}

Transaction Shapes::split_replace(const LoadedShard& before, const SplitWrites& writes) const {
  CAD_CHECK(before.owner.has_value(), "whoever acts under a lease has an owner key");
  ShardDraft draft(*keys_, before.record.state);
  draft.compare_record(before);
  draft.compare_owner(before);
  draft.put_record(writes.parent);
  draft.delete_owner();
  draft.delete_marker();
  draft.recount(writes.count, writes.fresh.size());
  for (const ShardDump& child : writes.fresh)
    draft.make(child);
  return draft.take();
}

Transaction Shapes::split_residual(const LoadedShard& before, const SplitWrites& writes) const {
  CAD_CHECK(before.owner.has_value(), "whoever acts under a lease has an owner key");
  ShardDraft draft(*keys_, before.record.state);
  draft.compare_record(before);
  draft.compare_owner(before);
  draft.put_record(writes.parent);
  draft.recount(writes.count, writes.fresh.size());
  for (const ShardDump& residual : writes.fresh)
    draft.make(residual);
  return draft.take();
}

Transaction Shapes::end_run(const LoadedRun& before, const RunRecord& after) const {
  const std::string key = keys_->run(after.tenant, after.run);
  const std::string marker = keys_->run_active(after.tenant, after.run);
  Transaction draft;
  draft.compares.push_back(unchanged_since(key, before.revision));
  const bool was_active = before.record.status == RunStatus::kActive;
  draft.compares.push_back(was_active ? present(marker) : absent(marker));
  draft.success.emplace_back(Put{key, to_value(encode(after)), {}});
  draft.success.emplace_back(Delete{marker, {}});
  return draft;
}

Transaction Shapes::unpark(const LoadedShard& before,
                           const ShardDump& after,
                           const LoadedRun& run) const {
  const RunRecord& record = run.record;
  ShardDraft draft(*keys_, after.state);
  draft.compare_record(before);
  draft.compare_owner(before);
  draft.put_record(after);
  draft.put_marker();
  Transaction whole = draft.take();
  whole.compares.push_back(unchanged_since(keys_->run(record.tenant, record.run), run.revision));
  whole.compares.push_back(present(keys_->run_active(record.tenant, record.run)));
  return whole;
}

Transaction Shapes::forget_run(const LoadedRun& run,
                               const TenantCount& count,
                               std::uint64_t shards) const {
  const RunRecord& record = run.record;
  CAD_CHECK(shards <= count.value, "a tenant's count has the shards of each of its runs");
  const std::string key = keys_->run(record.tenant, record.run);
  const std::string marker = keys_->run_active(record.tenant, record.run);
  const std::string count_key = keys_->shard_count(record.tenant);
  Transaction draft;
  draft.compares.push_back(unchanged_since(key, run.revision));
  draft.compares.push_back(absent(marker));
  draft.compares.push_back(guard(count_key, count));
  draft.success.emplace_back(Delete{key, {}});
  draft.success.emplace_back(Delete{marker, {}});
  draft.success.emplace_back(all_below(keys_->shards(record.tenant, record.run)));
  draft.success.emplace_back(all_below(keys_->shards_active(record.tenant, record.run)));
  draft.success.emplace_back(put_count(count_key, count.value - shards));
  return draft;
}

Transaction Shapes::forget_shards(const LoadedRun& run,
                                  const TenantCount& count,
                                  ShardId last,
                                  std::uint64_t shards) const {
  const RunRecord& record = run.record;
  CAD_CHECK(shards <= count.value, "a tenant's count has the shards of each of its runs");
  const std::string count_key = keys_->shard_count(record.tenant);
  const ShardKey key{record.run, last};
  Transaction draft;
  draft.compares.push_back(unchanged_since(keys_->run(record.tenant, record.run), run.revision));
  draft.compares.push_back(guard(count_key, count));
  draft.success.emplace_back(
      Delete{keys_->shards(record.tenant, record.run), end_of(keys_->shard(record.tenant, key))});
  draft.success.emplace_back(Delete{keys_->shards_active(record.tenant, record.run),
                                    end_of(keys_->shard_active(record.tenant, key))});
  draft.success.emplace_back(put_count(count_key, count.value - shards));
  return draft;
}

Transaction Shapes::forget_prepared(const LoadedRun& run) const {
  const RunRecord& record = run.record;
  Transaction draft;
  draft.compares.push_back(unchanged_since(keys_->run(record.tenant, record.run), run.revision));
  draft.success.emplace_back(all_below(keys_->shards(record.tenant, record.run)));
  draft.success.emplace_back(all_below(keys_->shards_active(record.tenant, record.run)));
  return draft;
}

}  // namespace cadastre::coord::etcd
