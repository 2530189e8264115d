#include "coord/etcd/records.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/etcd/keyspace.h"
#include "coord/etcd/store.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/record_codec.h"
#include "coord/run_record.h"
#include "coord/shard_change.h"
#include "coord/shard_record.h"

namespace cadastre::coord::etcd {
namespace {

std::unexpected<InfraError> corrupt(const char* operation, std::string message) {
  return base::fail(corruption(operation, std::move(message)));
}

Result<LoadedShard, InfraError> decode_record(const KeyValue& entry,
                                              const TenantId& tenant,
                                              const ShardKey& key,
                                              const char* operation) {
  auto decoded = decode_shard(base::as_bytes(entry.value));
  if (!decoded)
    return corrupt(operation, "a shard record is unreadable: " + to_text(decoded.error()));
  if (decoded->state.tenant != tenant || decoded->state.key() != key) {
    return corrupt(operation, "a shard record is not what its key says");
  }
  return LoadedShard{*std::move(decoded), entry.modified, std::nullopt};
}

Result<LoadedOwner, InfraError> decode_owner_of(const KeyValue& entry,
                                                const LoadedShard& shard,
                                                const char* operation) {
  const auto decoded = decode_owner(base::as_bytes(entry.value));
  if (!decoded) return corrupt(operation, "an owner is unreadable: " + to_text(decoded.error()));
  if (entry.lease == LeaseId()) return corrupt(operation, "an owner is bound to no lease");
  const ShardState& state = shard.record.state;
  if (!state.lease || state.lease->owner != decoded->worker || state.fence != decoded->fence) {
    return corrupt(operation, "an owner is not the one in the record");
  }
  return LoadedOwner{*decoded, entry.lease};
}

// Nothing while the run's shards cannot be seen.
std::optional<LoadedLease> lease_of(LoadedShard shard, const RunFacts& run) {
  if (!run.is_registered) return std::nullopt;
  return LoadedLease{std::move(shard), run};
}

}  // namespace

std::string to_value(base::ByteView bytes) {
  return std::string(base::as_text(bytes));
}

Result<std::optional<LoadedRun>, InfraError> load_run(const RangeResult& found,
                                                      const TenantId& tenant,
                                                      RunId run,
                                                      const char* operation) {
  if (found.keys.empty()) return std::nullopt;
  const KeyValue& entry = found.keys.front();
  auto decoded = decode_run(base::as_bytes(entry.value));
  if (!decoded)
    return corrupt(operation, "a run record is unreadable: " + to_text(decoded.error()));
  if (decoded->tenant != tenant || decoded->run != run) {
    return corrupt(operation, "a run record is not what its key says");
  }
  return LoadedRun{*std::move(decoded), entry.modified};
}

Result<std::vector<LoadedShard>, InfraError> load_shards(const RangeResult& found,
                                                         const TenantId& tenant,
                                                         RunId run,
                                                         const char* operation) {
  std::vector<LoadedShard> shards;
  for (const KeyValue& entry : found.keys) {
    const auto parsed = parse_shard_key(entry.key);
    if (!parsed) return corrupt(operation, "a key among the shards is none of ours");
    if (parsed->kind == ShardKeyKind::kRecord) {
      shards.push_back(CAD_TRY(decode_record(entry, tenant, {run, parsed->shard}, operation)));
      continue;
    }
    // An owner sorts right behind its record.
    if (shards.empty() || shards.back().record.state.shard != parsed->shard) {
      return corrupt(operation, "an owner has no record");
    }
    shards.back().owner = CAD_TRY(decode_owner_of(entry, shards.back(), operation));
  }
  return shards;
}

Result<std::optional<LoadedShard>, InfraError> load_shard(const RangeResult& found,
                                                          const TenantId& tenant,
                                                          const ShardKey& key,
                                                          const char* operation) {
  auto shards = CAD_TRY(load_shards(found, tenant, key.run, operation));
  if (shards.empty()) return std::nullopt;
  if (shards.size() != 1 || shards.front().record.state.shard != key.shard) {
    return corrupt(operation, "a key under the shard's is none of ours");
  }
  return std::move(shards.front());
}

Result<std::optional<TenantCount>, InfraError> load_count(const RangeResult& found,
                                                          const char* operation) {
  if (found.keys.empty()) return std::nullopt;
  const auto decoded = decode_shard_count(base::as_bytes(found.keys.front().value));
  if (!decoded) return corrupt(operation, "a shard count is unreadable");
  return TenantCount{*decoded, found.keys.front().modified};
}

Result<std::optional<LoadedLease>, InfraError> load_lease(const std::vector<RangeResult>& found,
                                                          const TenantId& tenant,
                                                          const ShardKey& key,
                                                          const char* operation) {
  auto shard = CAD_TRY(load_shard(found.at(0), tenant, key, operation));
  if (!shard) return std::nullopt;
  const auto run = CAD_TRY(load_run(found.at(1), tenant, key.run, operation));
  if (!run) return corrupt(operation, "a shard has no run");
  return lease_of(*std::move(shard), facts_of(*run));
}

Result<std::optional<LoadedLease>, InfraError> load_lease(const RangeResult& found,
                                                          const RunFacts& run,
                                                          const TenantId& tenant,
                                                          const ShardKey& key,
                                                          const char* operation) {
  auto shard = CAD_TRY(load_shard(found, tenant, key, operation));
  if (!shard) return std::nullopt;
  return lease_of(*std::move(shard), run);
}

RunFacts facts_of(const LoadedRun& run) noexcept {
  return {.revision = run.revision,
          .lease_duration = run.record.config.lease_duration,
          .status = run.record.status,
          .is_registered = is_registered(run.record)};
}

void settle(LoadedShard& shard, LogicalTime now) noexcept {
  auto& lease = shard.record.state.lease;
  if (!shard.owner && is_live(lease, now)) lease.reset();
}

ShardDump changed(const ShardDump& record, const ShardChange& change) {
  ShardDump after = record;
  apply_to_state(change, after.state);
  if (change.cursor) {
    const auto key = change.cursor->last_key();
    const auto token = change.cursor->token();
    after.last_key = key ? base::to_owned(*key) : base::Bytes{};
    after.token = token ? base::to_owned(*token) : base::Bytes{};
  }
  if (change.spec) {
    after.start = base::to_owned(change.spec->start());
    after.end = base::to_owned(change.spec->end());
    after.metadata = base::to_owned(change.spec->metadata());
  }
  after.spawned.insert(after.spawned.end(), change.spawned.begin(), change.spawned.end());
  return after;
}

}  // namespace cadastre::coord::etcd
