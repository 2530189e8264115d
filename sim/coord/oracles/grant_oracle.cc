#include "sim/coord/oracles/grant_oracle.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include <fmt/format.h>

#include "coord/identity.h"
#include "coord/lease.h"
#include "sim/coord/oracles/violation.h"
#include "sim/coord/request.h"
#include "sim/coord/shard_name.h"

namespace cadastre::sim {
namespace {

bool ends_grant(Call call) noexcept {
  return call == Call::kComplete || call == Call::kPark || call == Call::kSplitReplace ||
         call == Call::kRelease;
}

}  // namespace

void GrantOracle::observe(const Request& request, const Answer& answer, Violations& out) {
  if (answer.verdict == Verdict::kGranted) {
    observe_grant(request, answer, out);
  } else if (answer.verdict == Verdict::kRenewed) {
    observe_renewal(request, request.leases.front(), answer.deadline, out);
  } else if (request.call == Call::kRenewMany) {
    for (std::size_t i = 0; i < answer.renewals.size(); ++i) {
      if (!answer.renewals[i].code.empty()) continue;
      observe_renewal(request, request.leases[i], answer.renewals[i].deadline, out);
    }
  } else if (answer.verdict == Verdict::kExecuted && is_lease_gated(request.call)) {
    const coord::Lease& lease = request.leases.front();
    observe_use(request, lease, out);
    const auto at = grants_.find(shard_name(request.tenant, lease.shard_key()));
    if (at != grants_.end() && ends_grant(request.call)) at->second.open = false;
  } else if (answer.verdict == Verdict::kExecuted && request.call == Call::kUnpark) {
    Grant& grant = grants_[shard_name(request.tenant, request.key)];
    if (answer.fence <= grant.fence) {
      out.push_back({"S1", fmt::format("unparked under fence {}, but {} was granted",
                                       answer.fence.raw(), grant.fence.raw())});
    }
    grant = {.fence = answer.fence, .owner = {}, .deadline = {}, .open = false};
  }
}

void GrantOracle::observe_grant(const Request& request, const Answer& answer, Violations& out) {
  const coord::Lease& lease = *answer.lease;
  Grant& grant = grants_[shard_name(request.tenant, lease.shard_key())];
  if (grant.open && request.now < grant.deadline) {
    out.push_back(
        {"S1", fmt::format("shard {:x} granted at {} to worker {}, but worker {} has it until {}",
                           lease.shard().raw(), request.now.raw(), lease.owner().raw(),
                           grant.owner.raw(), grant.deadline.raw())});
  }
  if (lease.fence() <= grant.fence) {
    out.push_back({"S1", fmt::format("shard {:x} granted under fence {} after {}",
                                     lease.shard().raw(), lease.fence().raw(), grant.fence.raw())});
  }
  if (lease.owner() != request.worker || lease.tenant() != request.tenant ||
      lease.deadline() <= request.now) {
    out.push_back({"S1", "a grant is not what was asked for"});
  }
  grant = {lease.fence(), lease.owner(), lease.deadline(), true};
}

void GrantOracle::observe_use(const Request& request,
                              const coord::Lease& lease,
                              Violations& out) const {
  const Grant* const grant = find(shard_name(request.tenant, lease.shard_key()));
  const auto report = [&](std::string_view why) {
    out.push_back({"S1", fmt::format("{} of shard {:x} under fence {} took effect at {}: {}",
                                     name(request.call), lease.shard().raw(), lease.fence().raw(),
                                     request.now.raw(), why)});
  };
  if (grant == nullptr) return report("nobody was granted the shard");
  if (lease.fence() != grant->fence) return report("another fence is in force");
  if (!grant->open) return report("the grant had ended");
  if (request.now >= grant->deadline) return report("the grant had expired");
  if (lease.owner() != grant->owner) return report("somebody else has the grant");
}

void GrantOracle::observe_renewal(const Request& request,
                                  const coord::Lease& lease,
                                  coord::LogicalTime deadline,
                                  Violations& out) {
  observe_use(request, lease, out);
  const auto at = grants_.find(shard_name(request.tenant, lease.shard_key()));
  if (at == grants_.end()) return;
  if (deadline < at->second.deadline || deadline <= request.now) {
    out.push_back({"S1", "a renewal shortened its lease"});
  }
  at->second.deadline = std::max(at->second.deadline, deadline);
}

void GrantOracle::forget(const RunName& run) {
  std::erase_if(grants_, [&](const auto& entry) { return entry.first.run_name() == run; });
}

void GrantOracle::lose(const ShardName& name) {
  const auto at = grants_.find(name);
  if (at != grants_.end()) at->second.open = false;
}

const GrantOracle::Grant* GrantOracle::find(const ShardName& name) const {
  const auto at = grants_.find(name);
  return at == grants_.end() ? nullptr : &at->second;
}

}  // namespace cadastre::sim
