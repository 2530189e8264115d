// What an operator sees of checkpoints on their way between nodes, as plain readings. Recorded and read from any thread.

#pragma once

#include <atomic>
#include <cstdint>

namespace cadastre::server {

struct CheckpointCounters {
  using Counter = std::atomic<std::uint64_t>;

  Counter sealed{0};
  Counter seals_failed{0};
  Counter staged{0};
  Counter stages_failed{0};
  Counter bytes_fetched{0};
  Counter bytes_served{0};
  Counter ranges_refused{0};  // Of peers that asked for what is not here.

  static void count(Counter& counter, std::uint64_t times = 1) noexcept {
    counter.fetch_add(times, std::memory_order_relaxed);
  }
};

}  // namespace cadastre::server
