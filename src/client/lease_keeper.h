// LeaseKeeper: renews all leases that a process holds of one tenant, many with one call.
//
// It has no thread: somebody calls round() every interval(), a third of a lease, so that two rounds may fail before
// a lease ends (node/lease_keeper_thread.h does). A lease that turns out to be lost is told to whoever added it,
// once, and is kept no longer. A round that could not be asked loses nothing: the next one tries again.
//
// Safe from any thread; no lock is held while the backend or a callback is called.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/strong.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"

namespace cadastre::client {

using KeptLease = base::Strong<struct KeptLeaseTag>;

class LeaseKeeper {
 public:
  using OnLost = std::function<void(const coord::RenewError&)>;

  LeaseKeeper(const coord::TenantId& tenant, std::chrono::milliseconds lease_duration)
      : tenant_(tenant), interval_(lease_duration / 3) {}

  [[nodiscard]] std::chrono::milliseconds interval() const noexcept { return interval_; }

  // `on_lost` is called by a round, at most once; perhaps still while remove() runs, never after it.
  [[nodiscard]] KeptLease add(const coord::Lease& lease, OnLost on_lost) CAD_EXCLUDES(mutex_);
  void remove(KeptLease kept) CAD_EXCLUDES(mutex_, round_mutex_);

  // Renews everything that is held, kRenewManyMax at a time. Waits for the backend.
  void round(coord::CoordinationBackend& backend, coord::LogicalTime now)
      CAD_EXCLUDES(mutex_, round_mutex_);

  // For metrics.
  [[nodiscard]] std::size_t held() const CAD_EXCLUDES(mutex_);

 private:
  struct Held {
    coord::Lease lease;
    OnLost on_lost;
  };
  struct Batch {
    std::vector<KeptLease> kept;
    std::vector<coord::Lease> leases;
  };

  [[nodiscard]] std::vector<Batch> batches() const CAD_EXCLUDES(mutex_);
  void settle(KeptLease kept, const coord::Result<coord::RenewResult, coord::RenewError>& renewed)
      CAD_REQUIRES(round_mutex_) CAD_EXCLUDES(mutex_);

  const coord::TenantId tenant_;
  const std::chrono::milliseconds interval_;
  base::Mutex round_mutex_;  // One round at a time, and no callback once remove() has returned.
  mutable base::Mutex mutex_;
  std::map<KeptLease, Held> held_ CAD_GUARDED_BY(mutex_);
  std::uint64_t last_ CAD_GUARDED_BY(mutex_) = 0;
};

}  // namespace cadastre::client
