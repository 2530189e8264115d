#include "sim/clock/node_clock.h"

#include <chrono>
#include <cstdint>

#include "base/check.h"
#include "base/clock.h"
#include "sim/schedule/scheduler.h"
#include "sim/schedule/sim_time.h"

namespace cadastre::sim {
namespace {

using std::chrono::nanoseconds;

constexpr std::int64_t kMillion = 1'000'000;

// Both without a product of two large numbers.
std::int64_t scaled_down(std::int64_t value, std::int64_t numerator, std::int64_t denominator) {
  return value / denominator * numerator + value % denominator * numerator / denominator;
}

std::int64_t scaled_up(std::int64_t value, std::int64_t numerator, std::int64_t denominator) {
  const std::int64_t rest = value % denominator * numerator;
  return value / denominator * numerator + (rest + denominator - 1) / denominator;
}

}  // namespace

NodeClock::NodeClock(const Scheduler& scheduler, const Start& start) noexcept
    : scheduler_(scheduler),
      wall_at_zero_(start.wall - scheduler.now().time_since_epoch()),
      since_(scheduler.now()),
      reading_(start.uptime),
      wall_offset_(start.wall.time_since_epoch() - start.uptime) {
  set_drift(start.drift);
}

nanoseconds NodeClock::elapsed() const noexcept {
  const std::int64_t passed = (scheduler_.now() - since_).count();
  return reading_ + nanoseconds(scaled_down(passed, kMillion + drift_.parts_per_million, kMillion));
}

base::Instant NodeClock::now() const noexcept {
  return base::Instant(elapsed() + wall_offset_);
}

void NodeClock::set_drift(Drift drift) noexcept {
  CAD_CHECK(drift.parts_per_million <= kDriftPpmMax, "a clock is not faster than that");
  CAD_CHECK(drift.parts_per_million >= -kDriftPpmMax, "a clock is not slower than that");
  reading_ = elapsed();
  since_ = scheduler_.now();
  drift_ = drift;
}

void NodeClock::correct() noexcept {
  jump(wall_at_zero_ + scheduler_.now().time_since_epoch() - now());
}

SimTime NodeClock::due_in(nanoseconds delay) const noexcept {
  CAD_CHECK(delay.count() >= 0, "a timer is for now or for later");
  const std::int64_t wanted = (elapsed() + delay - reading_).count();
  return since_ + nanoseconds(scaled_up(wanted, kMillion, kMillion + drift_.parts_per_million));
}

}  // namespace cadastre::sim
