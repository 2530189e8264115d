#include "coord/etcd/lease_cache.h"

#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include "base/mutex.h"
#include "coord/etcd/records.h"
#include "coord/identity.h"
#include "coord/lease.h"

namespace cadastre::coord::etcd {

std::optional<LoadedLease> LeaseCache::take(const TenantId& tenant, const Lease& lease) {
  const base::MutexLock lock(mutex_);
  const auto found = index_.find({tenant, lease.shard_key()});
  if (found == index_.end()) return std::nullopt;
  const auto& owner = found->second->second.shard.owner;
  if (!owner || owner->value.fence != lease.fence() || owner->value.worker != lease.owner()) {
    return std::nullopt;
  }
  return take_out(found);
}

std::optional<LoadedLease> LeaseCache::take(const TenantId& tenant, const ShardKey& key) {
  const base::MutexLock lock(mutex_);
  const auto found = index_.find({tenant, key});
  if (found == index_.end()) return std::nullopt;
  return take_out(found);
}

LoadedLease LeaseCache::take_out(Index::iterator found) {
  LoadedLease loaded = std::move(found->second->second);
  entries_.erase(found->second);
  index_.erase(found);
  return loaded;
}

void LeaseCache::put(LoadedLease loaded) {
  if (max_ == 0) return;
  const base::MutexLock lock(mutex_);
  const Name name{loaded.shard.record.state.tenant, loaded.shard.record.state.key()};
  if (const auto found = index_.find(name); found != index_.end()) {
    // Operations of one lease may end out of order: the later record stays.
    if (found->second->second.shard.revision > loaded.shard.revision) return;
    entries_.erase(found->second);
    index_.erase(found);
  }
  if (entries_.size() == max_) {
    index_.erase(entries_.front().first);
    entries_.pop_front();
  }
  entries_.emplace_back(name, std::move(loaded));
  index_.emplace(name, std::prev(entries_.end()));
}

void LeaseCache::forget(const TenantId& tenant, const ShardKey& key) {
  const base::MutexLock lock(mutex_);
  const auto found = index_.find({tenant, key});
  if (found == index_.end()) return;
  entries_.erase(found->second);
  index_.erase(found);
}

std::size_t LeaseCache::size() const {
  const base::MutexLock lock(mutex_);
  return entries_.size();
}

}  // namespace cadastre::coord::etcd
