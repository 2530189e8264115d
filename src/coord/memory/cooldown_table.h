// CooldownTable: when each worker of a tenant last claimed, for as long as that matters.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "coord/identity.h"

namespace cadastre::coord::memory {

class CooldownTable {
 public:
  // The time before which the worker may not claim again; nothing if it may at `now`.
  [[nodiscard]] std::optional<LogicalTime> throttled_until(WorkerId worker,
                                                           LogicalTime now,
                                                           std::uint64_t interval) const noexcept;

  // A claim succeeded. Before the table grows, entries whose time is over leave it, so that it is
  // bounded by the workers of one interval.
  void record(WorkerId worker, LogicalTime now, std::uint64_t interval);

 private:
  struct Entry {
    WorkerId worker;
    LogicalTime claimed_at;
  };
  std::vector<Entry> entries_;  // by worker
};

}  // namespace cadastre::coord::memory
