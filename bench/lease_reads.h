// Point reads of a table beside a group: under its lease, and with nothing that guards them.

#pragma once

#include "log/group.h"

namespace cadastre::bench {

struct GuardedReads {
  double guarded = 0;    // Reads/s of one thread: barrier, read, second look.
  double unguarded = 0;  // The same reads, and nothing else.
  double by_lease =
      0;  // The share of the guarded ones that a lease answered; the rest asked a quorum.
};

// Turns of a few milliseconds of each, so many seconds in all. The group is led here, with leases.
[[nodiscard]] GuardedReads run_guarded_reads(log::Group& group, double seconds);

}  // namespace cadastre::bench
