#include "sim/coord/worker.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "sim/coord/request.h"
#include "sim/coord/shard_name.h"

namespace cadastre::sim {
namespace {

// Errors after which a worker drops its lease.
bool is_loss(std::string_view code) noexcept {
  return code == "stale_fence" || code == "lease_expired" || code == "shard_terminal" ||
         code == "shard_not_found";
}

}  // namespace

void Worker::lose(const ShardName& name) {
  const auto at = held_.find(name);
  if (at == held_.end()) return;
  superseded_.push_back(std::move(at->second));
  held_.erase(at);
  if (superseded_.size() > kSupersededMax) superseded_.pop_front();
}

void Worker::crash() {
  while (!held_.empty())
    lose(held_.begin()->first);
  unanswered_.reset();
}

void Worker::learn(const Request& request, const Answer& answer) {
  if (request.call == Call::kRenewMany) return learn_renewals(request, answer);
  if (answer.verdict == Verdict::kGranted) return learn_grant(answer);
  if (request.leases.empty()) return;
  if (answer.verdict == Verdict::kRenewed) {
    learn_renewal(request.leases.front(), answer.deadline);
  } else if (answer.accepted()) {
    learn_outcome(request, answer);
  } else {
    learn_refusal(request.leases.front(), answer.code);
  }
}

void Worker::learn_grant(const Answer& answer) {
  const ShardName name{tenant_, answer.lease->run(), answer.lease->shard()};
  lose(name);
  held_.emplace(name, Holding{*answer.lease, answer.start, answer.end, answer.last_key});
}

void Worker::learn_renewals(const Request& request, const Answer& answer) {
  for (std::size_t i = 0; i < answer.renewals.size(); ++i) {
    const auto& renewal = answer.renewals[i];
    if (renewal.code.empty()) {
      learn_renewal(request.leases[i], renewal.deadline);
    } else {
      learn_refusal(request.leases[i], renewal.code);
    }
  }
}

void Worker::learn_renewal(const coord::Lease& lease, coord::LogicalTime deadline) {
  const auto at = held_.find({tenant_, lease.run(), lease.shard()});
  if (at == held_.end() || at->second.lease.fence() != lease.fence()) return;
  at->second.lease = at->second.lease.extended_to(std::max(at->second.lease.deadline(), deadline));
}

void Worker::learn_refusal(const coord::Lease& lease, std::string_view code) {
  const ShardName name{tenant_, lease.run(), lease.shard()};
  const auto at = held_.find(name);
  const bool same = at != held_.end() && at->second.lease.fence() == lease.fence();
  if (same && is_loss(code)) lose(name);
}

void Worker::learn_outcome(const Request& request, const Answer& answer) {
  const coord::Lease& lease = request.leases.front();
  const ShardName name{tenant_, lease.run(), lease.shard()};
  if (request.call == Call::kCheckpoint) checkpoints_[name] = request;
  const auto at = held_.find(name);
  if (at == held_.end() || at->second.lease.fence() != lease.fence()) return;
  switch (request.call) {
    case Call::kCheckpoint:
      if (base::less(at->second.last_key, request.last_key)) at->second.last_key = request.last_key;
      break;
    case Call::kSplitResidual:
      if (answer.verdict == Verdict::kExecuted) at->second.end = request.pieces[0].end;
      break;
    case Call::kComplete:
    case Call::kPark:
    case Call::kRelease:
    case Call::kSplitReplace: lose(name); break;
    case Call::kAcquire:
    case Call::kClaim:
    case Call::kRenew:
    case Call::kRenewMany:
    case Call::kUnpark:
    case Call::kCreateRun:
    case Call::kRegister:
    case Call::kCompleteRun:
    case Call::kFailRun:
    case Call::kCancelRun:
    case Call::kCollectGarbage: break;
  }
}

}  // namespace cadastre::sim
