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

#include "base/attributes.h"
#include "base/gate.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "coord/errors.h"
#include "coord/etcd/cooldowns.h"
#include "coord/etcd/delay.h"
#include "coord/etcd/keyspace.h"
#include "coord/etcd/lease_cache.h"
#include "coord/etcd/limits.h"
#include "coord/etcd/records.h"
#include "coord/etcd/shapes.h"
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
  kCounted,  // free = Active markers less owner keys, without a deadline; reads the keys of the run
  kExact,    // as the memory backend; reads the records of the run
};

struct EtcdOptions {
  Keyspace keyspace;
  std::chrono::seconds owner_ttl{kOwnerTtlSecondsDefault};
  std::uint32_t retries = kTxnRetriesDefault;
  std::size_t children_max = kChildrenDefault;
  std::size_t txn_ops_max = kTxnOpsDefault;
  std::size_t txn_bytes_max = kTxnBytesDefault;
  std::size_t lease_cache_max = kLeaseCacheMax;
  std::uint64_t claim_cooldown_interval = 0;  // 0: none
  ShardLimits limits = {};
  Hints hints = Hints::kCounted;
};

class Core {
 public:
  // Borrows all of them. `random` is used for nothing else.
  Core(Store& store CAD_LIFETIMEBOUND,
       Delay& delay CAD_LIFETIMEBOUND,
       base::Random& random CAD_LIFETIMEBOUND,
       EtcdOptions options);

  [[nodiscard]] const EtcdOptions& options() const noexcept { return options_; }
  [[nodiscard]] const Keyspace& keys() const noexcept { return options_.keyspace; }
  [[nodiscard]] Shapes shapes() const noexcept { return Shapes(options_.keyspace); }
  [[nodiscard]] LeaseCache& cache() noexcept { return cache_; }
  [[nodiscard]] Cooldowns& cooldowns() noexcept { return cooldowns_; }
  [[nodiscard]] base::Gate& gate() noexcept { return gate_; }

  using Found = Result<std::vector<RangeResult>, InfraError>;
  [[nodiscard]] Task<Found> read(std::vector<Range> ranges, const char* operation);
  // A lease that is gone counts as a lost race: nothing was written.
  [[nodiscard]] Task<Result<TransactionResult, InfraError>> commit(Transaction transaction,
                                                                   const char* operation);
  [[nodiscard]] Task<Result<LeaseId, InfraError>> grant(const char* operation);
  // As far as possible: nobody waits for it, and the lease's own time is the backstop.
  void revoke(LeaseId lease);
  void keep_alive(LeaseId lease);

  // Waits after the attempt with this number has lost its race.
  [[nodiscard]] Task<Unit> wait(std::uint32_t attempt);
  [[nodiscard]] bool is_last(std::uint32_t attempt) const noexcept {
    return attempt >= options_.retries;
  }

  // What load_lease() reads.
  [[nodiscard]] std::vector<Range> lease_ranges(const TenantId& tenant, const ShardKey& key) const;

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

  // Ranges to add to a transaction, and the hint that follows from what they found.
  void ask_hint(Transaction& transaction, const TenantId& tenant, RunId run) const;
  [[nodiscard]] CapacityHint hint(const std::vector<RangeResult>& found,
                                  const TenantId& tenant,
                                  RunId run,
                                  LogicalTime now) const;

 private:
  [[nodiscard]] Task<Result<std::uint64_t, InfraError>> recount(TenantId tenant,
                                                                const char* operation);
  [[nodiscard]] Task<Result<std::uint64_t, InfraError>> sum_of_counts(const char* operation);
  [[nodiscard]] std::optional<std::uint64_t> remembered_total(std::uint64_t additional)
      CAD_EXCLUDES(mutex_);

  // Constant after construction.
  Store* store_;
  Delay* delay_;
  const EtcdOptions options_;

  LeaseCache cache_;
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
