// CooldownTable: when each worker of a tenant last claimed, for as long as that matters.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/attributes.h"
#include "coord/identity.h"

namespace cadastre::coord::memory {

class CooldownTable {
 public:
  // The time before which the worker may not claim again; nothing if it may at `now`.
  [[nodiscard]] std::optional<LogicalTime> throttled_until(WorkerId worker,
                                                           LogicalTime now,
                                                           std::uint64_t interval) const noexcept;

  struct Entry {
    WorkerId worker;
    LogicalTime claimed_at;
  };

  // A claim succeeded. Whenever the table reaches a power of two, entries whose time is over leave it
  // before the next worker enters, so that it is bounded by twice the workers of one interval. When
  // that happens follows from the entries alone, never from where they came from: copies of a table
  // stay equal.
  void record(WorkerId worker, LogicalTime now, std::uint64_t interval);

  // By worker.
  [[nodiscard]] std::span<const Entry> entries() const noexcept CAD_LIFETIMEBOUND {
    return entries_;
  }
  // Puts an entry back, behind all that are there.
  void load(const Entry& entry) { entries_.push_back(entry); }

 private:
  std::vector<Entry> entries_;  // by worker
};

}  // namespace cadastre::coord::memory
