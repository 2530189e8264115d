// Core: what every operation of the etcd backend shares: the store behind tasks, retries, the lease cache, the
// counts, and the wish list of whoever opened the backend.
//
// Errors of the store become InfraErrors here: all are transient, since corruption is found by whoever reads
// the bytes. Safe from any thread.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/gate.h"
#include "base/logger.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "coord/errors.h"
#include "coord/etcd/complaints.h"
#include "coord/etcd/cooldowns.h"
#include "coord/etcd/delay.h"
#include "coord/etcd/keyspace.h"
#include "coord/etcd/lease_cache.h"
#include "coord/etcd/limits.h"
#include "coord/etcd/records.h"
#include "coord/etcd/run_memory.h"
#include "coord/etcd/shapes.h"
#include "coord/etcd/spare_leases.h"
#include "coord/etcd/store.h"
#include "coord/etcd/task.h"
#include "coord/identity.h"
#include "coord/outcome.h"
#include "coord/shard_limits.h"
#include "coord/snapshot.h"

namespace cadastre::coord::etcd {

// What acquire and renew say about the rest of the run.
enum class Hints : std::uint8_t {
  kNone,     // nothing: they cost nothing
  kCounted,  // free = Active markers less owner keys, or as claims last saw it; without a deadline
  kExact,    // as the memory backend; reads the records of the run
};

struct EtcdOptions {
  Keyspace keyspace;
  std::chrono::seconds owner_ttl{kOwnerTtlSecondsDefault};
  // What a step of logical time lasts by the wall clock: a run whose lease outlasts owner_ttl is refused
  // (10.6, D-35). 0: nobody knows.
  std::chrono::milliseconds tick{0};
  std::uint32_t retries = kTxnRetriesDefault;
  std::size_t children_max = kChildrenDefault;
  std::size_t txn_ops_max = kTxnOpsDefault;
  std::size_t txn_bytes_max = kTxnBytesDefault;
  std::size_t lease_cache_max = kLeaseCacheMax;
  std::uint64_t claim_cooldown_interval = 0;  // 0: none
  ShardLimits limits = {};
  Hints hints = Hints::kCounted;
};

// What a backend is built on. `random` is used for nothing else.
struct EtcdParts {
  Store& store;
  Delay& delay;
  base::Random& random;
  const base::Clock& clock;
  const base::Logger* log = nullptr;  // null: nobody is told
};

// Whether an owner key lasts as long as this run's leases do; the error says what to change.
[[nodiscard]] Result<void, InfraError> check_lease(const RunConfig& config,
                                                   const EtcdOptions& options);

class Core {
 public:
  // Borrows the parts.
  Core(const EtcdParts& parts, EtcdOptions options);

  [[nodiscard]] const EtcdOptions& options() const noexcept { return options_; }
  [[nodiscard]] const Keyspace& keys() const noexcept { return options_.keyspace; }
  [[nodiscard]] Shapes shapes() const noexcept { return Shapes(options_.keyspace); }
  [[nodiscard]] LeaseCache& cache() noexcept { return cache_; }
  // Of shards that were free.
  [[nodiscard]] LeaseCache& free_records() noexcept { return free_records_; }
  [[nodiscard]] RunMemory& runs() noexcept { return runs_; }
  [[nodiscard]] Cooldowns& cooldowns() noexcept { return cooldowns_; }
  [[nodiscard]] base::Elapsed elapsed() const noexcept { return clock_->elapsed(); }
  [[nodiscard]] base::Gate& gate() noexcept { return gate_; }

  using Found = Result<std::vector<RangeResult>, InfraError>;
  [[nodiscard]] Task<Found> read(std::vector<Range> ranges, const char* operation);
  // Nothing if its revision is forgotten.
  [[nodiscard]] Task<Result<std::optional<RangeResult>, InfraError>> read_at(Range range,
                                                                             const char* operation);
  // A lease that is gone counts as a lost race: nothing was written.
  [[nodiscard]] Task<Result<TransactionResult, InfraError>> commit(Transaction transaction,
                                                                   const char* operation);
  // For an owner key, which lasts the owner's TTL at least.
  enum class Grant : std::uint8_t {
    kSpareOrNew,
    kNew,
  };
  [[nodiscard]] Task<Result<GrantedLease, InfraError>> grant(Grant which, const char* operation);
  // The key of the lease is known to be deleted: it is kept for another one, or revoked.
  void retire(LeaseId lease, std::optional<base::Elapsed> since);
  void revoke_spares();
  // As far as possible: nobody waits for it, and the lease's own time is the backstop. Failures are logged.
  void revoke(LeaseId lease);
  void keep_alive(LeaseId lease);

  // Waits after the attempt with this number has lost its race.
  [[nodiscard]] Task<Unit> wait(std::uint32_t attempt);
  [[nodiscard]] bool is_last(std::uint32_t attempt) const noexcept {
    return attempt >= options_.retries;
  }

  // What records.h's load_lease() reads.
  [[nodiscard]] std::vector<Range> lease_ranges(const TenantId& tenant, const ShardKey& key) const;
  // Reads it. Of a run's record that is remembered only the revision is asked for.
  [[nodiscard]] Task<Result<std::optional<LoadedLease>, InfraError>> load_lease(
      TenantId tenant, ShardKey key, const char* operation);

  // The tenant's count: what was read, or a recount if it has no key.
  [[nodiscard]] Task<Result<TenantCount, InfraError>> count_of(TenantId tenant,
                                                               RangeResult found,
                                                               const char* operation);
  // With the count of everybody, which may be behind other processes' changes; fresh if `additional` more
  // would exceed the limit.
  [[nodiscard]] Task<Result<ShardCounts, InfraError>> counts(TenantCount tenant,
                                                             std::uint64_t additional,
                                                             const char* operation);
  void total_changed(std::int64_t by) CAD_EXCLUDES(mutex_);
  void total_unknown() CAD_EXCLUDES(mutex_);

  // Ranges to add to a transaction, if the hint is not known without, and the hint that follows from what they
  // found or from what is known.
  void ask_hint(Transaction& transaction, const TenantId& tenant, RunId run);
  [[nodiscard]] CapacityHint hint(const std::vector<RangeResult>& found,
                                  const TenantId& tenant,
                                  RunId run,
                                  LogicalTime now);

 private:
  [[nodiscard]] Task<Result<std::uint64_t, InfraError>> recount(TenantId tenant,
                                                                const char* operation);
  [[nodiscard]] Task<Result<std::uint64_t, InfraError>> sum_of_counts(const char* operation);
  [[nodiscard]] std::optional<std::uint64_t> remembered_total(std::uint64_t additional)
      CAD_EXCLUDES(mutex_);

  // Constant after construction.
  Store* store_;
  Delay* delay_;
  const base::Clock* clock_;
  const EtcdOptions options_;

  LeaseCache cache_;
  LeaseCache free_records_;
  RunMemory runs_;
  SpareLeases spares_;
  Complaints complaints_;
  Cooldowns cooldowns_;

  base::Mutex mutex_;
  base::Random* random_ CAD_PT_GUARDED_BY(mutex_);
  std::optional<std::uint64_t> total_ CAD_GUARDED_BY(mutex_);
  std::uint64_t total_age_ CAD_GUARDED_BY(mutex_) = 0;

  base::Gate gate_;
};

// A free shard, and when the next lease ends, among records as they are owned at `now`.
[[nodiscard]] CapacityHint exact_hint(std::vector<LoadedShard>& shards, LogicalTime now);

[[nodiscard]] InfraError exhausted(const char* operation);

}  // namespace cadastre::coord::etcd
