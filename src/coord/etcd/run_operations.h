// Operations on runs: creation, registration, the end, and the collection of what is over.
//
// A registration prepares its shards in batches that nobody can see, each under the revision that its own first
// write gave the run: of two at once the earlier one loses its guard. One last transaction makes them visible. A
// retry takes up what is there.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/attributes.h"
#include "base/result.h"
#include "coord/errors.h"
#include "coord/etcd/core.h"
#include "coord/etcd/owned_arguments.h"
#include "coord/etcd/records.h"
#include "coord/etcd/task.h"
#include "coord/identity.h"
#include "coord/outcome.h"
#include "coord/run_record.h"
#include "coord/states.h"

namespace cadastre::coord::etcd {

// A request about a run.
struct RunCall {
  LogicalTime now;
  TenantId tenant;
  RunId run;
  OpId op;
};

class RunOperations {
 public:
  // Borrows the core.
  explicit RunOperations(Core& core CAD_LIFETIMEBOUND) noexcept : core_(&core) {}

  [[nodiscard]] Task<Result<RunRecord, CreateRunError>> create(RunRecord record);
  [[nodiscard]] Task<Result<IdempotentOutcome<std::vector<ShardId>>, RegisterShardsError>>
  register_shards(RunCall call, OwnedManifest manifest);
  [[nodiscard]] Task<Result<IdempotentOutcome<Unit>, RunTransitionError>> end(RunCall call,
                                                                              RunOpKind kind);

 private:
  using Registered = Result<IdempotentOutcome<std::vector<ShardId>>, RegisterShardsError>;
  // Nothing: another came first, begin again.
  using Step = Result<std::optional<std::vector<ShardId>>, RegisterShardsError>;

  [[nodiscard]] Task<Result<std::optional<LoadedRun>, InfraError>> load(TenantId tenant,
                                                                        RunId run,
                                                                        const char* operation);
  // One attempt, from the run as it was read.
  [[nodiscard]] Task<Step> prepare_and_activate(RunCall call,
                                                LoadedRun run,
                                                const OwnedManifest* manifest);
  // False: another came first.
  [[nodiscard]] Task<Result<bool, InfraError>> prepare(LoadedRun run,
                                                       std::vector<ShardDump> shards);
  [[nodiscard]] Task<Step> activate(RunCall call, LoadedRun run, const OwnedManifest* manifest);

  Core* core_;
};

// The shards of a manifest, as they begin.
[[nodiscard]] std::vector<ShardDump> roots_of(const RunRecord& run,
                                              std::span<const InitialShardInput> manifest);

}  // namespace cadastre::coord::etcd
