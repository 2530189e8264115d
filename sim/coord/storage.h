// Storage: the bad days of whatever a backend keeps its records in. Absent where that is the process itself.
//
// Luck is drawn for each request from the seed and from what the request says, so that taking a step out of a
// history leaves the luck of the others alone.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/coord/faults.h"
#include "sim/coord/request.h"
#include "sim/coord/shard_name.h"

namespace cadastre::sim {

class Storage {
 public:
  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  virtual ~Storage() = default;

  // A request is about to be sent: faults are as its luck has them until calm().
  virtual void begin(const Request& request) = 0;
  virtual void calm() = 0;
  virtual void advance(std::uint64_t ticks) = 0;
  // Shards whose owner's hold ended by itself since the last question.
  [[nodiscard]] virtual std::vector<ShardName> lost_owners() = 0;
};

}  // namespace cadastre::sim
