// What is there: one run, one shard, lists, and whom a claim would try. Each comes from one revision of the store. A
// list of runs is read in steps, all at the revision of the first; if etcd forgets that meanwhile, it begins again.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/attributes.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/etcd/core.h"
#include "coord/etcd/records.h"
#include "coord/etcd/store.h"
#include "coord/etcd/task.h"
#include "coord/identity.h"
#include "coord/progress.h"
#include "coord/run_record.h"
#include "coord/shard_summary.h"
#include "coord/states.h"

namespace cadastre::coord::etcd {

// A run and its shards at one revision; no shards while they cannot be seen.
struct RunContent {
  LoadedRun run;
  std::vector<LoadedShard> shards;  // by id
  Revision at = {};
};

// Whom a claim would try, and what they were chosen from.
struct Survey {
  ClaimCandidates candidates;
  std::vector<LoadedLease> free;  // the records of the candidates, in the same order
  RunStatus status = RunStatus::kInitializing;
  std::size_t shards = 0;
  Revision revision = {};
};

class ListOperations {
 public:
  // Borrows the core.
  explicit ListOperations(Core& core CAD_LIFETIMEBOUND) noexcept : core_(&core) {}

  [[nodiscard]] Task<Result<RunRecord, GetRunError>> get_run(TenantId tenant, RunId run);
  [[nodiscard]] Task<Result<ShardDump, GetShardError>> get_shard(TenantId tenant, ShardKey key);
  [[nodiscard]] Task<Result<RunProgress, GetRunError>> progress(LogicalTime now,
                                                                TenantId tenant,
                                                                RunId run);
  [[nodiscard]] Task<Result<std::vector<ShardSummary>, ListShardsError>> list_shards(
      LogicalTime now, TenantId tenant, RunId run, ShardFilter filter, ShardPage page);
  [[nodiscard]] Task<Result<ClaimCandidates, GetRunError>> candidates(LogicalTime now,
                                                                      TenantId tenant,
                                                                      RunId run);
  [[nodiscard]] Task<Result<Survey, GetRunError>> survey(LogicalTime now,
                                                         TenantId tenant,
                                                         RunId run);
  // The tenant's runs above `after`, ascending, at most `limit`.
  [[nodiscard]] Task<Result<std::vector<RunId>, InfraError>> list_runs(TenantId tenant,
                                                                       std::optional<RunId> after,
                                                                       std::size_t limit);
  // By their markers, ascending.
  [[nodiscard]] Task<Result<std::vector<RunId>, InfraError>> list_active_runs(TenantId tenant);

 private:
  struct RunPage {
    std::optional<RunId> after;
    std::size_t limit = 0;
  };
  // Nothing if its revision was forgotten on the way.
  [[nodiscard]] Task<Result<std::optional<std::vector<RunId>>, InfraError>> list_at_once(
      TenantId tenant, RunPage page);
  // Nothing if there is no such run.
  [[nodiscard]] Task<Result<std::optional<RunContent>, InfraError>> content(TenantId tenant,
                                                                            RunId run,
                                                                            const char* operation);

  Core* core_;
};

}  // namespace cadastre::coord::etcd
