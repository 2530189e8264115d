#include "coord/etcd/store_introspection.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/function_ref.h"
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

struct StoreIntrospection::Content {
  std::map<std::string, KeyValue> keys;
  std::vector<RunRecord> runs;    // by tenant and id
  std::vector<ShardDump> shards;  // by tenant, run and id; of registered runs
};

namespace {

// Decodes everything of one run and checks what belongs together.
std::vector<ShardDump> shards_of(const Keyspace& keys,
                                 const RunRecord& run,
                                 const std::map<std::string, KeyValue>& all,
                                 ShownLeases shown) {
  const std::string folder = keys.shards(run.tenant, run.run);
  RangeResult found;
  for (auto at = all.lower_bound(folder); at != all.end() && at->first.starts_with(folder); ++at)
    found.keys.push_back(at->second);
  auto loaded = load_shards(found, run.tenant, run.run, "introspection");
  CAD_CHECK(loaded.has_value(), "every shard's record and owner can be read and fit together");
  std::vector<ShardDump> shards;
  shards.reserve(loaded->size());
  for (LoadedShard& shard : *loaded) {
    if (shown == ShownLeases::kOwned && !shard.owner) shard.record.state.lease.reset();
    shards.push_back(std::move(shard.record));
  }
  return shards;
}

}  // namespace

StoreIntrospection::Content StoreIntrospection::read() const {
  Content content;
  for (KeyValue& entry : read_all_()) {
    std::string key = entry.key;
    content.keys.emplace(std::move(key), std::move(entry));
  }
  for (const auto& [key, entry] : content.keys) {
    if (key.find("/runs/") == std::string::npos || key.find("/shards") != std::string::npos)
      continue;
    auto run = decode_run(base::as_bytes(entry.value));
    CAD_CHECK(run.has_value(), "every run's record can be read");
    CAD_CHECK(keys_.run(run->tenant, run->run) == key, "a run's record is what its key says");
    content.runs.push_back(*std::move(run));
  }
  for (const RunRecord& run : content.runs) {
    if (!is_registered(run)) continue;
    for (ShardDump& shard : shards_of(keys_, run, content.keys, shown_))
      content.shards.push_back(std::move(shard));
  }
  return content;
}

std::vector<ShardDump> StoreIntrospection::dump_shards() const {
  return read().shards;
}

std::vector<RunRecord> StoreIntrospection::dump_runs() const {
  return read().runs;
}

void StoreIntrospection::visit_shards(base::FunctionRef<void(const ShardRecordView&)> visit) const {
  std::vector<ShardDump> shards = read().shards;
  std::ranges::sort(shards, [](const ShardDump& a, const ShardDump& b) {
    if (a.state.tenant != b.state.tenant) return a.state.tenant < b.state.tenant;
    if (a.state.run != b.state.run) return a.state.run < b.state.run;
    if (!base::equal(a.start, b.start)) return base::less(a.start, b.start);
    return a.state.shard < b.state.shard;
  });
  base::Bytes spawned;
  for (const ShardDump& shard : shards)
    visit(view_of(shard, spawned));
}

void StoreIntrospection::verify() const {
  const Content content = read();
  const auto has = [&](const std::string& key) {
    return content.keys.contains(key);
  };
  std::map<TenantId, std::uint64_t> counts;
  std::size_t markers = 0;
  for (const RunRecord& run : content.runs) {
    assert_invariants(run);
    CAD_CHECK(has(keys_.run_active(run.tenant, run.run)) == (run.status == RunStatus::kActive),
              "exactly the active runs have a marker");
    counts[run.tenant] += 0;
  }
  for (const ShardDump& shard : content.shards) {
    const bool is_active = shard.state.status == ShardStatus::kActive;
    CAD_CHECK(has(keys_.shard_active(shard.state.tenant, shard.state.key())) == is_active,
              "exactly the active shards have a marker");
    if (is_active) ++markers;
    ++counts[shard.state.tenant];
  }
  for (const RunRecord& run : content.runs) {
    if (!is_registered(run)) continue;
    const std::string folder = keys_.shards_active(run.tenant, run.run);
    for (auto at = content.keys.lower_bound(folder);
         at != content.keys.end() && at->first.starts_with(folder); ++at) {
      CAD_CHECK(markers > 0, "a marker belongs to an active shard");
      --markers;
    }
  }
  for (const auto& [tenant, count] : counts) {
    const auto stored = content.keys.find(keys_.shard_count(tenant));
    if (stored == content.keys.end()) continue;
    const auto decoded = decode_shard_count(base::as_bytes(stored->second.value));
    CAD_CHECK(decoded.has_value(), "a count can be read");
    CAD_CHECK(*decoded == count, "a tenant's shards are counted");
  }
}

}  // namespace cadastre::coord::etcd
