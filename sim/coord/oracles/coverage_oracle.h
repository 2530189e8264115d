// S7b: at every step the ranges of a run's shards that are not Split are pairwise disjoint, and
// together they are exactly what was registered: no split ever loses a key or hands one out twice.

#pragma once

#include <map>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "coord/backend.h"
#include "sim/coord/oracles/violation.h"
#include "sim/coord/request.h"
#include "sim/coord/shard_name.h"

namespace cadastre::sim {

// Borrows its bounds.
struct KeySpan {
  base::ByteView start;
  base::ByteView end;
};

// Whether the spans, sorted by start, tile `registered`, which is sorted and has no neighbours that
// touch. All bounds are present.
[[nodiscard]] bool tiles(std::span<const KeySpan> registered, std::span<const KeySpan> spans);

class CoverageOracle {
 public:
  // Learns what was registered, from the answer.
  void observe(const Request& request, const Answer& answer);
  void forget(const RunName& run) { registered_.erase(run); }

  // Over all records.
  void check(const coord::Introspection& records, Violations& out) const;

 private:
  struct Registered {
    base::Bytes start;
    base::Bytes end;
  };
  void check_run(const RunName& run, std::span<const KeySpan> spans, Violations& out) const;

  std::map<RunName, std::vector<Registered>> registered_;  // sorted, neighbours joined
};

}  // namespace cadastre::sim
