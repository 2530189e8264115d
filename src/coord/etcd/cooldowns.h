// Cooldowns: when each worker last claimed through this process, for as long as that matters.
//
// Advice to busy workers, not a rule of safety: it is kept in this process only, so that a worker that goes to
// another coordinator is not held back. Entries whose time is over leave before the table grows; it is bounded
// by the workers of one interval. Safe from any thread.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/mutex.h"
#include "coord/identity.h"

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
    const auto found = claimed_.find({tenant, worker});
    if (found == claimed_.end()) return std::nullopt;
    const LogicalTime until = saturating_add(found->second, interval_);
    return now < until ? std::optional(until) : std::nullopt;
  }

  void record(const TenantId& tenant, WorkerId worker, LogicalTime now) CAD_EXCLUDES(mutex_) {
    if (interval_ == 0) return;
    const base::MutexLock lock(mutex_);
    if (claimed_.size() >= sweep_at_) {
      std::erase_if(claimed_, [&](const auto& entry) {
        return saturating_add(entry.second, interval_) <= now;
      });
      sweep_at_ = std::max(kSweepFirst, 2 * claimed_.size());
    }
    claimed_[{tenant, worker}] = now;
  }

 private:
  static constexpr std::size_t kSweepFirst = 64;

  // Constant after construction.
  const std::uint64_t interval_;

  mutable base::Mutex mutex_;
  std::map<std::pair<TenantId, WorkerId>, LogicalTime> claimed_ CAD_GUARDED_BY(mutex_);
  std::size_t sweep_at_ CAD_GUARDED_BY(mutex_) = kSweepFirst;
};

}  // namespace cadastre::coord::etcd
