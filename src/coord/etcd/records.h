// Records as etcd holds them, and what is wrong if they do not fit together.
//
// A record that cannot be read, one that says it is somebody else's, and an owner without a matching lease
// are corruption: never "not found". A record with a lease but without an owner key is legal: the owner's
// time in etcd has run out.
//
// Pure functions.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/etcd/store.h"
#include "coord/identity.h"
#include "coord/record_codec.h"
#include "coord/run_record.h"
#include "coord/shard_change.h"
#include "coord/states.h"

namespace cadastre::coord::etcd {

struct LoadedOwner {
  OwnerValue value;
  LeaseId lease = {};

  friend bool operator==(const LoadedOwner&, const LoadedOwner&) = default;
};

struct LoadedShard {
  ShardDump record;
  Revision revision = {};
  std::optional<LoadedOwner> owner = std::nullopt;
};

struct LoadedRun {
  RunRecord record;
  Revision revision = {};
};

// What operations on shards need of their run. True as long as the record has this revision.
struct RunFacts {
  Revision revision = {};
  std::uint64_t lease_duration = 0;
  RunStatus status = RunStatus::kInitializing;
  bool is_registered = false;
};
[[nodiscard]] RunFacts facts_of(const LoadedRun& run) noexcept;

// A shard together with what its run says.
struct LoadedLease {
  LoadedShard shard;
  RunFacts run;
  // When this process asked for the lease of the owner key; nothing if it did not.
  std::optional<base::Elapsed> leased_since = std::nullopt;
};

// A tenant's number of shards, and the revision it was read at; without one the key does not exist.
struct TenantCount {
  std::uint64_t value = 0;
  std::optional<Revision> revision = std::nullopt;
};

[[nodiscard]] std::string to_value(base::ByteView bytes);

// `found` is what a read of the run's key gave. `operation` labels the error and lives for ever.
[[nodiscard]] Result<std::optional<LoadedRun>, InfraError> load_run(const RangeResult& found,
                                                                    const TenantId& tenant,
                                                                    RunId run,
                                                                    const char* operation);
// Of everything under the shard's key: record and owner.
[[nodiscard]] Result<std::optional<LoadedShard>, InfraError> load_shard(const RangeResult& found,
                                                                        const TenantId& tenant,
                                                                        const ShardKey& key,
                                                                        const char* operation);
// Of everything under the run's shards/, by id.
[[nodiscard]] Result<std::vector<LoadedShard>, InfraError> load_shards(const RangeResult& found,
                                                                       const TenantId& tenant,
                                                                       RunId run,
                                                                       const char* operation);
// Nothing if the count has no key yet.
[[nodiscard]] Result<std::optional<TenantCount>, InfraError> load_count(const RangeResult& found,
                                                                        const char* operation);

// The shards of a run can be seen once it has been activated.
[[nodiscard]] inline bool is_registered(const RunRecord& run) noexcept {
  return !run.root_shards.empty();
}

// Shard and run of one read; nothing if the shard is not there or cannot be seen yet.
[[nodiscard]] Result<std::optional<LoadedLease>, InfraError> load_lease(
    const std::vector<RangeResult>& found,
    const TenantId& tenant,
    const ShardKey& key,
    const char* operation);
// The same where the run's record is known.
[[nodiscard]] Result<std::optional<LoadedLease>, InfraError> load_lease(const RangeResult& found,
                                                                        const RunFacts& run,
                                                                        const TenantId& tenant,
                                                                        const ShardKey& key,
                                                                        const char* operation);

// Owned at `now` means: the owner key exists and now < deadline. A lease that runs but lost its key counts no
// longer; one whose deadline has passed stays in sight, so that whoever held it learns that it expired.
void settle(LoadedShard& shard, LogicalTime now) noexcept;

// Carries a decision's change out on a copy of the record.
[[nodiscard]] ShardDump changed(const ShardDump& record, const ShardChange& change);

}  // namespace cadastre::coord::etcd
