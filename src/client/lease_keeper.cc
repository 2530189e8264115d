#include "client/lease_keeper.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/limits.h"

namespace cadastre::client {

KeptLease LeaseKeeper::add(const coord::Lease& lease, OnLost on_lost) {
  const base::MutexLock lock(mutex_);
  const KeptLease kept(++last_);
  held_.emplace(kept, Held{lease, std::move(on_lost)});
  return kept;
}

void LeaseKeeper::remove(KeptLease kept) {
  const base::MutexLock round(round_mutex_);
  const base::MutexLock lock(mutex_);
  held_.erase(kept);
}

std::size_t LeaseKeeper::held() const {
  const base::MutexLock lock(mutex_);
  return held_.size();
}

std::vector<LeaseKeeper::Batch> LeaseKeeper::batches() const {
  const base::MutexLock lock(mutex_);
  std::vector<Batch> batches;
  for (const auto& [kept, held] : held_) {
    if (batches.empty() || batches.back().kept.size() == coord::kRenewManyMax)
      batches.emplace_back();
    batches.back().kept.push_back(kept);
    batches.back().leases.push_back(held.lease);
  }
  return batches;
}

void LeaseKeeper::round(coord::CoordinationBackend& backend, coord::LogicalTime now) {
  const base::MutexLock round(round_mutex_);
  for (const Batch& batch : batches()) {
    const auto renewed = backend.renew_many(now, tenant_, batch.leases);
    if (!renewed) continue;  // Nothing is known to be lost: the next round asks again.
    for (std::size_t i = 0; i < batch.kept.size(); ++i)
      settle(batch.kept[i], (*renewed)[i]);
  }
}

void LeaseKeeper::settle(KeptLease kept,
                         const coord::Result<coord::RenewResult, coord::RenewError>& renewed) {
  OnLost on_lost;
  {
    const base::MutexLock lock(mutex_);
    const auto at = held_.find(kept);
    if (at == held_.end()) return;
    if (renewed) {
      if (renewed->new_deadline > at->second.lease.deadline())
        at->second.lease = at->second.lease.extended_to(renewed->new_deadline);
      return;
    }
    if (renewed.error().is<coord::InfraError>()) return;
    on_lost = std::move(at->second.on_lost);
    held_.erase(at);
  }
  on_lost(renewed.error());
}

}  // namespace cadastre::client
