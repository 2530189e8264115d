#include "sim/coord/oracles/cooldown_oracle.h"

#include <algorithm>

#include <fmt/format.h>

#include "coord/identity.h"
#include "sim/coord/oracles/violation.h"
#include "sim/coord/request.h"
#include "sim/coord/shard_name.h"

namespace cadastre::sim {

void CooldownOracle::observe(const Request& request, const Answer& answer, Violations& out) {
  if (request.call != Call::kClaim) return;
  Tenant& tenant = tenants_[number_of(request.tenant)];
  const auto before = tenant.claimed.find(request.worker);
  const bool cooling = before != tenant.claimed.end() && interval_ != 0 &&
                       request.now < coord::saturating_add(before->second, interval_);
  if (answer.verdict == Verdict::kGranted) {
    if (cooling && tenant.latest < coord::saturating_add(before->second, interval_)) {
      out.push_back(
          {"S9", fmt::format("worker {} claimed at {} and again at {}", request.worker.raw(),
                             before->second.raw(), request.now.raw())});
    }
    tenant.latest = std::max(tenant.latest, request.now);
    tenant.claimed[request.worker] = request.now;
  } else if (answer.code == "throttled" && !cooling) {
    out.push_back({"S9", fmt::format("worker {} was throttled at {} without reason",
                                     request.worker.raw(), request.now.raw())});
  }
}

}  // namespace cadastre::sim
