// Clock: what time it is, as an argument.
//
// Code that decides takes an Instant; a shell that has to ask takes a base::Clock&. Nothing outside
// base and node reads the system's clock. Tests and simulation turn a ManualClock by hand.
//
// now() is wall time, which an operator or NTP may set back: compare and subtract with that in mind.
// Clocks may be read from any thread.

#pragma once

#include <atomic>
#include <chrono>

namespace cadastre::base {

// Nanoseconds since 1970-01-01 00:00 UTC without leap seconds, good until the year 2262.
using Instant = std::chrono::sys_time<std::chrono::nanoseconds>;

class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  [[nodiscard]] virtual Instant now() const noexcept = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override { return std::chrono::system_clock::now(); }
};

// Stands still unless it is turned. A turn is seen by every thread at once.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Instant start = Instant{}) noexcept : now_(start) {}

  [[nodiscard]] Instant now() const noexcept override { return now_.load(); }

  // Also backwards, as real clocks do.
  void set(Instant now) noexcept { now_.store(now); }
  void advance(std::chrono::nanoseconds by) noexcept {
    Instant before = now_.load();
    while (!now_.compare_exchange_weak(before, before + by)) {}
  }

 private:
  std::atomic<Instant> now_;
};

}  // namespace cadastre::base
