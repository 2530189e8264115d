// Every limit of the etcd backend, and the relations between them.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "coord/limits.h"

namespace cadastre::coord::etcd {

inline constexpr std::size_t kTxnOpsDefault = 128;                     // etcd's --max-txn-ops
inline constexpr std::size_t kTxnBytesDefault = std::size_t{1} << 20;  // etcd refuses 1.5 MiB
inline constexpr std::uint32_t kOwnerTtlSecondsDefault = 60;
inline constexpr std::uint32_t kTxnRetriesDefault = 8;
inline constexpr std::uint32_t kTxnRetriesMax = 64;
inline constexpr std::size_t kChildrenDefault = 8;

// What the lists of one transaction may hold together: etcd bounds only the longest of them.
// A split into n children has 5 + n compares and 4 + 2n writes.
[[nodiscard]] constexpr std::size_t children_max_of(std::size_t txn_ops) noexcept {
  return txn_ops < 12 ? 0 : (txn_ops - 9) / 3;
}
// A batch of n shards has 1 + n compares and 2n writes.
[[nodiscard]] constexpr std::size_t batch_max_of(std::size_t txn_ops) noexcept {
  return txn_ops < 4 ? 0 : (txn_ops - 1) / 3;
}
static_assert(children_max_of(kTxnOpsDefault) == 39 && batch_max_of(kTxnOpsDefault) == 42);
static_assert(kChildrenDefault <= children_max_of(kTxnOpsDefault));

inline constexpr std::size_t kLeaseCacheMax = 16'384;     // leases whose record is remembered
inline constexpr std::size_t kFreeRecordsMax = 16'384;    // free shards whose record is remembered
inline constexpr std::size_t kKeysPerReadMax = 100;       // single keys of one read
inline constexpr std::int64_t kRunScanKeysMax = 256;      // keys of one step of a scan for runs
inline constexpr std::uint32_t kListAttemptsMax = 4;      // of a list whose revision is forgotten
inline constexpr std::int64_t kCollectShardsMax = 1'000;  // keys that one transaction collects

// What is remembered of runs, so that claims and hints need not read them each time.
inline constexpr std::size_t kRememberedRunsMax = 256;  // the one that was used longest ago goes
inline constexpr std::size_t kProspectsToldMax =
    65'536;  // changes while a run is read; more: read again
inline constexpr std::size_t kProspectTriesMax =
    2;  // shards tried by memory before the run is read
// A reading costs about 5 us for each shard: half a percent of the time that it serves.
inline constexpr std::chrono::milliseconds kProspectsKeptPerShard{1};
inline constexpr std::chrono::milliseconds kProspectsKeptMin{250};
inline constexpr std::chrono::milliseconds kProspectsKeptMax{10'000};
inline constexpr std::chrono::milliseconds kCountKept{1'000};  // what a hint's count serves

// Leases whose owner key has gone, to be used again while they are nearly new.
inline constexpr std::size_t kSpareLeasesMax = 256;
inline constexpr std::int64_t kSpareLeaseAgeDivisor = 12;  // of the TTL: 5 s of 60

inline constexpr std::size_t kRenewalsAtOnceMax = 32;  // of one renew_many

inline constexpr std::uint64_t kTotalAgeMax = 256;  // questions that one sum of counters answers
static_assert(kKeysPerReadMax < kTxnOpsDefault, "a read of several keys is a transaction");

}  // namespace cadastre::coord::etcd
