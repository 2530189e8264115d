// LeaseCache: the records behind leases that this process handed out, or of shards that it saw free, as they were last.
//
// Whoever has one goes straight to the transaction, whose compares find out whether it is still true; nothing
// is ever answered from here alone. A record is taken out while an operation uses it and put back when that
// has succeeded, so a failed or unknown one leaves nothing behind. At the bound the one that was put
// longest ago goes.
//
// Safe from any thread.

#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "coord/etcd/records.h"
#include "coord/identity.h"
#include "coord/lease.h"

namespace cadastre::coord::etcd {

class LeaseCache {
 public:
  explicit LeaseCache(std::size_t max) noexcept : max_(max) {}

  // The record that the lease is of, if it is held under the lease's epoch by its owner.
  [[nodiscard]] std::optional<LoadedLease> take(const TenantId& tenant, const Lease& lease)
      CAD_EXCLUDES(mutex_);
  // Whatever is known of the shard.
  [[nodiscard]] std::optional<LoadedLease> take(const TenantId& tenant, const ShardKey& key)
      CAD_EXCLUDES(mutex_);
  void put(LoadedLease loaded) CAD_EXCLUDES(mutex_);
  void forget(const TenantId& tenant, const ShardKey& key) CAD_EXCLUDES(mutex_);
  [[nodiscard]] std::size_t size() const CAD_EXCLUDES(mutex_);

 private:
  struct Name {
    TenantId tenant;
    ShardKey key;
    friend bool operator==(const Name&, const Name&) = default;
  };
  struct NameHash {
    std::size_t operator()(const Name& name) const noexcept {
      return std::hash<TenantId>{}(name.tenant) * 31 + std::hash<ShardKey>{}(name.key);
    }
  };
  using Entries = std::list<std::pair<Name, LoadedLease>>;  // the oldest first
  using Index = std::unordered_map<Name, Entries::iterator, NameHash>;

  [[nodiscard]] LoadedLease take_out(Index::iterator found) CAD_REQUIRES(mutex_);

  // Constant after construction.
  const std::size_t max_;

  mutable base::Mutex mutex_;
  Entries entries_ CAD_GUARDED_BY(mutex_);
  Index index_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::coord::etcd
