// Names of the figures that have targets, and the targets: of bitmap-tables.md 7.4 ("must hold") and of
// the issue, whichever is stricter.

#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace cadastre::bench {

inline constexpr std::string_view kBlob = "blob in LMDB";
inline constexpr std::string_view kRolled = "rolled on LMDB";
inline constexpr std::string_view kRust = "Rust facade on redb";
inline constexpr std::string_view kRocksdb = "RocksDB merge";
inline constexpr std::string_view kSqlite = "SQLite in WAL mode";
inline constexpr std::string_view kRedis = "Redis over a socket";
inline constexpr std::string_view kCroaring = "CRoaring in memory";

inline constexpr std::string_view kInsertBatch = "P-1 insert, 1,000 a transaction";
inline constexpr std::string_view kInsertSingle = "P-1 insert, 1 a transaction";
inline constexpr std::string_view kInsertSingleSync = "P-1 insert, 1 a transaction, synced";
inline constexpr std::string_view kInsertCallersSync = "P-1 insert, 1 of 8 callers each, synced";
inline constexpr std::string_view kInsertSingleBytes = "P-1 bytes written, 1 a transaction";
// For a store that keeps what is not synced in its own memory: bytes are those of synced inserts.
inline constexpr std::string_view kInsertSingleSyncBytes =
    "P-1 bytes written, 1 a transaction, synced";
inline constexpr std::string_view kSpaceLive = "P-2 space for an id, shuffled, live";
inline constexpr std::string_view kSpaceCompacted = "P-8 space for an id, compacted, live";
inline constexpr std::string_view kAscendingBatch = "P-3 ascending, 1,000 a transaction";
inline constexpr std::string_view kAscendingAtOnce = "P-3 ascending, 1,000 at once";
inline constexpr std::string_view kAscendingBytes = "P-3 segments of all ascending ids";
inline constexpr std::string_view kContainsHit = "P-5 contains, hit";
inline constexpr std::string_view kContainsMiss = "P-5 contains, miss";
inline constexpr std::string_view kContainsVerified = "P-5 contains, hit, checksum verified";
inline constexpr std::string_view kStream = "P-6 stream";
inline constexpr std::string_view kIntersectRandom = "P-7 intersection, random";
inline constexpr std::string_view kIntersectDense = "P-7 intersection, dense";
inline constexpr std::string_view kStreamHeap = "P-6 heap while it streams";
inline constexpr std::string_view kIntersectHeap = "P-6 heap while it intersects";
inline constexpr std::string_view kUniteHeap = "P-6 heap while it unites";
inline constexpr std::string_view kSubtractHeap = "P-6 heap while it subtracts";

// Where less is better, "at most 1.2 times" is a ratio of 1 / 1.2.
struct Target {
  std::string_view what;
  std::string_view peer;
  double ratio = 0;
};

[[nodiscard]] std::span<const Target> target_ratios();
// The least ratio to a peer; nothing where none is promised.
[[nodiscard]] std::optional<double> target_ratio(std::string_view what, std::string_view peer);
// In the figure's own unit.
[[nodiscard]] std::optional<double> target_figure(std::string_view what);

}  // namespace cadastre::bench
