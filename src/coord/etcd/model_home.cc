#include "coord/etcd/model_home.h"

#include "coord/backend.h"
#include "coord/etcd/keyspace.h"
#include "coord/etcd/records.h"
#include "coord/etcd/store.h"
#include "coord/record_codec.h"

namespace cadastre::coord::etcd {

void ModelHome::plant(const ShardDump& shard) {
  const Keyspace& keys = backend.options().keyspace;
  const TenantId& tenant = shard.state.tenant;
  store.force(Put{keys.shard(tenant, shard.state.key()), to_value(encode(shard)), {}});
  store.force(Put{keys.shard_active(tenant, shard.state.key()), {}, {}});
  store.force(Delete{keys.shard_count(tenant), {}});
}

}  // namespace cadastre::coord::etcd
