// Claims: whatever is free. Whom to try comes from memory (prospects.h) or, if that has nothing to offer, is wrong or
// old, from one look at the run; who gets it is decided by each shard's own transaction. That there is nothing is
// only said after a look.

#pragma once

#include <optional>

#include "base/attributes.h"
#include "base/result.h"
#include "coord/errors.h"
#include "coord/etcd/core.h"
#include "coord/etcd/list_operations.h"
#include "coord/etcd/shard_operations.h"
#include "coord/etcd/task.h"
#include "coord/identity.h"
#include "coord/snapshot.h"

namespace cadastre::coord::etcd {

struct ClaimCall {
  LogicalTime now;
  TenantId tenant;
  RunId run;
  WorkerId worker;
};

class ClaimOperations {
 public:
  // Borrows all of them.
  ClaimOperations(Core& core CAD_LIFETIMEBOUND,
                  ListOperations& lists CAD_LIFETIMEBOUND,
                  ShardOperations& shards CAD_LIFETIMEBOUND) noexcept
      : core_(&core), lists_(&lists), shards_(&shards) {}

  [[nodiscard]] Task<Result<AcquireResultView, ClaimError>> claim(ClaimCall call,
                                                                  AcquireScratch* out);

 private:
  // What came of one candidate that is no reason to stop.
  struct Tried {
    std::optional<AcquireResultView> acquired = std::nullopt;
    std::optional<LogicalTime> deadline = std::nullopt;  // of its holder
    bool is_absent = false;
  };
  [[nodiscard]] Task<Result<Tried, ClaimError>> try_one(ClaimCall call,
                                                        ShardId shard,
                                                        AcquireScratch* out);
  // What is found is remembered.
  [[nodiscard]] Task<Result<Survey, GetRunError>> read_run(ClaimCall call);
  [[nodiscard]] Task<Result<AcquireResultView, ClaimError>> claim_by_reading(ClaimCall call,
                                                                             AcquireScratch* out);
  // What to say when every candidate turned out not to be there.
  [[nodiscard]] Task<ClaimError> explain_absence(ClaimCall call);

  Core* core_;
  ListOperations* lists_;
  ShardOperations* shards_;
};

}  // namespace cadastre::coord::etcd
