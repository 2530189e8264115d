// Collection: runs that are over, and runs that never began, go with everything under them.
//
// Each run goes by itself. A large one goes in batches, its record last, so that whoever comes between finds a
// run with fewer shards and never a shard without a run.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/attributes.h"
#include "base/result.h"
#include "coord/errors.h"
#include "coord/etcd/core.h"
#include "coord/etcd/list_operations.h"
#include "coord/etcd/records.h"
#include "coord/etcd/task.h"
#include "coord/identity.h"

namespace cadastre::coord::etcd {

class CollectionOperations {
 public:
  // Borrows both.
  CollectionOperations(Core& core CAD_LIFETIMEBOUND,
                       ListOperations& lists CAD_LIFETIMEBOUND) noexcept
      : core_(&core), lists_(&lists) {}

  // Terminal runs that completed before this time. How many.
  [[nodiscard]] Task<Result<std::size_t, InfraError>> collect_terminal(
      TenantId tenant, LogicalTime completed_before);
  // Initializing runs created before `cutoff`, by time of creation and id: those that were deleted. One that
  // was activated meanwhile stays.
  [[nodiscard]] Task<Result<std::vector<RunId>, InfraError>> collect_stale(TenantId tenant,
                                                                           LogicalTime cutoff);

 private:
  // Whether a run, as it is now, is to go.
  struct Wanted {
    std::optional<LogicalTime> completed_before;
    std::optional<LogicalTime> initializing_before;
    [[nodiscard]] bool matches(const RunRecord& run) const noexcept;
  };
  // How one try ended.
  enum class Try : std::uint8_t {
    kGone,     // all of it
    kPart,     // some of its shards: go on
    kLost,     // another came first
    kUnwanted  // it is not there, or no longer to go
  };

  [[nodiscard]] Task<Result<std::vector<RunRecord>, InfraError>> find(TenantId tenant,
                                                                      Wanted wanted,
                                                                      const char* operation);
  // Whether it went.
  [[nodiscard]] Task<Result<bool, InfraError>> forget(TenantId tenant,
                                                      RunId run,
                                                      Wanted wanted,
                                                      const char* operation);
  [[nodiscard]] Task<Result<Try, InfraError>> try_forget(TenantId tenant,
                                                         RunId run,
                                                         Wanted wanted,
                                                         const char* operation);

  Core* core_;
  ListOperations* lists_;
};

}  // namespace cadastre::coord::etcd
