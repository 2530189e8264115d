// NodeClock: what a simulated node believes the time is.
//
// Its monotonic reading begins at `uptime` and runs at a rate that may be wrong by some parts per
// million. Its wall clock is that reading and an offset, which may jump in both directions. Neither
// knows of the node's pauses (Scheduler::pause): after one, both have gone on.
//
// A node's timer is due by the node's own clock: due_in() says when that is in simulated time. A rate
// set later does not move timers that were set before.
//
// Invariants
//   1. The monotonic reading never goes back, whatever is done to rate and wall clock.
//   2. due_in(d) is the first instant at which the monotonic reading has grown by d or more.
//
// One thread, that of its scheduler.

#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.h"
#include "sim/schedule/scheduler.h"
#include "sim/schedule/sim_time.h"

namespace cadastre::sim {

// How much faster than simulated time a clock runs; slower if negative.
struct Drift {
  std::int64_t parts_per_million = 0;
};

inline constexpr std::int64_t kDriftPpmMax = 900'000;
static_assert(kDriftPpmMax < 1'000'000, "a clock never stands still");

class NodeClock final : public base::Clock {
 public:
  struct Start {
    base::Instant wall;
    std::chrono::nanoseconds uptime{0};
    Drift drift{};
  };

  // Borrows the scheduler.
  NodeClock(const Scheduler& scheduler, const Start& start) noexcept;

  [[nodiscard]] base::Instant now() const noexcept override;
  [[nodiscard]] base::Elapsed elapsed() const noexcept override;

  // From now on.
  void set_drift(Drift drift) noexcept;
  // The wall clock only; backwards if negative.
  void jump(std::chrono::nanoseconds by) noexcept { wall_offset_ += by; }
  // Jumps to where the wall clock would stand without jumps and drift, as a time service does.
  void correct() noexcept;

  // When `delay` will have passed by this clock.
  [[nodiscard]] SimTime due_in(std::chrono::nanoseconds delay) const noexcept;

 private:
  // Constant after construction.
  const Scheduler& scheduler_;
  const base::Instant wall_at_zero_;  // What a perfect clock shows when the simulation begins.

  Drift drift_;
  SimTime since_;                        // When the drift was set,
  std::chrono::nanoseconds reading_;     // and what elapsed() said then.
  base::Instant::duration wall_offset_;  // now() less elapsed()
};

}  // namespace cadastre::sim
