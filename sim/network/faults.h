// What a simulated network does to frames. Chances are parts per million of each frame.

#pragma once

#include <chrono>
#include <cstdint>

namespace cadastre::sim {

// Each delay of least .. most equally often; with a chance of tail_ppm, of most .. tail_most instead.
struct Delay {
  std::chrono::nanoseconds least{100'000};
  std::chrono::nanoseconds most{500'000};
  std::uint64_t tail_ppm = 0;
  std::chrono::nanoseconds tail_most{0};
};

struct LaneFaults {
  Delay delay{};
  std::uint64_t drop_ppm = 0;
  std::uint64_t duplicate_ppm = 0;  // The copy travels by itself: it may come first or much later.
  std::uint64_t reorder_ppm = 0;    // The frame leaves the line, and others overtake it by up to
  std::chrono::nanoseconds reorder_most{0};
  std::uint64_t reset_ppm = 0;  // The stream breaks, with this frame and all that are in it.
};

// Of one directed pair of nodes. Lanes have nothing in common but a partition.
struct NetworkFaults {
  LaneFaults control{};
  LaneFaults bulk{};
};

// What became of the frames, and what was done to them.
//
// sent + duplicated == delivered + dropped + blocked + lost_in_reset + lost_in_crash + unheard + in flight
struct NetworkCounters {
  std::uint64_t sent = 0;
  std::uint64_t delivered = 0;
  std::uint64_t dropped = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t blocked = 0;        // by a partition, when they were sent or when they arrived
  std::uint64_t lost_in_reset = 0;  // with their stream
  std::uint64_t lost_in_crash = 0;  // with the tasks of the receiver
  std::uint64_t unheard = 0;        // nobody was attached

  std::uint64_t reordered = 0;  // left the line
  std::uint64_t tail = 0;       // had an extraordinary delay
  std::uint64_t resets = 0;

  friend bool operator==(const NetworkCounters&, const NetworkCounters&) = default;
};

}  // namespace cadastre::sim
