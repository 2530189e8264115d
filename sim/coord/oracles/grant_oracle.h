// S1, mutual exclusion: at most one worker has a shard. Fed from answers only, never from records.
//
// A grant lives from the answer that gave it until its deadline as answered (renewals included), or
// until an operation that ends it was answered kExecuted: complete, park, split_replace, release; or
// until its owner key was lost, in backends that have one.
//   (a) A grant begins only when the one before it has ended, and under a larger fence.
//   (b) Once a fence was granted, no request that presents another one is answered kExecuted or
//       renewed; nor is one that comes at or after the deadline, after the end, or from a stranger.
//
// Time is the `now` of each request, for a backend has no other clock. With clocks that differ or go
// back, "ended" therefore means: at the `now` of the request that wants the next grant. Each grant is
// compared with the one before it in the order of answers; earlier ones had ended when that one
// began. If every `now` is at least the one before, this says that no two grants ever overlap.

#pragma once

#include <unordered_map>

#include "coord/identity.h"
#include "sim/coord/oracles/violation.h"
#include "sim/coord/request.h"
#include "sim/coord/shard_name.h"

namespace cadastre::sim {

class GrantOracle {
 public:
  struct Grant {
    coord::FenceEpoch fence;
    coord::WorkerId owner;
    coord::LogicalTime deadline;
    bool open = false;
  };

  void observe(const Request& request, const Answer& answer, Violations& out);
  void forget(const RunName& run);
  void lose(const ShardName& name);

  // The newest grant of the shard, or null.
  [[nodiscard]] const Grant* find(const ShardName& name) const;

 private:
  void observe_grant(const Request& request, const Answer& answer, Violations& out);
  void observe_use(const Request& request, const coord::Lease& lease, Violations& out) const;
  void observe_renewal(const Request& request,
                       const coord::Lease& lease,
                       coord::LogicalTime deadline,
                       Violations& out);

  std::unordered_map<ShardName, Grant> grants_;
};

}  // namespace cadastre::sim
