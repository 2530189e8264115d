// EtcdHome: the etcd backend on a real etcd, behind the interface that waits, with a look inside. Each has a
// prefix of its own unless one is given.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "coord/backend.h"
#include "coord/etcd/core.h"
#include "coord/etcd/etcd_backend.h"
#include "coord/etcd/etcd_config.h"
#include "coord/etcd/grpc_store.h"
#include "coord/etcd/keyspace.h"
#include "coord/etcd/store.h"
#include "coord/etcd/store_introspection.h"
#include "coord/sync_over_async.h"
#include "node/timer_thread.h"

namespace cadastre::coord::etcd {

// A prefix that nobody else in this process has, on an etcd that only this process has.
[[nodiscard]] std::string fresh_prefix();

struct HomeOptions {
  EtcdConfig config = {};
  EtcdOptions backend;  // whose keyspace is set
};

struct HomeParts {
  explicit HomeParts(const HomeOptions& options);

  base::SystemClock clock;
  base::OsSeededRandom random;
  node::TimerThread timer;
  std::unique_ptr<GrpcStore> store;
  EtcdBackend backend;
  StoreIntrospection introspection;
};

class EtcdHome final : private HomeParts, public SyncOverAsync {
 public:
  explicit EtcdHome(const HomeOptions& options)
      : HomeParts(options), SyncOverAsync(HomeParts::backend) {}

  using HomeParts::backend;
  using HomeParts::introspection;
  using HomeParts::store;

  // Puts a record there that no request can make, with its marker and counted.
  void plant(const ShardDump& shard);
};

// Everything under the keyspace's prefix, by key.
[[nodiscard]] std::vector<KeyValue> read_all(GrpcStore& store, const Keyspace& keys);

}  // namespace cadastre::coord::etcd
