// Clock: what time it is, as an argument.
//
// Code that decides takes an Instant; a shell that has to ask takes a base::Clock&. Nothing outside
// base and node reads the system's clock. Tests and simulation turn a ManualClock by hand.
//
// now() is wall time, which an operator or NTP may set back: compare and subtract with that in mind.
// elapsed() never goes back and means nothing outside this process: for waits, timeouts and latencies.
// Clocks may be read from any thread.

#pragma once

#include <atomic>
#include <chrono>

namespace cadastre::base {

// Nanoseconds since 1970-01-01 00:00 UTC without leap seconds, good until the year 2262.
using Instant = std::chrono::sys_time<std::chrono::nanoseconds>;

// Time since a point that stays the same for the life of a clock.
using Elapsed = std::chrono::nanoseconds;

class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  [[nodiscard]] virtual Instant now() const noexcept = 0;
  [[nodiscard]] virtual Elapsed elapsed() const noexcept = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override { return std::chrono::system_clock::now(); }
  [[nodiscard]] Elapsed elapsed() const noexcept override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }
};

// Stands still unless it is turned. A turn is seen by every thread at once.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Instant start = Instant{}) noexcept : now_(start) {}

  [[nodiscard]] Instant now() const noexcept override { return now_.load(); }
  [[nodiscard]] Elapsed elapsed() const noexcept override { return elapsed_.load(); }

  // Also backwards, as real wall clocks do. Leaves elapsed() alone.
  void set(Instant now) noexcept { now_.store(now); }
  // Wall time also goes back by less than nothing; elapsed time only forward.
  void advance(std::chrono::nanoseconds by) noexcept {
    Instant before = now_.load();
    while (!now_.compare_exchange_weak(before, before + by)) {}
    if (by <= by.zero()) return;
    Elapsed spent = elapsed_.load();
    while (!elapsed_.compare_exchange_weak(spent, spent + by)) {}
  }

 private:
  std::atomic<Instant> now_;
  std::atomic<Elapsed> elapsed_{Elapsed{}};
};

}  // namespace cadastre::base
