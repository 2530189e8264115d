// MemoryBackend: the protocol in one process's memory. The executable specification: every other
// backend answers as this one does.
//
// Records keep their bytes in one slab. acquire, renew, checkpoint, complete, park, release and
// claim allocate nothing once the worker has been seen; what does not fit is answered with an error
// and changes nothing. Operations on several records first make room for everything and then
// install it, which cannot fail.
//
// Not thread-safe: callers take turns. No I/O, no clock.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/attributes.h"
#include "base/byte_slab.h"
#include "base/check.h"
#include "base/function_ref.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/decide_shard.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "coord/memory/cooldown_table.h"
#include "coord/memory/record_pool.h"
#include "coord/memory/run_index.h"
#include "coord/memory/shard_table.h"
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

namespace cadastre::coord::memory {

// What a record that contradicts itself means.
enum class CorruptRecords : std::uint8_t {
  kAbort,   // Our own mistake: nobody else writes to this memory.
  kReport,  // A durable backend's trouble: the records came from a disk.
};

struct MemoryOptions {
  ShardLimits limits = {};
  std::uint64_t claim_cooldown_interval = 0;  // 0: none
  std::uint64_t slab_capacity = 0;            // 0: by the limits; at most 2^32 - 1
  std::size_t children_max = kMaxSplitChildren;
  std::uint64_t hash_seed = 0;  // random in production; decides nothing that a caller sees
  // What the blocks of all strings may take together; 0: whatever the slab holds. Unlike the slab's
  // layout this sum is a function of the records alone.
  std::uint64_t record_bytes_max = 0;
  CorruptRecords corrupt_records = CorruptRecords::kAbort;
};

// What decides answers and can be changed while records exist.
struct MemorySettings {
  ShardLimits limits = {};
  std::uint64_t claim_cooldown_interval = 0;
  std::size_t children_max = kMaxSplitChildren;
  std::uint64_t record_bytes_max = 0;
};

// When a worker of a tenant last claimed.
struct CooldownDump {
  TenantId tenant;
  WorkerId worker;
  LogicalTime claimed_at;

  friend bool operator==(const CooldownDump&, const CooldownDump&) = default;
};

// Counts for an operator.
struct Totals {
  std::array<std::uint64_t, 5> runs{};    // by RunStatus
  std::array<std::uint64_t, 4> shards{};  // by ShardStatus
  std::uint64_t leased = 0;               // at the last time that each run was asked about
};

class MemoryBackend final : public CoordinationFacade, public Introspection {
 public:
  // Both limits are above 0.
  explicit MemoryBackend(const MemoryOptions& options);
  ~MemoryBackend() override;
  MemoryBackend(const MemoryBackend&) = delete;
  MemoryBackend& operator=(const MemoryBackend&) = delete;

  [[nodiscard]] Result<AcquireResultView, AcquireError> acquire_and_restore_into(
      LogicalTime now,
      const TenantId& tenant,
      const ShardKey& key,
      WorkerId worker,
      AcquireScratch& out) override;
  [[nodiscard]] Result<RenewResult, RenewError> renew(LogicalTime now,
                                                      const TenantId& tenant,
                                                      const Lease& lease) override;
  [[nodiscard]] Result<RenewedLeases, RenewManyError> renew_many(
      LogicalTime now, const TenantId& tenant, std::span<const Lease> leases) override;
  [[nodiscard]] Result<IdempotentOutcome<Unit>, CheckpointError> checkpoint(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const CursorUpdate& cursor,
      OpId op) override;
  [[nodiscard]] Result<IdempotentOutcome<Unit>, CompleteError> complete(LogicalTime now,
                                                                        const TenantId& tenant,
                                                                        const Lease& lease,
                                                                        const CursorUpdate& cursor,
                                                                        OpId op) override;
  [[nodiscard]] Result<IdempotentOutcome<Unit>, ParkError> park_shard(LogicalTime now,
                                                                      const TenantId& tenant,
                                                                      const Lease& lease,
                                                                      ParkReason reason,
                                                                      OpId op) override;
  [[nodiscard]] Result<IdempotentOutcome<Unit>, ReleaseError> release_shard(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const CursorUpdate& cursor,
      OpId op) override;
  [[nodiscard]] Result<IdempotentOutcome<SplitReplaceResult>, SplitReplaceError> split_replace(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const SplitReplacePlan& plan,
      OpId op) override;
  [[nodiscard]] Result<IdempotentOutcome<SplitResidualResult>, SplitResidualError> split_residual(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const SplitResidualPlan& plan,
      OpId op) override;

  [[nodiscard]] Result<RunRecord, CreateRunError> create_run(LogicalTime now,
                                                             const TenantId& tenant,
                                                             RunId run,
                                                             const RunConfig& config) override;
  [[nodiscard]] Result<IdempotentOutcome<std::vector<ShardId>>, RegisterShardsError>
  register_shards(LogicalTime now,
                  const TenantId& tenant,
                  RunId run,
                  std::span<const InitialShardInput> shards,
                  OpId op) override;
  [[nodiscard]] Result<RunRecord, GetRunError> get_run(const TenantId& tenant, RunId run) override;
  [[nodiscard]] Result<RunProgress, GetRunError> get_run_progress(LogicalTime now,
                                                                  const TenantId& tenant,
                                                                  RunId run) override;
  [[nodiscard]] Result<ShardDump, GetShardError> get_shard(const TenantId& tenant,
                                                           const ShardKey& key) override;
  [[nodiscard]] Result<void, ListShardsError> list_shards_into(
      LogicalTime now,
      const TenantId& tenant,
      RunId run,
      const ShardFilter& filter,
      const ShardPage& page,
      std::vector<ShardSummary>& out) override;
  [[nodiscard]] Result<std::vector<RunId>, InfraError> list_runs(const TenantId& tenant,
                                                                 std::optional<RunId> after,
                                                                 std::size_t limit) override;
  [[nodiscard]] Result<std::optional<LogicalTime>, GetRunError> collect_claim_candidates_into(
      LogicalTime now, const TenantId& tenant, RunId run, std::vector<ShardId>& out) override;
  [[nodiscard]] Result<IdempotentOutcome<Unit>, RunTransitionError> complete_run(
      LogicalTime now, const TenantId& tenant, RunId run, OpId op) override;
  [[nodiscard]] Result<IdempotentOutcome<Unit>, RunTransitionError> fail_run(LogicalTime now,
                                                                             const TenantId& tenant,
                                                                             RunId run,
                                                                             OpId op) override;
  [[nodiscard]] Result<IdempotentOutcome<Unit>, RunTransitionError> cancel_run(
      LogicalTime now, const TenantId& tenant, RunId run, OpId op) override;
  [[nodiscard]] Result<IdempotentOutcome<FenceEpoch>, UnparkError> unpark_shard(
      LogicalTime now, const TenantId& tenant, const ShardKey& key, OpId op) override;
  [[nodiscard]] Result<std::size_t, InfraError> gc_terminal_runs(
      const TenantId& tenant, LogicalTime completed_before) override;

  [[nodiscard]] Result<AcquireResultView, ClaimError> claim_next_available(
      LogicalTime now,
      const TenantId& tenant,
      RunId run,
      WorkerId worker,
      AcquireScratch& out) override;

  void visit_shards(base::FunctionRef<void(const ShardRecordView&)> visit) const override;
  [[nodiscard]] std::vector<ShardDump> dump_shards() const override;
  [[nodiscard]] std::vector<RunRecord> dump_runs() const override;
  void verify() const override;
  [[nodiscard]] base::SlabStats slab_stats() const noexcept { return slab_.stats(); }
  // What is held, of all tenants, by a look at each run.
  [[nodiscard]] Totals totals() const noexcept;

  // Each run by tenant and id, followed by its shards by id. The visitors call nothing of the backend.
  void visit_by_id(base::FunctionRef<void(const RunRecord&)> visit_run,
                   base::FunctionRef<void(const ShardRecordView&)> visit_shard) const;

  // Of all tenants, by tenant and worker.
  [[nodiscard]] std::vector<CooldownDump> dump_cooldowns() const;
  void load_cooldown(const CooldownDump& cooldown);

  // Tenants that have, or had, a run: above `after`, ascending, at most `limit`.
  [[nodiscard]] std::vector<TenantId> list_tenants(const std::optional<TenantId>& after,
                                                   std::size_t limit) const;
  [[nodiscard]] bool has_tenant(const TenantId& tenant) const noexcept {
    return find_tenant(tenant) != nullptr;
  }
  // When the tenant's first terminal run ended, of those that are still there.
  [[nodiscard]] std::optional<LogicalTime> oldest_completion(const TenantId& tenant) const noexcept;

  void change_settings(const MemorySettings& settings) noexcept;

  // Puts records back as they were dumped; a run before its shards. The records hold their
  // invariants, and none of them is there yet.
  void load_run(const RunRecord& record);
  [[nodiscard]] Result<void, base::SlabFull> load_shard(const ShardDump& shard);

 private:
  struct Tenant {
    explicit Tenant(const TenantId& tenant) : id(tenant) {}

    TenantId id;
    std::size_t shards = 0;
    std::map<RunId, std::unique_ptr<Run>> runs;
    CooldownTable cooldowns;
  };
  struct SeededTenantHash {
    std::uint64_t seed;
    std::size_t operator()(const TenantId& tenant) const noexcept;
  };
  // The start of a shard of one run, as splits ask for it.
  struct FindStart {
    const MemoryBackend* backend = nullptr;
    const Tenant* tenant = nullptr;
    RunId run;
    std::optional<ByteView> operator()(ShardId id) const;
  };

  [[nodiscard]] Tenant* find_tenant(const TenantId& tenant) const noexcept;
  [[nodiscard]] Tenant& tenant_for(const TenantId& tenant);
  [[nodiscard]] std::optional<Number> find_shard(const TenantId& tenant,
                                                 const ShardKey& key) const noexcept;
  [[nodiscard]] Run* find_run(const TenantId& tenant, RunId run) const noexcept;
  // Of all tenants, by tenant and id.
  [[nodiscard]] std::vector<const Run*> runs_in_order() const;
  [[nodiscard]] ShardRecordView view_of(Number number) const noexcept;
  [[nodiscard]] ShardCounts counts(const Tenant& tenant) const noexcept;

  // Applies a change whose bytes are stored already, and asserts the record's invariants.
  void install(Number number, const ShardChange& change, const IndexedState& before);
  // Stores the change's cursor, if it has one, and installs the change.
  [[nodiscard]] Result<Outcome, ResourceExhausted> carry_out(Number number,
                                                             const Decision& decision);
  [[nodiscard]] AcquireResultView acquire(Number number,
                                          const AcquireDecision& decision,
                                          AcquireScratch& out);
  [[nodiscard]] SplitSurroundings surroundings(
      const Tenant& tenant, const FindStart& find_start CAD_LIFETIMEBOUND) const noexcept;
  // The parent's bytes are in place, the new records complete.
  void commit_split(Number parent, const ShardChange& change, std::span<const Number> fresh);
  [[nodiscard]] Result<IdempotentOutcome<Unit>, RunTransitionError> end_run(
      LogicalTime now, const TenantId& tenant, RunId run, OpId op, RunOpKind kind);
  void forget_run(Tenant& tenant, RunId run);
  // Aborts unless the run and its shards hold their invariants; how many strings these have.
  [[nodiscard]] std::size_t verify_run(const Run& run) const;

  // Whether the blocks of all strings fit the settings, `freed` bytes of them about to go.
  [[nodiscard]] Result<void, base::SlabFull> check_budget(std::uint64_t freed) const noexcept;
  // The same before anything is stored, for a change from `before` bytes of blocks to `after`.
  [[nodiscard]] Result<void, base::SlabFull> check_budget(std::uint64_t before,
                                                          std::uint64_t after) const noexcept;
  // Passes an error on, unless it is one that records in memory can never cause.
  template <class E>
  [[nodiscard]] E checked(const E& error) const noexcept {
    CAD_CHECK(
        !error.template is<InfraError>() || options_.corrupt_records == CorruptRecords::kReport,
        "records in memory are never corrupt");
    return error;
  }

  MemoryOptions options_;

  base::ByteSlab slab_;
  RecordPool pool_;
  ShardTable shards_;
  std::unordered_map<TenantId, std::unique_ptr<Tenant>, SeededTenantHash> tenants_;
};

}  // namespace cadastre::coord::memory
