// Splits: parent, new shards and the tenant's count change in one transaction, or nothing does.

#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/etcd/core.h"
#include "coord/etcd/owned_arguments.h"
#include "coord/etcd/records.h"
#include "coord/etcd/task.h"
#include "coord/identity.h"
#include "coord/outcome.h"
#include "coord/shard_limits.h"

namespace cadastre::coord::etcd {

class SplitOperations {
 public:
  // Borrows the core.
  explicit SplitOperations(Core& core CAD_LIFETIMEBOUND) noexcept : core_(&core) {}

  [[nodiscard]] Task<Result<IdempotentOutcome<SplitReplaceResult>, SplitError>> replace(
      LeasedCall call, OwnedReplacePlan plan, OpId op);
  [[nodiscard]] Task<Result<IdempotentOutcome<SplitResidualResult>, SplitError>> residual(
      LeasedCall call, OwnedResidualPlan plan, OpId op);

 private:
  // What a split is decided on.
  struct Situation {
    LoadedLease parent;
    TenantCount count;
    ShardCounts counts;
    std::map<ShardId, base::Bytes>
        starts;  // of the shards whose names the split would use or has used
  };
  using Names = std::vector<ShardId>;

  // The names of `parent`'s new shards that a decision may ask for.
  [[nodiscard]] static Names names_of_children(const ShardDump& parent, OpId op, std::size_t count);
  [[nodiscard]] static Names names_of_residual(const ShardDump& parent, OpId op);

  // Nothing if there is no such shard.
  [[nodiscard]] Task<Result<std::optional<Situation>, InfraError>> load(LeasedCall call,
                                                                        OpId op,
                                                                        std::size_t children,
                                                                        const char* operation);
  [[nodiscard]] Task<Result<std::map<ShardId, base::Bytes>, InfraError>> find_starts(
      TenantId tenant, RunId run, Names names, const char* operation);
  // Commits; false if another came first.
  [[nodiscard]] Task<Result<bool, InfraError>> commit(Transaction transaction,
                                                      std::size_t fresh,
                                                      const char* operation);

  Core* core_;
};

}  // namespace cadastre::coord::etcd
