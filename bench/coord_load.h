// Closed loops on a coordination backend in this process, whatever it waits for: a disk or an etcd.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/attributes.h"
#include "bench/closed_loop.h"
#include "bench/work_keys.h"
#include "coord/async_backend.h"
#include "coord/identity.h"
#include "coord/lease.h"

namespace cadastre::bench {

inline constexpr std::uint64_t kWorkLeaseMs = 60'000;

// Milliseconds since the epoch, as a server stamps them.
[[nodiscard]] coord::LogicalTime logical_now();
// Whose work all of it is.
[[nodiscard]] coord::TenantId work_tenant();

struct WorkPlan {
  std::size_t shards = kWorkShards;
  std::uint64_t lease_ms = kWorkLeaseMs;
};

// A run with its shards. The backend outlives it.
class CoordWork {
 public:
  CoordWork(coord::AsyncCoordinationFacade& backend CAD_LIFETIMEBOUND, const WorkPlan& plan);

  // Of so many workers, one each.
  [[nodiscard]] std::vector<coord::Lease> claim(std::size_t count);

  // Checkpoints a second, every caller on a shard that it holds.
  [[nodiscard]] double run_checkpoints(const LoopPlan& plan);
  // Pairs of a claim and a release a second.
  [[nodiscard]] double run_claims(const LoopPlan& plan);

  // Waits.
  void renew_many(const std::vector<coord::Lease>& leases);

 private:
  [[nodiscard]] std::vector<coord::Lease> claim_at_once(std::size_t count,
                                                        std::uint64_t first_worker);

  coord::AsyncCoordinationFacade& backend_;
  const coord::TenantId tenant_ = work_tenant();
};

}  // namespace cadastre::bench
