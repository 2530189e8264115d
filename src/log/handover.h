// Handover: when a set goes to the writer.
//
// A closed loop of callers is answered all at once, and they come back one after the other. A set that
// leaves with the first of them makes the others wait for a whole sync: half the disk is lost. So after
// a set is done, the next one leaves when as many commands wait as were answered, or after
// kHandoverWaitMax, whichever is first. Callers that did not come back in time are not expected again:
// the expectation is at most twice what came last time. A lone caller, and whoever arrives at an idle
// node, never waits.
//
// Pure: time is an argument.

#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"
#include "log/limits.h"

namespace cadastre::log {

class Handover {
 public:
  // The disk has a set of so many commands; their callers are being answered.
  void set_done(std::uint64_t commands, base::Elapsed now) noexcept {
    expected_ = std::min(commands, 2 * std::max<std::uint64_t>(came_back_, 1));
    until_ = now + kHandoverWaitMax;
  }

  // A set with so many commands leaves.
  void leaves(std::uint64_t commands) noexcept {
    if (expected_ != 0) came_back_ = commands;
    expected_ = 0;
  }

  [[nodiscard]] bool waits(std::uint64_t queued, base::Elapsed now) const noexcept {
    return queued < expected_ && now < until_;
  }
  [[nodiscard]] std::uint64_t expected() const noexcept { return expected_; }
  [[nodiscard]] base::Elapsed until() const noexcept { return until_; }

 private:
  std::uint64_t expected_ = 0;
  std::uint64_t came_back_ = kQueueCommandsMax;  // Trusting at first.
  base::Elapsed until_{};
};

}  // namespace cadastre::log
