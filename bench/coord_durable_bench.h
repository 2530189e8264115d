// The parts of `./dev bench coord-durable`. Each adds its rows; ours and a peer alternate in the same run.

#pragma once

#include "bench/report.h"

namespace cadastre::bench {

inline constexpr int kDurableRounds = 5;
inline constexpr double kDurableRoundSeconds = 3;

// In process: checkpoints against the raw log, and what renewals cost.
void add_embedded(Report& report);

}  // namespace cadastre::bench
