#include "coord/memory/cooldown_table.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "coord/identity.h"

namespace cadastre::coord::memory {

std::optional<LogicalTime> CooldownTable::throttled_until(WorkerId worker,
                                                          LogicalTime now,
                                                          std::uint64_t interval) const noexcept {
  const auto at = std::ranges::lower_bound(entries_, worker, {}, &Entry::worker);
  if (at == entries_.end() || at->worker != worker) return std::nullopt;
  const LogicalTime until = saturating_add(at->claimed_at, interval);
  if (now < until) return until;
  return std::nullopt;
}

void CooldownTable::record(WorkerId worker, LogicalTime now, std::uint64_t interval) {
  auto at = std::ranges::lower_bound(entries_, worker, {}, &Entry::worker);
  if (at != entries_.end() && at->worker == worker) {
    at->claimed_at = now;
    return;
  }
  if (std::has_single_bit(entries_.size())) {
    std::erase_if(entries_, [&](const Entry& entry) {
      return saturating_add(entry.claimed_at, interval) <= now;
    });
    at = std::ranges::lower_bound(entries_, worker, {}, &Entry::worker);
  }
  entries_.insert(at, Entry{worker, now});
}

}  // namespace cadastre::coord::memory
