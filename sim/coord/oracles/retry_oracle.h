// S10, idempotence: within its log's window a request with an op id takes effect once; whoever
// repeats it is told so, with the same value; whoever uses the id for something else is refused.
//
// Keeps its own windows, of the last 16 requests that were answered kExecuted for a shard and the
// last 8 for a run. A residual split is remembered for ever, as its shard is. The epoch that unpark
// answers with is the one in force, so it is no part of the value.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "coord/identity.h"
#include "sim/coord/oracles/violation.h"
#include "sim/coord/request.h"
#include "sim/coord/shard_name.h"

namespace cadastre::sim {

class RetryOracle {
 public:
  void observe(const Request& request, const Answer& answer, Violations& out);
  void forget(const RunName& run);

 private:
  struct Executed {
    coord::OpId op;
    Call call = Call::kCheckpoint;
    std::uint64_t payload = 0;
    std::vector<coord::ShardId> shards;
  };
  struct Residual {
    coord::ShardId shard;
    base::Bytes start;
  };
  struct Memory {
    std::deque<Executed> window;
    std::map<coord::OpId, Residual> residuals;
  };

  void observe_executed(const Request& request, const Answer& answer, Violations& out);
  void observe_replayed(const Request& request, const Answer& answer, Violations& out);
  void observe_refused(const Request& request, const Answer& answer, Violations& out);

  std::unordered_map<ShardName, Memory> memories_;  // a run's has shard 0
};

}  // namespace cadastre::sim
