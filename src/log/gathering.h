// Gathering: whether to wait for callers that were just answered.
//
// A closed loop of callers is answered all at once, and they come back one after the other. Work that begins with
// the first of them makes the others wait for a whole round of it. So whoever begins work waits until as many came
// as were answered, or for kHandoverWaitMax, whichever is first. Callers that did not come back in time are not
// expected again: the expectation is at most twice what came last time. A lone caller, and whoever arrives where
// nobody was answered, never waits.
//
// Pure: time is an argument.

#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"
#include "log/limits.h"

namespace cadastre::log {

class Gathering {
 public:
  // So many callers are being answered.
  void answered(std::uint64_t callers, base::Elapsed now) noexcept {
    if (now >= until_) expected_ = 0;  // Those before did not come back.
    expected_ = std::min(expected_ + callers, 2 * std::max<std::uint64_t>(came_back_, 1));
    until_ = now + kHandoverWaitMax;
  }
  // Work begins with so many.
  void begins(std::uint64_t callers) noexcept {
    if (expected_ != 0) came_back_ = callers;
    expected_ = 0;
  }

  [[nodiscard]] bool waits(std::uint64_t here, base::Elapsed now) const noexcept {
    return here < expected_ && now < until_;
  }
  [[nodiscard]] std::uint64_t expected() const noexcept { return expected_; }
  [[nodiscard]] base::Elapsed until() const noexcept { return until_; }

 private:
  std::uint64_t expected_ = 0;
  std::uint64_t came_back_ = kQueueCommandsMax;  // Trusting at first.
  base::Elapsed until_{};
};

}  // namespace cadastre::log
