// Names of the figures that have targets, and the targets: of bitmap-tables.md 7.4 ("must hold") and of
// the issue, whichever is stricter.

#pragma once

#include <optional>
#include <string_view>

namespace cadastre::bench {

inline constexpr std::string_view kInsertBatch = "P-1 insert, 1,000 a transaction";
inline constexpr std::string_view kInsertSingle = "P-1 insert, 1 a transaction";
inline constexpr std::string_view kInsertSingleSync = "P-1 insert, 1 a transaction, synced";
inline constexpr std::string_view kInsertCallersSync = "P-1 insert, 1 of 8 callers each, synced";
inline constexpr std::string_view kInsertSingleBytes = "P-1 bytes written, 1 a transaction";
inline constexpr std::string_view kSpaceLive = "P-2 space for an id, shuffled, live";
inline constexpr std::string_view kSpaceCompacted = "P-8 space for an id, compacted, live";
inline constexpr std::string_view kAscendingBatch = "P-3 ascending, 1,000 a transaction";
inline constexpr std::string_view kAscendingAtOnce = "P-3 ascending, 1,000 at once";
inline constexpr std::string_view kAscendingBytes = "P-3 segments of all ascending ids";
inline constexpr std::string_view kContainsHit = "P-5 contains, hit";
inline constexpr std::string_view kContainsMiss = "P-5 contains, miss";
inline constexpr std::string_view kStream = "P-6 stream";
inline constexpr std::string_view kIntersectRandom = "P-7 intersection, random";
inline constexpr std::string_view kIntersectDense = "P-7 intersection, dense";
inline constexpr std::string_view kStreamHeap = "P-6 heap while it streams";

// The least ratio to a peer; nothing where none is promised.
[[nodiscard]] std::optional<double> target_ratio(std::string_view what, std::string_view peer);
// In the figure's own unit.
[[nodiscard]] std::optional<double> target_figure(std::string_view what);

}  // namespace cadastre::bench
