// SyncAge: how long the disk has kept a set, as far as this node has watched (L-51).
//
// A process that was stopped, or a machine that was, comes back to a clock that ran on: the set may have been written long
// ago, and nobody has looked yet. That is not the disk's time. So between two looks no more than kSyncUnwatchedMax counts.
//
// Pure: time is an argument. Belongs to the log thread.

#pragma once

#include <algorithm>

#include "base/clock.h"
#include "log/limits.h"

namespace cadastre::log {

class SyncAge {
 public:
  // The disk gets the set.
  explicit SyncAge(base::Elapsed now) noexcept : looked_(now) {}

  void look(base::Elapsed now) noexcept {
    watched_ += std::min<base::Elapsed>(now - looked_, kSyncUnwatchedMax);
    looked_ = now;
  }
  [[nodiscard]] base::Elapsed watched() const noexcept { return watched_; }
  [[nodiscard]] bool late() const noexcept { return watched_ >= kSyncLate; }
  [[nodiscard]] bool hung() const noexcept { return watched_ >= kSyncHung; }

 private:
  base::Elapsed looked_;
  base::Elapsed watched_{};
};

}  // namespace cadastre::log
