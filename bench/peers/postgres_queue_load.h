// Closed loops on the queue in PostgreSQL, over its socket. Each makes the table anew.

#pragma once

#include <cstddef>
#include <string>

namespace cadastre::bench {

struct QueueLoad {
  std::string connection_text;
  std::size_t connections = 64;
  double seconds = 3;
};

// Checkpoints a second, every connection on a shard that it holds.
[[nodiscard]] double run_queue_checkpoints(const QueueLoad& load);
// Pairs of a claim and a release a second.
[[nodiscard]] double run_queue_claims(const QueueLoad& load);

}  // namespace cadastre::bench
