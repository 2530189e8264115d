// CircuitBreaker: whether it is worth asking somebody who did not answer lately.
//
//            failures_max failures in a row
//   closed ─────────────────────────────────► open: nobody asks
//     ▲  ▲                                     │ ▲
//     │  └─ probe answered ── half-open ◄──────┘ │ after the rest, by one caller: the probe
//     │                           └──────────────┘ probe failed: the rest doubles, up to rest_max
//
// Invariants
//   1. While open or half-open at most one permit given since is out: the probe's.
//   2. Only the probe's outcome leaves half-open; answers to calls from before the opening change nothing.
//
// A step machine: time is an argument and never runs back. Every permit is reported exactly once. One thread at
// a time.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace cadastre::coord::etcd {

class CircuitBreaker {
 public:
  struct Settings {
    std::uint32_t failures_max = 3;
    base::Elapsed rest = std::chrono::milliseconds{200};
    base::Elapsed rest_max = std::chrono::seconds{5};
  };
  enum class State : std::uint8_t {
    kClosed,
    kOpen,
    kHalfOpen,
  };
  enum class Permit : std::uint8_t {
    kCall,
    kProbe,
  };

  explicit CircuitBreaker(Settings settings) noexcept : settings_(settings), rest_(settings.rest) {}

  // Nothing: do not ask now.
  [[nodiscard]] std::optional<Permit> admit(base::Elapsed now) noexcept;
  void answered(Permit permit) noexcept;
  void failed(Permit permit, base::Elapsed now) noexcept;

  [[nodiscard]] State state() const noexcept { return state_; }

 private:
  void open(base::Elapsed now) noexcept;

  Settings settings_;
  State state_ = State::kClosed;
  std::uint32_t failures_ = 0;  // in a row, while closed
  base::Elapsed rest_;          // of this opening or the next
  base::Elapsed opened_at_{};
};

}  // namespace cadastre::coord::etcd
