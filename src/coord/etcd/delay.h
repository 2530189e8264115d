// Delay: how long a lost race waits before it tries again, and who does the waiting.
//
// The length is a pure function of the attempt and of chance; waiting is asked of a Delay, so that a
// simulation needs no time for it.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "base/random.h"

namespace cadastre::coord::etcd {

inline constexpr std::chrono::milliseconds kRetryDelayFirst{5};
inline constexpr std::chrono::milliseconds kRetryDelayMax{200};

// Before jitter: doubled with each attempt, from 0 on, up to the maximum.
[[nodiscard]] std::chrono::milliseconds retry_delay(std::uint32_t attempt) noexcept;
// With jitter: times a factor in [0.5, 1.5).
[[nodiscard]] std::chrono::nanoseconds jittered(std::chrono::nanoseconds delay,
                                                base::Random& random) noexcept;

class Delay {
 public:
  Delay() = default;
  Delay(const Delay&) = delete;
  Delay& operator=(const Delay&) = delete;
  virtual ~Delay() = default;

  // Runs `done` once, after this time; perhaps before the call returns, perhaps on another thread.
  virtual void wait(std::chrono::nanoseconds time, std::move_only_function<void()> done) = 0;
};

// Time is no object: for models and tests.
class NoDelay final : public Delay {
 public:
  void wait(std::chrono::nanoseconds time, std::move_only_function<void()> done) override {
    waited_ += time;
    done();
  }
  [[nodiscard]] std::chrono::nanoseconds waited() const noexcept { return waited_; }

 private:
  std::chrono::nanoseconds waited_{};  // in all
};

}  // namespace cadastre::coord::etcd
