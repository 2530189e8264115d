// MapBackend: coordination as one would write it first: std::map, std::string, one mutex, scans.
//
// Follows the same rules (it calls the protocol's own decisions and passes the conformance suite),
// but keeps nothing beyond the records: claims, capacity and progress look at every shard of the run.
// The peer of the memory backend's benchmarks.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/function_ref.h"
#include "base/mutex.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/decide_run.h"
#include "coord/decide_shard.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "coord/outcome.h"
#include "coord/progress.h"
#include "coord/run_record.h"
#include "coord/shard_change.h"
#include "coord/shard_limits.h"
#include "coord/shard_record.h"
#include "coord/shard_summary.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/manifest.h"
#include "shard/split_plan.h"

namespace cadastre::bench {

struct MapOptions {
  coord::ShardLimits limits = {};
  std::uint64_t claim_cooldown_interval = 0;
  std::size_t children_max = coord::kMaxSplitChildren;
};

class MapBackend final : public coord::CoordinationFacade, public coord::Introspection {
 public:
  explicit MapBackend(const MapOptions& options) : options_(options) {}

  [[nodiscard]] coord::Result<coord::AcquireResultView, coord::AcquireError>
  acquire_and_restore_into(coord::LogicalTime now,
                           const coord::TenantId& tenant,
                           const coord::ShardKey& key,
                           coord::WorkerId worker,
                           coord::AcquireScratch& out) override;
  [[nodiscard]] coord::Result<coord::RenewResult, coord::RenewError> renew(
      coord::LogicalTime now, const coord::TenantId& tenant, const coord::Lease& lease) override;
  [[nodiscard]] coord::Result<RenewedLeases, coord::RenewManyError> renew_many(
      coord::LogicalTime now,
      const coord::TenantId& tenant,
      std::span<const coord::Lease> leases) override;
  [[nodiscard]] coord::Result<coord::IdempotentOutcome<coord::Unit>, coord::CheckpointError>
  checkpoint(coord::LogicalTime now,
             const coord::TenantId& tenant,
             const coord::Lease& lease,
             const shard::CursorUpdate& cursor,
             coord::OpId op) override;
  [[nodiscard]] coord::Result<coord::IdempotentOutcome<coord::Unit>, coord::CompleteError> complete(
      coord::LogicalTime now,
      const coord::TenantId& tenant,
      const coord::Lease& lease,
      const shard::CursorUpdate& cursor,
      coord::OpId op) override;
  [[nodiscard]] coord::Result<coord::IdempotentOutcome<coord::Unit>, coord::ParkError> park_shard(
      coord::LogicalTime now,
      const coord::TenantId& tenant,
      const coord::Lease& lease,
      coord::ParkReason reason,
      coord::OpId op) override;
  [[nodiscard]] coord::Result<coord::IdempotentOutcome<coord::Unit>, coord::ReleaseError>
  release_shard(coord::LogicalTime now,
                const coord::TenantId& tenant,
                const coord::Lease& lease,
                const shard::CursorUpdate& cursor,
                coord::OpId op) override;
  [[nodiscard]] coord::Result<coord::IdempotentOutcome<coord::SplitReplaceResult>,
                              coord::SplitReplaceError>
  split_replace(coord::LogicalTime now,
                const coord::TenantId& tenant,
                const coord::Lease& lease,
                const shard::SplitReplacePlan& plan,
                coord::OpId op) override;
  [[nodiscard]] coord::Result<coord::IdempotentOutcome<coord::SplitResidualResult>,
                              coord::SplitResidualError>
  split_residual(coord::LogicalTime now,
                 const coord::TenantId& tenant,
                 const coord::Lease& lease,
                 const shard::SplitResidualPlan& plan,
                 coord::OpId op) override;

  [[nodiscard]] coord::Result<coord::RunRecord, coord::CreateRunError> create_run(
      coord::LogicalTime now,
      const coord::TenantId& tenant,
      coord::RunId run,
      const coord::RunConfig& config) override;
  [[nodiscard]] coord::Result<coord::IdempotentOutcome<std::vector<coord::ShardId>>,
                              coord::RegisterShardsError>
  register_shards(coord::LogicalTime now,
                  const coord::TenantId& tenant,
                  coord::RunId run,
                  std::span<const shard::InitialShardInput> shards,
                  coord::OpId op) override;
  [[nodiscard]] coord::Result<coord::RunRecord, coord::GetRunError> get_run(
      const coord::TenantId& tenant, coord::RunId run) override;
  [[nodiscard]] coord::Result<coord::RunProgress, coord::GetRunError> get_run_progress(
      coord::LogicalTime now, const coord::TenantId& tenant, coord::RunId run) override;
  [[nodiscard]] coord::Result<coord::ShardDump, coord::GetShardError> get_shard(
      const coord::TenantId& tenant, const coord::ShardKey& key) override;
  [[nodiscard]] coord::Result<void, coord::ListShardsError> list_shards_into(
      coord::LogicalTime now,
      const coord::TenantId& tenant,
      coord::RunId run,
      const coord::ShardFilter& filter,
      const coord::ShardPage& page,
      std::vector<coord::ShardSummary>& out) override;
  [[nodiscard]] coord::Result<std::vector<coord::RunId>, coord::InfraError> list_runs(
      const coord::TenantId& tenant, std::optional<coord::RunId> after, std::size_t limit) override;
  [[nodiscard]] coord::Result<std::optional<coord::LogicalTime>, coord::GetRunError>
  collect_claim_candidates_into(coord::LogicalTime now,
                                const coord::TenantId& tenant,
                                coord::RunId run,
                                std::vector<coord::ShardId>& out) override;
  [[nodiscard]] coord::Result<coord::IdempotentOutcome<coord::Unit>, coord::RunTransitionError>
  complete_run(coord::LogicalTime now,
               const coord::TenantId& tenant,
               coord::RunId run,
               coord::OpId op) override;
  [[nodiscard]] coord::Result<coord::IdempotentOutcome<coord::Unit>, coord::RunTransitionError>
  fail_run(coord::LogicalTime now,
           const coord::TenantId& tenant,
           coord::RunId run,
           coord::OpId op) override;
  [[nodiscard]] coord::Result<coord::IdempotentOutcome<coord::Unit>, coord::RunTransitionError>
  cancel_run(coord::LogicalTime now,
             const coord::TenantId& tenant,
             coord::RunId run,
             coord::OpId op) override;
  [[nodiscard]] coord::Result<coord::IdempotentOutcome<coord::FenceEpoch>, coord::UnparkError>
  unpark_shard(coord::LogicalTime now,
               const coord::TenantId& tenant,
               const coord::ShardKey& key,
               coord::OpId op) override;
  [[nodiscard]] coord::Result<std::size_t, coord::InfraError> gc_terminal_runs(
      const coord::TenantId& tenant, coord::LogicalTime completed_before) override;
  [[nodiscard]] coord::Result<coord::AcquireResultView, coord::ClaimError> claim_next_available(
      coord::LogicalTime now,
      const coord::TenantId& tenant,
      coord::RunId run,
      coord::WorkerId worker,
      coord::AcquireScratch& out) override;

  void visit_shards(base::FunctionRef<void(const coord::ShardRecordView&)> visit) const override;
  [[nodiscard]] std::vector<coord::ShardDump> dump_shards() const override;
  [[nodiscard]] std::vector<coord::RunRecord> dump_runs() const override;
  void verify() const override;

 private:
  struct Shard {
    coord::ShardState state;
    std::string start;
    std::string end;
    std::string metadata;
    std::string last_key;  // empty: absent
    std::string token;     // empty: absent
    std::string spawned;   // packed ids

    [[nodiscard]] coord::ShardRecordView view() const;
    void apply(const coord::ShardChange& change, std::span<const coord::ShardId> spawned_ids);
  };
  using RunKey = std::pair<coord::TenantId, coord::RunId>;
  using Key = std::tuple<coord::TenantId, coord::RunId, coord::ShardId>;
  using Shards = std::map<Key, Shard>;
  // The start of a shard of one run, as splits ask for it. Whoever asks holds the lock.
  struct FindStart {
    const Shards* shards = nullptr;
    coord::TenantId tenant;
    coord::RunId run;
    std::optional<base::ByteView> operator()(coord::ShardId id) const;
  };

  [[nodiscard]] Shard* find(const coord::TenantId& tenant, const coord::ShardKey& key)
      CAD_REQUIRES(mutex_);
  [[nodiscard]] const coord::RunConfig& config_of(const Shard& shard) CAD_REQUIRES(mutex_);
  [[nodiscard]] coord::CapacityHint capacity(const coord::TenantId& tenant,
                                             coord::RunId run,
                                             coord::LogicalTime now) CAD_REQUIRES(mutex_);
  [[nodiscard]] coord::ShardCounts counts(const coord::TenantId& tenant) CAD_REQUIRES(mutex_);
  [[nodiscard]] std::pair<Shards::iterator, Shards::iterator> shards_of(
      const coord::TenantId& tenant, coord::RunId run) CAD_REQUIRES(mutex_);
  void add(const coord::ShardState& state,
           const shard::ShardSpecRef& spec,
           const shard::CursorUpdate& cursor) CAD_REQUIRES(mutex_);
  [[nodiscard]] coord::Result<coord::AcquireResultView, coord::AcquireError> acquire(
      const coord::AcquireRequest& request, const coord::ShardKey& key, coord::AcquireScratch& out)
      CAD_REQUIRES(mutex_);
  [[nodiscard]] std::optional<coord::LogicalTime> candidates(const RunKey& run,
                                                             coord::LogicalTime now,
                                                             std::vector<coord::ShardId>& out)
      CAD_REQUIRES(mutex_);
  [[nodiscard]] coord::Result<coord::IdempotentOutcome<coord::Unit>, coord::RunTransitionError>
  end_run(const coord::RunRequest& request, coord::RunId run, coord::RunOpKind kind);

  const MapOptions options_;
  mutable base::Mutex mutex_;
  Shards shards_ CAD_GUARDED_BY(mutex_);
  std::map<RunKey, coord::RunRecord> runs_ CAD_GUARDED_BY(mutex_);
  std::map<std::pair<coord::TenantId, coord::WorkerId>, coord::LogicalTime> cooldowns_
      CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::bench
