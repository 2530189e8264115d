// SpareLeases: etcd leases of this process that no key is bound to any more, to be used for the next owner key.
//
// A lease comes here only after a transaction that is known to have deleted its one key, so nobody else has a reason
// to revoke it. It is used again while it is nearly new, so that an owner key lasts nearly as long as it would on a
// lease of its own; a claim and a release in quick succession then cost etcd two transactions and no leases.
//
// Bounded; safe from any thread.

#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "coord/etcd/store.h"

namespace cadastre::coord::etcd {

// A lease and when it was asked for: it lasts its TTL from then on at least.
struct GrantedLease {
  LeaseId id = {};
  base::Elapsed since{};

  friend bool operator==(const GrantedLease&, const GrantedLease&) = default;
};

class SpareLeases {
 public:
  SpareLeases(std::size_t max, base::Elapsed age_max) noexcept : max_(max), age_max_(age_max) {}

  // False: it is too old or there are enough; revoke it.
  [[nodiscard]] bool put(const GrantedLease& lease, base::Elapsed at) CAD_EXCLUDES(mutex_) {
    if (at - lease.since > age_max_) return false;
    const base::MutexLock lock(mutex_);
    if (spare_.size() >= max_) return false;
    spare_.push_back(lease);
    return true;
  }

  // What can be used; `old` are those that have become too old meanwhile, to be revoked.
  struct Taken {
    std::optional<GrantedLease> lease = std::nullopt;
    std::vector<LeaseId> old = {};
  };
  [[nodiscard]] Taken take(base::Elapsed at) CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    Taken taken;
    while (!spare_.empty() && !taken.lease) {
      const GrantedLease last = spare_.back();
      spare_.pop_back();
      if (at - last.since <= age_max_) {
        taken.lease = last;
      } else {
        taken.old.push_back(last.id);
      }
    }
    return taken;
  }

 private:
  // Constant after construction.
  const std::size_t max_;
  const base::Elapsed age_max_;

  base::Mutex mutex_;
  std::vector<GrantedLease> spare_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::coord::etcd
