#include "coord/etcd/run_memory.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/clock.h"
#include "base/mutex.h"
#include "coord/etcd/limits.h"
#include "coord/etcd/prospects.h"
#include "coord/etcd/records.h"
#include "coord/identity.h"

namespace cadastre::coord::etcd {

RunMemory::Entry* RunMemory::find(const RunName& run) {
  const auto found = entries_.find(run);
  if (found == entries_.end()) return nullptr;
  found->second.used = ++uses_;
  return &found->second;
}

RunMemory::Entry& RunMemory::find_or_make(const RunName& run) {
  if (Entry* const entry = find(run)) return *entry;
  if (entries_.size() >= max_) {
    entries_.erase(std::ranges::min_element(entries_, {},
                                            [](const auto& named) { return named.second.used; }));
  }
  return entries_.emplace(run, Entry{.reading = Reading(readings_ + 1), .used = ++uses_})
      .first->second;
}

RunMemory::Entry* RunMemory::read_by(const RunName& run, Reading reading) {
  Entry* const entry = find(run);
  return entry != nullptr && reading >= entry->reading ? entry : nullptr;
}

std::optional<RunFacts> RunMemory::facts(const RunName& run) {
  const base::MutexLock lock(mutex_);
  const Entry* const entry = find(run);
  return entry != nullptr ? entry->facts : std::nullopt;
}

void RunMemory::remember(const RunName& run, const RunFacts& facts) {
  const base::MutexLock lock(mutex_);
  find_or_make(run).facts = facts;
}

bool RunMemory::wants_reading(const RunName& run, base::Elapsed at) {
  const base::MutexLock lock(mutex_);
  const Entry* const entry = find(run);
  return entry == nullptr || entry->prospects.wants_reading(at);
}

RunMemory::Reading RunMemory::begin_reading(const RunName& run) {
  const base::MutexLock lock(mutex_);
  find_or_make(run).prospects.begin_reading();
  return Reading(++readings_);
}

void RunMemory::show(const RunName& run,
                     Reading reading,
                     const ProspectReading& found,
                     base::Elapsed at) {
  const base::MutexLock lock(mutex_);
  if (Entry* const entry = read_by(run, reading)) entry->prospects.show(found, at);
}

void RunMemory::fail_reading(const RunName& run, Reading reading) {
  const base::MutexLock lock(mutex_);
  if (Entry* const entry = read_by(run, reading)) entry->prospects.fail_reading();
}

std::optional<ShardId> RunMemory::take(const RunName& run,
                                       const Claimant& claimant,
                                       base::Elapsed at) {
  const base::MutexLock lock(mutex_);
  Entry* const entry = find(run);
  if (entry == nullptr) return std::nullopt;
  return entry->prospects.take(claimant.worker, claimant.now, at);
}

void RunMemory::is_free(const TenantId& tenant, const ShardKey& key) {
  const base::MutexLock lock(mutex_);
  if (Entry* const entry = find({tenant, key.run})) entry->prospects.put_back(key.shard);
}

void RunMemory::is_held(const TenantId& tenant, const ShardKey& key, LogicalTime until) {
  const base::MutexLock lock(mutex_);
  if (Entry* const entry = find({tenant, key.run})) entry->prospects.remove(key.shard, until);
}

void RunMemory::is_over(const TenantId& tenant, const ShardKey& key) {
  const base::MutexLock lock(mutex_);
  if (Entry* const entry = find({tenant, key.run})) entry->prospects.remove(key.shard);
}

void RunMemory::forget(const RunName& run) {
  const base::MutexLock lock(mutex_);
  entries_.erase(run);
}

std::optional<std::size_t> RunMemory::free_count(const RunName& run, base::Elapsed at) {
  const base::MutexLock lock(mutex_);
  const Entry* const entry = find(run);
  if (entry == nullptr) return std::nullopt;
  if (const auto count = entry->prospects.count(at)) return count;
  if (entry->counted && at - entry->counted->at <= kCountKept) return entry->counted->free;
  return std::nullopt;
}

void RunMemory::remember_count(const RunName& run, std::size_t free, base::Elapsed at) {
  const base::MutexLock lock(mutex_);
  find_or_make(run).counted = Counted{free, at};
}

}  // namespace cadastre::coord::etcd
