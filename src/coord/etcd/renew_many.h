// RenewMany: the renewals of one call, kRenewalsAtOnceMax under way at a time, answered in the order of the leases.
//
// Each is a renewal of its own: one that fails keeps no other from being done. Owns itself and ends when it
// has answered.

#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "base/attributes.h"
#include "base/gate.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/etcd/shard_operations.h"
#include "coord/etcd/task.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/snapshot.h"

namespace cadastre::coord::etcd {

struct RenewManyCall {
  LogicalTime now;
  TenantId tenant;
  std::vector<Lease> leases;
};

class RenewMany {
 public:
  using Done = std::move_only_function<void(
      base::Result<CoordinationBackend::RenewedLeases, RenewManyError>)>;

  // Borrows the operations, which `pass` keeps from ending. At least one lease.
  static void start(ShardOperations& shards CAD_LIFETIMEBOUND,
                    base::Gate::Pass pass,
                    RenewManyCall call,
                    Done done);

 private:
  RenewMany(ShardOperations& shards, base::Gate::Pass pass, RenewManyCall call, Done done);

  // Renews what nobody has begun, one after the other.
  static Detached renew_rest(RenewMany* all);
  void finish();

  ShardOperations* shards_;
  base::Gate::Pass pass_;
  const RenewManyCall call_;
  Done done_;
  std::vector<std::optional<base::Result<RenewResult, RenewError>>> renewed_;  // by lease
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::size_t> running_;  // who renew the rest
};

}  // namespace cadastre::coord::etcd
