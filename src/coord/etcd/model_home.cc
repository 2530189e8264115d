#include "coord/etcd/model_home.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/etcd/keyspace.h"
#include "coord/etcd/limits.h"
#include "coord/etcd/records.h"
#include "coord/etcd/store.h"
#include "coord/record_codec.h"

namespace cadastre::coord::etcd {

std::vector<ModelHome::OwnedShard> ModelHome::owned() {
  std::vector<OwnedShard> owned;
  const ShardDump* record = nullptr;
  std::optional<ShardDump> last;
  for (const KeyValue& entry : store.dump()) {
    const auto parsed = parse_shard_key(entry.key);
    if (!parsed) continue;
    if (parsed->kind == ShardKeyKind::kRecord) {
      auto decoded = decode_shard(base::as_bytes(entry.value));
      if (decoded) last = *std::move(decoded);
      record = last ? &*last : nullptr;
    } else if (record != nullptr) {
      owned.push_back({record->state.tenant, record->state.key()});
    }
  }
  return owned;
}

void ModelHome::expire_owner(const OwnedShard& shard) {
  const std::string key = backend.options().keyspace.owner(shard.tenant, shard.key);
  for (const KeyValue& entry : store.dump()) {
    if (entry.key == key) store.expire(entry.lease);
  }
  clock.advance(2 * kProspectsKeptMin + std::chrono::milliseconds(1));
}

void ModelHome::plant(const ShardDump& shard) {
  const Keyspace& keys = backend.options().keyspace;
  const TenantId& tenant = shard.state.tenant;
  store.force(Put{keys.shard(tenant, shard.state.key()), to_value(encode(shard)), {}});
  store.force(Put{keys.shard_active(tenant, shard.state.key()), {}, {}});
  store.force(Delete{keys.shard_count(tenant), {}});
}

}  // namespace cadastre::coord::etcd
