// Stamper: the time of a request that brought none (coordination.md 10.8, "time").
//
// The server's clock in milliseconds, but never less than the largest `now` that was applied for the
// tenant, so that time does not run back when a clock is set or another server takes over. One tenant's
// times never move another's. Safe from any thread.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "coord/identity.h"

namespace cadastre::server {

// Of a tenant, as the backend has applied it; 0: nothing yet. Called from any thread.
using LargestNow = std::function<coord::LogicalTime(const coord::TenantId&)>;

class Stamper {
 public:
  // The clock outlives it.
  Stamper(const base::Clock& clock, LargestNow largest_now)
      : clock_(clock), largest_now_(std::move(largest_now)) {}

  [[nodiscard]] coord::LogicalTime stamp(const coord::TenantId& tenant) const {
    return std::max(clock_now(), largest_now_(tenant));
  }
  [[nodiscard]] coord::LogicalTime stamp_unless(std::optional<coord::LogicalTime> now,
                                                const coord::TenantId& tenant) const {
    return now ? *now : stamp(tenant);
  }

  // Without any tenant: what alarms are set by. Never 0, which is no time.
  [[nodiscard]] coord::LogicalTime clock_now() const noexcept {
    const auto since_epoch =
        std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now().time_since_epoch());
    return coord::LogicalTime::from_raw(
        static_cast<std::uint64_t>(std::max<std::int64_t>(since_epoch.count(), 1)));
  }

 private:
  const base::Clock& clock_;
  const LargestNow largest_now_;
};

}  // namespace cadastre::server
