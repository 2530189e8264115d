// S11: counters, indexes and advice equal a full recount; and a claim takes the shard that the
// specification's scan would take.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/progress.h"
#include "coord/snapshot.h"
#include "sim/coord/mirror.h"
#include "sim/coord/oracles/violation.h"
#include "sim/coord/request.h"
#include "sim/coord/shard_name.h"

namespace cadastre::sim {

struct Recount {
  coord::CapacityHint capacity;
  coord::RunProgress progress;
  std::vector<coord::ShardId> candidates;  // by id
};

// By looking at every record of the run.
[[nodiscard]] Recount recount(const Mirror& mirror, const RunName& run, coord::LogicalTime now);

// The mirror is from before the claim.
void check_claim(const Mirror& before,
                 const Request& request,
                 const Answer& answer,
                 Violations& out);

// The hints that came with a grant or a renewal; the mirror is from afterwards.
void check_hints(const Mirror& after,
                 const Request& request,
                 const Answer& answer,
                 Violations& out);

// Progress, candidates and their advice, for every run.
void check_counts(const Mirror& mirror,
                  coord::CoordinationFacade& backend,
                  coord::LogicalTime now,
                  Violations& out);

}  // namespace cadastre::sim
