// BytePace: how long bytes must wait so that no more than so many go in a second. Bytes that come late are not made up
// for: after a quiet time the next ones go at once, those behind them wait their turn.
//
// Pure: time is an argument. Belongs to whoever locks it.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/check.h"
#include "base/clock.h"

namespace cadastre::base {

class BytePace {
 public:
  explicit BytePace(std::uint64_t bytes_per_second) noexcept : per_second_(bytes_per_second) {
    CAD_CHECK(bytes_per_second != 0, "a pace of nothing would wait for ever");
  }

  // These bytes go next: after how long.
  [[nodiscard]] Elapsed reserve(std::uint64_t bytes, Elapsed now) noexcept {
    const Elapsed begins = std::max(now, free_at_);
    free_at_ = begins + Elapsed(bytes * std::uint64_t{std::nano::den} / per_second_);
    return begins - now;
  }

 private:
  const std::uint64_t per_second_;
  Elapsed free_at_{0};
};

}  // namespace cadastre::base
