#include "coord/etcd/renew_many.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/check.h"
#include "base/gate.h"
#include "coord/backend.h"
#include "coord/etcd/limits.h"
#include "coord/etcd/shard_operations.h"
#include "coord/etcd/task.h"

namespace cadastre::coord::etcd {

RenewMany::RenewMany(ShardOperations& shards, base::Gate::Pass pass, RenewManyCall call, Done done)
    : shards_(&shards),
      pass_(std::move(pass)),
      call_(std::move(call)),
      done_(std::move(done)),
      renewed_(call_.leases.size()),
      running_(std::min(call_.leases.size(), kRenewalsAtOnceMax)) {}

void RenewMany::start(ShardOperations& shards,
                      base::Gate::Pass pass,
                      RenewManyCall call,
                      Done done) {
  CAD_CHECK(!call.leases.empty(), "there is something to renew");
  auto* const all = new RenewMany(shards, std::move(pass), std::move(call), std::move(done));
  // The last of them ends it: how many there are is read before.
  const std::size_t count = all->running_;
  for (std::size_t i = 0; i < count; ++i)
    renew_rest(all);
}

Detached RenewMany::renew_rest(RenewMany* all) {
  while (true) {
    const std::size_t which = all->next_.fetch_add(1);
    if (which >= all->call_.leases.size()) break;
    auto renewing =
        all->shards_->renew({all->call_.now, all->call_.tenant, all->call_.leases[which]});
    auto one = co_await renewing;
    all->renewed_[which].emplace(std::move(one));
  }
  if (all->running_.fetch_sub(1) == 1) all->finish();
}

void RenewMany::finish() {
  CoordinationBackend::RenewedLeases renewed;
  renewed.reserve(renewed_.size());
  for (auto& one : renewed_)
    renewed.push_back(*std::move(one));
  const base::Gate::Pass pass = std::move(pass_);
  Done done = std::move(done_);
  delete this;
  done(std::move(renewed));
}

}  // namespace cadastre::coord::etcd
