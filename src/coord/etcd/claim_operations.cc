#include "coord/etcd/claim_operations.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/result.h"
#include "coord/errors.h"
#include "coord/etcd/core.h"
#include "coord/etcd/limits.h"
#include "coord/etcd/list_operations.h"
#include "coord/etcd/prospects.h"
#include "coord/etcd/run_memory.h"
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

Task<Result<ClaimOperations::Tried, ClaimError>> ClaimOperations::try_one(ClaimCall call,
                                                                          ShardId shard,
                                                                          AcquireScratch* out) {
  const ShardKey key{call.run, shard};
  auto acquiring =
      shards_->acquire({call.now, call.tenant, key, call.worker, Wanted::kOfActiveRun}, out);
  auto acquired = co_await acquiring;
  if (acquired) {
    core_->cooldowns().record(call.tenant, call.worker, call.now);
    co_return Tried{.acquired = *std::move(acquired)};
  }
  const AcquireError& error = acquired.error();
  if (const auto* foreign = error.get_if<TenantMismatch>())
    co_return base::fail(ClaimError(*foreign));
  if (const auto* infra = error.get_if<InfraError>()) {
    core_->runs().forget({call.tenant, call.run});
    co_return base::fail(ClaimError(*infra));
  }
  Tried tried{.is_absent = error.is<ShardNotFound>()};
  if (const auto* leased = error.get_if<AlreadyLeased>()) {
    tried.deadline = leased->deadline();
    core_->runs().is_held(call.tenant, key, leased->deadline());
  }
  co_return tried;
}

Task<Result<Survey, GetRunError>> ClaimOperations::read_run(ClaimCall call) {
  const RunName run{call.tenant, call.run};
  const RunMemory::Reading reading = core_->runs().begin_reading(run);
  auto surveying = lists_->survey(call.now, call.tenant, call.run);
  auto survey = co_await surveying;
  if (!survey || survey->status != RunStatus::kActive) {
    core_->runs().fail_reading(run, reading);
    co_return survey;
  }
  const ClaimCandidates& candidates = survey->candidates;
  core_->runs().show(run, reading,
                     {.free = candidates.shards,
                      .earliest_deadline = candidates.earliest_deadline,
                      .shards = survey->shards,
                      .now = call.now,
                      .revision = survey->revision},
                     core_->elapsed());
  for (LoadedLease& free : survey->free)
    core_->free_records().put(std::move(free));
  survey->free.clear();
  co_return survey;
}

Task<Result<AcquireResultView, ClaimError>> ClaimOperations::claim_by_reading(ClaimCall call,
                                                                              AcquireScratch* out) {
  auto reading = read_run(call);
  const auto survey = co_await reading;
  if (!survey) co_return base::fail(ClaimError(survey.error()));
  const ClaimCandidates& candidates = survey->candidates;
  std::optional<LogicalTime> earliest = candidates.earliest_deadline;
  const std::size_t count = candidates.shards.size();
  std::size_t absent = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const ShardId shard = candidates.shards[(call.worker.raw() % count + i) % count];
    core_->runs().is_over(call.tenant, {call.run, shard});  // until it is known what becomes of it
    auto trying = try_one(call, shard, out);
    auto tried = co_await trying;
    if (!tried) co_return base::fail(tried.error());
    if (tried->acquired) co_return *std::move(tried->acquired);
    if (tried->is_absent) ++absent;
    if (tried->deadline)
      earliest = earliest ? std::min(*earliest, *tried->deadline) : tried->deadline;
  }
  if (count != 0 && absent == count) {
    auto explaining = explain_absence(call);
    ClaimError why = co_await explaining;
    co_return base::fail(std::move(why));
  }
  co_return base::fail(ClaimError(NoneAvailable{earliest}));
}

Task<Result<AcquireResultView, ClaimError>> ClaimOperations::claim(ClaimCall call,
                                                                   AcquireScratch* out) {
  CAD_CHECK(call.now != LogicalTime(), "time 0 is no time");
  if (const auto until = core_->cooldowns().throttled_until(call.tenant, call.worker, call.now)) {
    co_return base::fail(ClaimError(Throttled{*until}));
  }
  const RunName run{call.tenant, call.run};
  for (std::size_t i = 0; i < kProspectTriesMax; ++i) {
    const auto at = core_->elapsed();
    if (core_->runs().wants_reading(run, at)) break;
    const auto shard = core_->runs().take(run, {call.worker, call.now}, at);
    if (!shard) break;
    auto trying = try_one(call, *shard, out);
    auto tried = co_await trying;
    if (!tried) co_return base::fail(tried.error());
    if (tried->acquired) co_return *std::move(tried->acquired);
  }
  auto reading = claim_by_reading(call, out);
  auto claimed = co_await reading;
  co_return claimed;
}

}  // namespace cadastre::coord::etcd
