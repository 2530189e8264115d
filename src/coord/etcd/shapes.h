// Shapes: the transaction of each operation. What it compares is everything its decision looked at, so that a
// decision that is out of date changes nothing; what it writes is all that the operation changes.
//
//   create_run       absent(run)                              put run
//   begin            rev(run)                                 put run
//   batch of n       rev(run), n x absent(shard)              n x (put shard, put shard_active)
//   activate         rev(run), counter                        put run, put run_active, put counter
//   acquire          rev(shard), owner3 or absent(owner)      put shard, put owner
//   claim of a shard whose record is remembered: as acquire, and rev(run)
//   renew, checkpoint  rev(shard), owner3                     put shard
//   release          rev(shard), owner3                       put shard, delete owner
//   complete, park   rev(shard), owner3                       put shard, delete owner, delete shard_active
//   split_replace    rev(shard), owner3, counter, n x absent  as complete, put counter, n x (put child, put shard_active)
//   split_residual   rev(shard), owner3, counter, absent      put shard, put residual, put shard_active, put counter
//   end of a run     rev(run), present or absent(run_active)  put run, delete run_active
//   unpark           rev(shard), rev(run), present(run_active), absent(owner)    put shard, put shard_active
//   forget a run     rev(run), absent(run_active), counter    delete run, run_active, shards/, shards_active/, put counter
//
// owner3 is presence, value and lease of the owner key. counter is the revision of the tenant's count, or its
// absence.
//
// Pure functions of records that were loaded and of records that are to be.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/attributes.h"
#include "coord/backend.h"
#include "coord/etcd/keyspace.h"
#include "coord/etcd/records.h"
#include "coord/etcd/store.h"
#include "coord/identity.h"
#include "coord/run_record.h"

namespace cadastre::coord::etcd {

// How an operation under a lease leaves its shard.
enum class Leaves : std::uint8_t {
  kHeld,   // renew, checkpoint
  kFree,   // release
  kEnded,  // complete, park
};

// What a split makes, and the count that it is counted in.
struct SplitWrites {
  ShardDump parent;
  std::vector<ShardDump> fresh;
  TenantCount count;
};

class Shapes {
 public:
  // Borrows the keyspace.
  explicit Shapes(const Keyspace& keys CAD_LIFETIMEBOUND) noexcept : keys_(&keys) {}

  [[nodiscard]] Transaction create_run(const RunRecord& run) const;
  [[nodiscard]] Transaction begin(const LoadedRun& run) const;
  [[nodiscard]] Transaction batch(const LoadedRun& run, std::span<const ShardDump> shards) const;
  [[nodiscard]] Transaction activate(const LoadedRun& before,
                                     const RunRecord& after,
                                     const TenantCount& count) const;
  [[nodiscard]] Transaction acquire(const LoadedShard& before,
                                    const ShardDump& after,
                                    LeaseId lease) const;
  // The run's record still has this revision.
  [[nodiscard]] Compare same_run(const ShardState& state, Revision revision) const;
  [[nodiscard]] Transaction leased(const LoadedShard& before,
                                   const ShardDump& after,
                                   Leaves leaves) const;
  [[nodiscard]] Transaction split_replace(const LoadedShard& before,
                                          const SplitWrites& writes) const;
  [[nodiscard]] Transaction split_residual(const LoadedShard& before,
                                           const SplitWrites& writes) const;
  [[nodiscard]] Transaction end_run(const LoadedRun& before, const RunRecord& after) const;
  [[nodiscard]] Transaction unpark(const LoadedShard& before,
                                   const ShardDump& after,
                                   const LoadedRun& run) const;
  // Everything of the run; `count` without its shards is what remains.
  [[nodiscard]] Transaction forget_run(const LoadedRun& run,
                                       const TenantCount& count,
                                       std::uint64_t shards) const;
  // The run's shards up to and with `last`, of which there are so many.
  [[nodiscard]] Transaction forget_shards(const LoadedRun& run,
                                          const TenantCount& count,
                                          ShardId last,
                                          std::uint64_t shards) const;
  // What an abandoned registration has left.
  [[nodiscard]] Transaction forget_prepared(const LoadedRun& run) const;

 private:
  const Keyspace* keys_;
};

[[nodiscard]] Compare guard(const std::string& count_key, const TenantCount& count);

// Keys and values of everything that it writes.
[[nodiscard]] std::size_t written_bytes(const Transaction& transaction) noexcept;

}  // namespace cadastre::coord::etcd
