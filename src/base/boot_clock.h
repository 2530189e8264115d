// BootClock: how long the machine has been up, its sleep included.
//
// For promises that other machines rely on: base::Clock's elapsed() may stand still while a machine is
// suspended, and a promise must not outlast its time because of that. A hypervisor that stops a guest and its
// clocks deceives this one too.
//
// May be read from any thread.

#pragma once

#include <atomic>
#include <chrono>
#include <ctime>
#include <optional>

#include "base/clock.h"

namespace cadastre::base {

class BootClock {
 public:
  BootClock() = default;
  BootClock(const BootClock&) = delete;
  BootClock& operator=(const BootClock&) = delete;
  virtual ~BootClock() = default;

  // Nothing: the system does not say.
  [[nodiscard]] virtual std::optional<Elapsed> read() const noexcept = 0;
};

class SystemBootClock final : public BootClock {
 public:
  [[nodiscard]] std::optional<Elapsed> read() const noexcept override {
    std::timespec time{};
    if (::clock_gettime(CLOCK_BOOTTIME, &time) != 0) return std::nullopt;
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }
};

// Runs with another clock, unless it is told to fail or to be wrong by so much.
class DerivedBootClock final : public BootClock {
 public:
  // Borrows the other one.
  explicit DerivedBootClock(const Clock& clock) noexcept : clock_(clock) {}

  [[nodiscard]] std::optional<Elapsed> read() const noexcept override {
    if (fails_.load()) return std::nullopt;
    return clock_.elapsed() + off_.load();
  }
  void fail(bool fails) noexcept { fails_.store(fails); }
  void set_off(Elapsed by) noexcept { off_.store(by); }

 private:
  const Clock& clock_;
  std::atomic<bool> fails_{false};
  std::atomic<Elapsed> off_{Elapsed{}};
};

}  // namespace cadastre::base
