// The parts of `./dev bench coord-durable`. Each adds its rows; ours and a peer alternate in the same run.

#pragma once

#include "bench/report.h"

namespace cadastre::bench {

inline constexpr int kDurableRounds = 5;
inline constexpr double kDurableRoundSeconds = 3;

// In process: checkpoints against the raw log, and what renewals cost.
void add_embedded(Report& report);

// Over sockets: our server and our etcd backend against an empty call, etcd itself and a queue in PostgreSQL.
void add_rates(Report& report);

// Over a socket: how soon a waiting worker has the shard of one that died or gave it back.
void add_takeover(Report& report);

}  // namespace cadastre::bench
