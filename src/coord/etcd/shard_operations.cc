#include "coord/etcd/shard_operations.h"

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/decide_shard.h"
#include "coord/errors.h"
#include "coord/etcd/core.h"
#include "coord/etcd/keyspace.h"
#include "coord/etcd/owned_arguments.h"
#include "coord/etcd/records.h"
#include "coord/etcd/shapes.h"
#include "coord/etcd/store.h"
#include "coord/etcd/task.h"
#include "coord/identity.h"
#include "coord/lease_rules.h"
#include "coord/outcome.h"
#include "coord/record_codec.h"
#include "coord/shard_change.h"
#include "coord/shard_record.h"
#include "coord/snapshot.h"
#include "coord/states.h"

namespace cadastre::coord::etcd {
namespace {

// ---- What is done under a lease ------------------------------------------------------------------

struct Renewal {
  using Error = RenewError;
  static constexpr const char* kLoad = "renew.load_shard";
  static constexpr const char* kCommit = "renew.txn";
  static constexpr Leaves kLeaves = Leaves::kHeld;
  static constexpr bool kRenews = true;  // and says how much is left

  [[nodiscard]] Result<Decision, Error> decide(const ShardRecordView& record,
                                               const LeasedRequest& request,
                                               std::uint64_t lease_duration) const {
    return Decision(CAD_TRY(decide_renew(record.state, request, lease_duration)));
  }
};

struct Checkpoint {
  using Error = CheckpointError;
  static constexpr const char* kLoad = "checkpoint.load_shard";
  static constexpr const char* kCommit = "checkpoint.txn";
  static constexpr Leaves kLeaves = Leaves::kHeld;
  static constexpr bool kRenews = false;
  OwnedCursor cursor;
  OpId op;

  [[nodiscard]] Result<Decision, Error> decide(const ShardRecordView& record,
                                               const LeasedRequest& request,
                                               std::uint64_t /*lease_duration*/) const {
    return CAD_TRY(decide_checkpoint(record, request, cursor.view(), op));
  }
};

struct Completion {
  using Error = CompleteError;
  static constexpr const char* kLoad = "complete.load_shard";
  static constexpr const char* kCommit = "complete.txn";
  static constexpr Leaves kLeaves = Leaves::kEnded;
  static constexpr bool kRenews = false;
  OwnedCursor cursor;
  OpId op;

  [[nodiscard]] Result<Decision, Error> decide(const ShardRecordView& record,
                                               const LeasedRequest& request,
                                               std::uint64_t /*lease_duration*/) const {
    return CAD_TRY(decide_complete(record, request, cursor.view(), op));
  }
};

struct Parking {
  using Error = ParkError;
  static constexpr const char* kLoad = "park_shard.load_shard";
  static constexpr const char* kCommit = "park_shard.txn";
  static constexpr Leaves kLeaves = Leaves::kEnded;
  static constexpr bool kRenews = false;
  ParkReason reason = ParkReason::kOther;
  OpId op;

  [[nodiscard]] Result<Decision, Error> decide(const ShardRecordView& record,
                                               const LeasedRequest& request,
                                               std::uint64_t /*lease_duration*/) const {
    return CAD_TRY(decide_park(record.state, request, reason, op));
  }
};

struct Release {
  using Error = ReleaseError;
  static constexpr const char* kLoad = "release_shard.load_shard";
  static constexpr const char* kCommit = "release_shard.txn";
  static constexpr Leaves kLeaves = Leaves::kFree;
  static constexpr bool kRenews = false;
  OwnedCursor cursor;
  OpId op;

  [[nodiscard]] Result<Decision, Error> decide(const ShardRecordView& record,
                                               const LeasedRequest& request,
                                               std::uint64_t /*lease_duration*/) const {
    return CAD_TRY(decide_release(record, request, cursor.view(), op));
  }
};

}  // namespace

template <class Deed>
Transaction ShardOperations::transaction_of(const LoadedLease& loaded,
                                            const ShardDump& after,
                                            bool is_remembered) const {
  Transaction transaction = core_->shapes().leased(loaded.shard, after, Deed::kLeaves);
  const ShardState& state = after.state;
  if (Deed::kRenews) core_->ask_hint(transaction, state.tenant, state.run);
  if (is_remembered) {
    for (Range& range : core_->lease_ranges(state.tenant, state.key()))
      transaction.failure.emplace_back(std::move(range));
  }
  return transaction;
}

template <class Deed>
void ShardOperations::settle_lease(LoadedLease loaded, ShardDump after, Revision at) {
  const LeaseId lease = loaded.shard.owner->lease;
  const TenantId& tenant = after.state.tenant;
  const ShardKey key = after.state.key();
  if (Deed::kLeaves == Leaves::kFree) core_->runs().is_free(tenant, key);
  if (Deed::kLeaves == Leaves::kEnded) core_->runs().is_over(tenant, key);
  if (Deed::kLeaves != Leaves::kHeld) {
    core_->cache().forget(tenant, key);
    core_->retire(lease, loaded.leased_since);
    if (Deed::kLeaves == Leaves::kFree)
      core_->free_records().put({{std::move(after), at, std::nullopt}, loaded.run});
    return;
  }
  if (Deed::kRenews) {
    core_->runs().is_held(tenant, key, after.state.lease->deadline);
    core_->keep_alive(lease);
  }
  loaded.shard.record = std::move(after);
  loaded.shard.revision = at;
  core_->cache().put(std::move(loaded));
}

template <class Deed>
Task<Result<ShardOperations::Performed, typename Deed::Error>> ShardOperations::perform(
    Deed deed, LeasedCall call) {
  using Error = typename Deed::Error;
  const ShardKey key = call.lease.shard_key();
  const LeasedRequest request{call.now, call.tenant, call.lease};
  std::optional<LoadedLease> loaded = core_->cache().take(call.tenant, call.lease);
  bool is_remembered = loaded.has_value();
  std::uint32_t attempt = 0;
  while (true) {
    if (!loaded) {
      auto loading = core_->load_lease(call.tenant, key, Deed::kLoad);
      auto found = co_await loading;
      if (!found) co_return base::fail(Error(found.error()));
      if (!*found) co_return base::fail(Error(ShardNotFound{key}));
      loaded = **std::move(found);
    }
    settle(loaded->shard, call.now);
    base::Bytes spawned;
    const auto decision =
        deed.decide(view_of(loaded->shard.record, spawned), request, loaded->run.lease_duration);
    if (!decision || !*decision) {
      if (std::exchange(is_remembered, false)) {
        loaded.reset();
        continue;
      }
      if (!decision) co_return base::fail(decision.error());
      co_return Performed{};
    }
    if (attempt > core_->options().retries) co_return base::fail(Error(exhausted(Deed::kCommit)));

    ShardDump after = changed(loaded->shard.record, **decision);
    auto committing =
        core_->commit(transaction_of<Deed>(*loaded, after, is_remembered), Deed::kCommit);
    auto committed = co_await committing;
    if (!committed) {
      core_->runs().forget({call.tenant, key.run});
      co_return base::fail(Error(committed.error()));
    }
    if (committed->succeeded) {
      Performed performed{.outcome = Outcome::kExecuted, .ranges = std::move(committed->ranges)};
      if (after.state.lease) performed.deadline = after.state.lease->deadline;
      settle_lease<Deed>(*std::move(loaded), std::move(after), committed->at);
      co_return performed;
    }
    loaded.reset();
    if (std::exchange(is_remembered, false) && committed->ranges.size() == 2) {
      auto found = load_lease(committed->ranges, call.tenant, key, Deed::kLoad);
      if (!found) co_return base::fail(Error(found.error()));
      if (!*found) co_return base::fail(Error(ShardNotFound{key}));
      loaded = **std::move(found);
      ++attempt;
      continue;
    }
    if (!core_->is_last(attempt)) {
      auto waiting = core_->wait(attempt);
      (void)co_await waiting;
    }
    ++attempt;
  }
}

Task<Result<RenewResult, RenewError>> ShardOperations::renew(LeasedCall call) {
  auto performing = perform(Renewal{}, call);
  const auto performed = co_await performing;
  if (!performed) co_return base::fail(performed.error());
  CAD_CHECK(performed->deadline.has_value(), "a renewal is never a replay, and leaves the lease");
  co_return RenewResult{*performed->deadline,
                        core_->hint(performed->ranges, call.tenant, call.lease.run(), call.now)};
}

Task<Result<IdempotentOutcome<Unit>, CheckpointError>> ShardOperations::checkpoint(
    LeasedCall call, OwnedCursor cursor, OpId op) {
  auto performing = perform(Checkpoint{std::move(cursor), op}, call);
  const auto performed = co_await performing;
  if (!performed) co_return base::fail(performed.error());
  co_return IdempotentOutcome<Unit>(performed->outcome, {});
}

Task<Result<IdempotentOutcome<Unit>, CompleteError>> ShardOperations::complete(LeasedCall call,
                                                                               OwnedCursor cursor,
                                                                               OpId op) {
  auto performing = perform(Completion{std::move(cursor), op}, call);
  const auto performed = co_await performing;
  if (!performed) co_return base::fail(performed.error());
  co_return IdempotentOutcome<Unit>(performed->outcome, {});
}

Task<Result<IdempotentOutcome<Unit>, ParkError>> ShardOperations::park(LeasedCall call,
                                                                       ParkReason reason,
                                                                       OpId op) {
  auto performing = perform(Parking{reason, op}, call);
  const auto performed = co_await performing;
  if (!performed) co_return base::fail(performed.error());
  co_return IdempotentOutcome<Unit>(performed->outcome, {});
}

Task<Result<IdempotentOutcome<Unit>, ReleaseError>> ShardOperations::release(LeasedCall call,
                                                                             OwnedCursor cursor,
                                                                             OpId op) {
  auto performing = perform(Release{std::move(cursor), op}, call);
  const auto performed = co_await performing;
  if (!performed) co_return base::fail(performed.error());
  co_return IdempotentOutcome<Unit>(performed->outcome, {});
}

AcquireResultView ShardOperations::hand_over(LoadedLease held,
                                             const Grant& grant,
                                             const std::vector<RangeResult>& found,
                                             AcquireScratch* out) {
  const ShardState& state = held.shard.record.state;
  core_->runs().is_held(state.tenant, state.key(), grant.lease.deadline());
  base::Bytes spawned;
  const AcquireResultView result{grant.lease, out->fill(view_of(held.shard.record, spawned)),
                                 core_->hint(found, state.tenant, state.run, grant.now)};
  core_->cache().put(std::move(held));
  return result;
}

Transaction ShardOperations::acquisition(const LoadedLease& held,
                                         const ShardDump& after,
                                         LeaseId lease,
                                         bool is_remembered) {
  Transaction transaction = core_->shapes().acquire(held.shard, after, lease);
  const ShardState& state = after.state;
  core_->ask_hint(transaction, state.tenant, state.run);
  if (is_remembered) {
    transaction.compares.push_back(core_->shapes().same_run(state, held.run.revision));
    for (Range& range : core_->lease_ranges(state.tenant, state.key()))
      transaction.failure.emplace_back(std::move(range));
  }
  return transaction;
}

Task<Result<std::optional<AcquireResultView>, AcquireError>> ShardOperations::take_over(
    AcquireCall call, Candidate* candidate, Core::Grant which, AcquireScratch* out) {
  auto granting = core_->grant(which, "acquire.grant");
  const auto lease = co_await granting;
  if (!lease) co_return base::fail(AcquireError(lease.error()));
  LoadedLease& held = *candidate->loaded;
  ShardDump after = changed(held.shard.record, candidate->decision->change);
  auto committing =
      core_->commit(acquisition(held, after, lease->id, candidate->is_remembered), "acquire.txn");
  auto committed = co_await committing;
  if (!committed || !committed->succeeded) core_->revoke(lease->id);
  if (!committed) {
    core_->runs().forget({call.tenant, call.key.run});
    co_return base::fail(AcquireError(committed.error()));
  }
  if (!committed->succeeded) {
    candidate->loaded.reset();
    candidate->found = std::move(committed->ranges);
    co_return std::optional<AcquireResultView>();
  }
  if (held.shard.owner) core_->revoke(held.shard.owner->lease);
  const LoadedOwner owner{{call.worker, after.state.fence}, lease->id};
  co_return hand_over({{std::move(after), committed->at, owner}, held.run, lease->since},
                      {candidate->decision->lease, call.now}, committed->ranges, out);
}

Task<Result<void, AcquireError>> ShardOperations::load_candidate(AcquireCall call,
                                                                 Candidate* candidate) {
  // A failed transaction has brought what there is.
  Result<std::optional<LoadedLease>, InfraError> loaded = std::nullopt;
  if (std::exchange(candidate->is_remembered, false) && candidate->found.size() == 2) {
    loaded = load_lease(candidate->found, call.tenant, call.key, "acquire.load_shard");
  } else {
    auto loading = core_->load_lease(call.tenant, call.key, "acquire.load_shard");
    loaded = co_await loading;
  }
  if (!loaded) co_return base::fail(AcquireError(loaded.error()));
  if (!*loaded) co_return base::fail(AcquireError(ShardNotFound{call.key}));
  candidate->loaded = **std::move(loaded);
  co_return Result<void, AcquireError>();
}

Result<void, AcquireError> ShardOperations::decide(const AcquireCall& call, Candidate& candidate) {
  LoadedLease& held = *candidate.loaded;
  if (call.wanted == Wanted::kOfActiveRun && held.run.status != RunStatus::kActive)
    return base::fail(AcquireError(ShardNotFound{call.key}));
  settle(held.shard, call.now);
  candidate.decision = CAD_TRY(decide_acquire(
      held.shard.record.state, {call.now, call.tenant, call.worker}, held.run.lease_duration));
  return {};
}

Task<Result<AcquireResultView, AcquireError>> ShardOperations::acquire(AcquireCall call,
                                                                       AcquireScratch* out) {
  Candidate candidate;
  if (call.wanted == Wanted::kOfActiveRun)
    candidate.loaded = core_->free_records().take(call.tenant, call.key);
  candidate.is_remembered = candidate.loaded.has_value();
  for (std::uint32_t attempt = 0;; ++attempt) {
    if (!candidate.loaded) {
      auto loading = load_candidate(call, &candidate);
      const auto loaded = co_await loading;
      if (!loaded) co_return base::fail(loaded.error());
    }
    auto decided = decide(call, candidate);
    if (!decided && candidate.is_remembered) {
      candidate.loaded.reset();
      auto loading = load_candidate(call, &candidate);
      const auto loaded = co_await loading;
      if (!loaded) co_return base::fail(loaded.error());
      decided = decide(call, candidate);
    }
    if (!decided) co_return base::fail(decided.error());
    if (attempt > core_->options().retries)
      co_return base::fail(AcquireError(exhausted("acquire.txn")));
    auto taking = take_over(call, &candidate,
                            attempt == 0 ? Core::Grant::kSpareOrNew : Core::Grant::kNew, out);
    auto taken = co_await taking;
    if (!taken) co_return base::fail(taken.error());
    if (*taken) co_return **std::move(taken);
    if (!candidate.is_remembered && !core_->is_last(attempt)) {
      auto waiting = core_->wait(attempt);
      (void)co_await waiting;
    }
  }
}

Task<Result<IdempotentOutcome<FenceEpoch>, UnparkError>> ShardOperations::unpark(LogicalTime now,
                                                                                 TenantId tenant,
                                                                                 ShardKey key,
                                                                                 OpId op) {
  for (std::uint32_t attempt = 0;; ++attempt) {
    auto reading = core_->read(core_->lease_ranges(tenant, key), "unpark_shard.load_shard");
    const Core::Found found = co_await reading;
    if (!found) co_return base::fail(UnparkError(found.error()));
    auto loaded = load_lease(*found, tenant, key, "unpark_shard.load_shard");
    if (!loaded) co_return base::fail(UnparkError(loaded.error()));
    if (!*loaded) co_return base::fail(UnparkError(ShardNotFound{key}));
    const auto run = load_run(found->at(1), tenant, key.run, "unpark_shard.load_run");
    if (!run) co_return base::fail(UnparkError(run.error()));
    const LoadedShard& shard = (*loaded)->shard;
    const auto decision =
        decide_unpark(shard.record.state, (*run)->record.status, {now, tenant, op});
    if (!decision) co_return base::fail(UnparkError(decision.error()));
    if (!*decision) co_return IdempotentOutcome<FenceEpoch>::replayed(shard.record.state.fence);
    if (attempt > core_->options().retries) {
      co_return base::fail(UnparkError(exhausted("unpark_shard.txn")));
    }
    const ShardDump after = changed(shard.record, **decision);
    auto committing =
        core_->commit(core_->shapes().unpark(shard, after, **run), "unpark_shard.txn");
    const auto committed = co_await committing;
    if (!committed) {
      core_->runs().forget({tenant, key.run});
      co_return base::fail(UnparkError(committed.error()));
    }
    if (committed->succeeded) {
      core_->runs().is_free(tenant, key);
      co_return IdempotentOutcome<FenceEpoch>::executed(after.state.fence);
    }
    if (!core_->is_last(attempt)) {
      auto waiting = core_->wait(attempt);
      (void)co_await waiting;
    }
  }
}

}  // namespace cadastre::coord::etcd
