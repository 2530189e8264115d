// The bounds of what waits for the log thread beside commands and frames, and what happens when they are reached.

#pragma once

#include <cstddef>

namespace cadastre::log {

// Requests of each kind: changes of membership, transfers, checkpoints. Full: kBusy.
inline constexpr std::size_t kRequestsMax = 1'024;

// Reports of peers on snapshots, the last one of each peer and group. Full: they are not heard, and a peer of whom nothing
// is heard is offered one anew after kSnapshotReportWait.
inline constexpr std::size_t kSnapshotReportsMax = 1'024;

}  // namespace cadastre::log
