// Snapshots: the whole state of the replicated backend in one file.
//
// Version 1. Integers, bytes and list as in coord/record_codec.h.
//
//   offset  size  field
//        0     4  magic         "CDCS"
//        4     2  version       1
//        6     1  configured    0 or 1: whether a command has written the settings
//        7     1  zero
//        8     8  term          of the last entry executed
//       16     8  index         the same
//       24    40  settings      shards_per_tenant_max, shards_total_max, claim_cooldown_interval,
//                               record_bytes_max, children_max
//       64     8  count         records
//       72     .  records       bytes each
//       ..    32  BLAKE3        of everything before
//
// Records are those of coord/record_codec.h in the order of the keyspace: by tenant; by run; a run, then
// its shards by id. Behind them, each if it is not empty:
//
//   "v1", 4   cooldowns      list of (tenant 32, worker u64, last claim u64), sorted
//   "v1", 5   tenant times   list of (tenant 32, largest now u64), sorted
//
// Indexes, counters and the slab are rebuilt. A decoder takes any bytes: it checks the sum first, then every
// record, their order, and that roots, parents and spawned shards name each other. It says where it found
// what; nothing of a damaged file is used. Pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/memory/memory_backend.h"
#include "coord/replicated/settings.h"
#include "coord/run_record.h"
#include "log/types.h"

namespace cadastre::coord::replicated {

// The largest `now` that a tenant's commands carried.
struct TenantTime {
  TenantId tenant;
  LogicalTime largest_now;

  friend bool operator==(const TenantTime&, const TenantTime&) = default;
};

// What a snapshot says besides its records.
struct SnapshotHead {
  bool configured = false;
  log::Position applied;
  Settings settings;

  friend bool operator==(const SnapshotHead&, const SnapshotHead&) = default;
};

struct SnapshotContent {
  SnapshotHead head;
  std::vector<RunRecord> runs;    // by tenant and id
  std::vector<ShardDump> shards;  // by tenant, run and id
  std::vector<memory::CooldownDump> cooldowns;
  std::vector<TenantTime> times;

  friend bool operator==(const SnapshotContent&, const SnapshotContent&) = default;
};

enum class SnapshotError : std::uint8_t {
  kNewer,    // Of a newer release: start that one.
  kDamaged,  // Not what was written: `detail` says where. Restore a backup.
};

// Everything but the sum, which seal() adds: hashing can wait for another thread.
[[nodiscard]] base::Bytes encode_snapshot(const SnapshotHead& head,
                                          const memory::MemoryBackend& state,
                                          const std::vector<TenantTime>& times);
void seal(base::Bytes& snapshot);

[[nodiscard]] base::Result<SnapshotContent, SnapshotError> decode_snapshot(base::ByteView bytes);

}  // namespace cadastre::coord::replicated
