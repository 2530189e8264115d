// Cooldowns: when each worker last claimed through this process, for as long as that matters.
//
// Advice to busy workers, not a rule of safety: it is kept in this process only, so that a worker that goes to
// another coordinator is not held back. Bounded by the workers of one interval. Safe from any thread.

#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/mutex.h"
#include "coord/identity.h"
#include "coord/memory/cooldown_table.h"

namespace cadastre::coord::etcd {

class Cooldowns {
 public:
  explicit Cooldowns(std::uint64_t interval) noexcept : interval_(interval) {}

  // The time before which the worker may not claim again; nothing if it may at `now`.
  [[nodiscard]] std::optional<LogicalTime> throttled_until(const TenantId& tenant,
                                                           WorkerId worker,
                                                           LogicalTime now) const
      CAD_EXCLUDES(mutex_) {
    if (interval_ == 0) return std::nullopt;
    const base::MutexLock lock(mutex_);
    const auto found = tenants_.find(tenant);
    if (found == tenants_.end()) return std::nullopt;
    return found->second.throttled_until(worker, now, interval_);
  }

  void record(const TenantId& tenant, WorkerId worker, LogicalTime now) CAD_EXCLUDES(mutex_) {
    if (interval_ == 0) return;
    const base::MutexLock lock(mutex_);
    tenants_[tenant].record(worker, now, interval_);
  }

 private:
  // Constant after construction.
  const std::uint64_t interval_;

  mutable base::Mutex mutex_;
  std::map<TenantId, memory::CooldownTable> tenants_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::coord::etcd
