#include "coord/etcd/claim_operations.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/check.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/etcd/core.h"
#include "coord/etcd/list_operations.h"
#include "coord/etcd/shard_operations.h"
#include "coord/etcd/task.h"
#include "coord/identity.h"
#include "coord/snapshot.h"
#include "coord/states.h"

namespace cadastre::coord::etcd {

Task<ClaimError> ClaimOperations::explain_absence(ClaimCall call) {
  auto asking = lists_->get_run(call.tenant, call.run);
  const auto run = co_await asking;
  if (!run) co_return ClaimError(run.error());
  // A run that ended meanwhile may have been collected as well.
  if (run->status != RunStatus::kActive) co_return ClaimError(NoneAvailable{});
  co_return ClaimError(
      corruption("claim_next_available.acquire", "none of the run's free shards has a record"));
}

Task<Result<AcquireResultView, ClaimError>> ClaimOperations::claim(ClaimCall call,
                                                                   AcquireScratch* out) {
  CAD_CHECK(call.now != LogicalTime(), "time 0 is no time");
  if (const auto until = core_->cooldowns().throttled_until(call.tenant, call.worker, call.now)) {
    co_return base::fail(ClaimError(Throttled{*until}));
  }
  auto collecting = lists_->candidates(call.now, call.tenant, call.run);
  const auto candidates = co_await collecting;
  if (!candidates) co_return base::fail(ClaimError(candidates.error()));
  std::optional<LogicalTime> earliest = candidates->earliest_deadline;
  const std::size_t count = candidates->shards.size();
  std::size_t absent = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = (call.worker.raw() % count + i) % count;
    const ShardKey key{call.run, candidates->shards[place]};
    auto acquiring = shards_->acquire(call.now, call.tenant, key, call.worker, out);
    auto acquired = co_await acquiring;
    if (acquired) {
      core_->cooldowns().record(call.tenant, call.worker, call.now);
      co_return *std::move(acquired);
    }
    const AcquireError& error = acquired.error();
    if (const auto* leased = error.get_if<AlreadyLeased>()) {
      earliest = earliest ? std::min(*earliest, leased->deadline()) : leased->deadline();
    } else if (error.is<ShardNotFound>()) {
      ++absent;
    } else if (const auto* foreign = error.get_if<TenantMismatch>()) {
      co_return base::fail(ClaimError(*foreign));
    } else if (const auto* infra = error.get_if<InfraError>()) {
      co_return base::fail(ClaimError(*infra));
    }
  }
  if (count != 0 && absent == count) {
    auto explaining = explain_absence(call);
    ClaimError why = co_await explaining;
    co_return base::fail(std::move(why));
  }
  co_return base::fail(ClaimError(NoneAvailable{earliest}));
}

}  // namespace cadastre::coord::etcd
