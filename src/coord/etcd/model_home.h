// ModelHome: the etcd backend on a model of etcd, behind the synchronous interface, with a look inside. For the
// simulator and for tests.
//
// Time and faults are in the hands of whoever made it. One thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "coord/backend.h"
#include "coord/etcd/core.h"
#include "coord/etcd/delay.h"
#include "coord/etcd/etcd_backend.h"
#include "coord/etcd/model_store.h"
#include "coord/etcd/store_introspection.h"
#include "coord/identity.h"
#include "coord/sync_over_async.h"

namespace cadastre::coord::etcd {

// What a home is made of, each built before what borrows it.
struct ModelParts {
  ModelParts(const EtcdOptions& options,
             const ModelOptions& model,
             ShownLeases shown,
             std::uint64_t seed)
      : store(clock, model),
        random(seed),
        backend({store, delay, random, clock}, options),
        introspection(options.keyspace, [this] { return store.dump(); }, shown) {}

  base::ManualClock clock;
  ModelStore store;
  NoDelay delay;
  base::SeededRandom random;
  EtcdBackend backend;
  StoreIntrospection introspection;
};

class ModelHome final : private ModelParts, public SyncOverAsync {
 public:
  ModelHome(const EtcdOptions& options,
            const ModelOptions& model,
            ShownLeases shown = ShownLeases::kStored,
            std::uint64_t seed = 0)
      : ModelParts(options, model, shown, seed), SyncOverAsync(backend, [] { return false; }) {}

  using ModelParts::backend;
  using ModelParts::clock;
  using ModelParts::delay;
  using ModelParts::introspection;
  using ModelParts::store;

  // What has an owner key.
  struct OwnedShard {
    TenantId tenant;
    ShardKey key;
    friend bool operator==(const OwnedShard&, const OwnedShard&) = default;
  };
  [[nodiscard]] std::vector<OwnedShard> owned();
  // Ends the lease of its owner key, as if the time had run out. Then so much time passes that whoever knew the
  // run (of no more than 250 shards) by memory looks again.
  void expire_owner(const OwnedShard& shard);

  // Puts a record there that no request can make, with its marker and counted.
  void plant(const ShardDump& shard);
};

}  // namespace cadastre::coord::etcd
