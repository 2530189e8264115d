// S9: two successful claims of one worker are at least the cooldown apart. Fed from answers.
//
// Time is the `now` of the claims. A backend may forget a cooldown once a claim of the tenant came at
// or after its end; a worker whose own clock is behind may then claim again early, and that is no
// violation: by the tenant's time the interval was over.

#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "coord/identity.h"
#include "sim/coord/oracles/violation.h"
#include "sim/coord/request.h"

namespace cadastre::sim {

class CooldownOracle {
 public:
  explicit CooldownOracle(std::uint64_t interval) noexcept : interval_(interval) {}

  void observe(const Request& request, const Answer& answer, Violations& out);

 private:
  struct Tenant {
    coord::LogicalTime latest;  // of all successful claims
    std::map<coord::WorkerId, coord::LogicalTime> claimed;
  };
  std::uint64_t interval_;
  std::map<std::size_t, Tenant> tenants_;
};

}  // namespace cadastre::sim
