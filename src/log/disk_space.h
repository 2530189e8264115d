// Room on the disk: what a node still does when there is little of it (L-50). Running out is the end of the
// process (L-49), so a node steps back before.
//
//   kPlenty     everything
//   kLow        no new user commands, and others lead its groups if they can
//   kCritical   no new entries from leaders either; the ballast goes, so that the log can still be closed and
//               truncated
//
// On a small disk the bounds in bytes are parts of it: a node on 64 MiB works until a quarter is left. A level that was
// reached is left only with some room to spare, so that a node at the border does not flap. Pure.

#pragma once

#include <algorithm>
#include <cstdint>

#include "log/limits.h"

namespace cadastre::log {

enum class Space : std::uint8_t {  // Reaches metrics: the values stay.
  kPlenty = 0,
  kLow = 1,
  kCritical = 2,
};

struct SpaceSettings {
  std::uint64_t low_bytes = kSpaceLowBytes;
  std::uint64_t low_percent = kSpaceLowPercent;  // Of the disk; the larger of the two counts.
  std::uint64_t critical_bytes = kSpaceCriticalBytes;

  friend bool operator==(const SpaceSettings&, const SpaceSettings&) noexcept = default;
};

struct DiskSpace {
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
};

// With less than this a node is critical.
[[nodiscard]] constexpr std::uint64_t critical_bound(const SpaceSettings& settings,
                                                     const DiskSpace& disk) noexcept {
  return std::min(settings.critical_bytes, disk.total_bytes / 8);
}

[[nodiscard]] constexpr Space judge_space(const SpaceSettings& settings,
                                          const DiskSpace& disk,
                                          Space before) noexcept {
  const std::uint64_t low = std::max(std::min(settings.low_bytes, disk.total_bytes / 4),
                                     disk.total_bytes / 100 * settings.low_percent);
  const std::uint64_t critical = critical_bound(settings, disk);
  const auto below = [&](std::uint64_t bound, bool was) {
    return disk.free_bytes < (was ? bound + bound / kSpaceMarginPart : bound);
  };
  if (below(critical, before == Space::kCritical)) return Space::kCritical;
  return below(low, before != Space::kPlenty) ? Space::kLow : Space::kPlenty;
}

}  // namespace cadastre::log
