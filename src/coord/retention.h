// How long terminal runs are kept: a retention in ticks of logical time, which an operator sets.

#pragma once

#include <cstdint>
#include <optional>

#include "coord/identity.h"

namespace cadastre::coord {

// The time before which a run must have ended to be forgotten at `now`; nothing while that would be the
// beginning of time, or if runs are kept for ever.
[[nodiscard]] constexpr std::optional<LogicalTime> forget_before(LogicalTime now,
                                                                 std::uint64_t retention) noexcept {
  if (retention == 0 || now.raw() <= retention) return std::nullopt;
  return LogicalTime::from_raw(now.raw() - retention);
}

}  // namespace cadastre::coord
