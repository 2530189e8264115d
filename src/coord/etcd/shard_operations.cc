#include "coord/etcd/shard_operations.h"

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
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

// What happens to the lease in etcd once the transaction has succeeded.
enum class Afterwards : std::uint8_t {
  kNothing,
  kKeepAlive,
  kRevoke,
};

// ---- What is done under a lease ------------------------------------------------------------------

struct Renewal {
  using Error = RenewError;
  static constexpr const char* kLoad = "renew.load_shard";
  static constexpr const char* kCommit = "renew.txn";
  static constexpr Leaves kLeaves = Leaves::kHeld;
  static constexpr Afterwards kAfterwards = Afterwards::kKeepAlive;
  static constexpr bool kWantsHint = true;

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
  static constexpr Afterwards kAfterwards = Afterwards::kNothing;
  static constexpr bool kWantsHint = false;
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
  static constexpr Afterwards kAfterwards = Afterwards::kRevoke;
  static constexpr bool kWantsHint = false;
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
  static constexpr Afterwards kAfterwards = Afterwards::kRevoke;
  static constexpr bool kWantsHint = false;
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
  static constexpr Afterwards kAfterwards = Afterwards::kRevoke;
  static constexpr bool kWantsHint = false;
  OwnedCursor cursor;
  OpId op;

  [[nodiscard]] Result<Decision, Error> decide(const ShardRecordView& record,
                                               const LeasedRequest& request,
                                               std::uint64_t /*lease_duration*/) const {
    return CAD_TRY(decide_release(record, request, cursor.view(), op));
  }
};

}  // namespace

Task<Result<std::optional<LoadedLease>, InfraError>> ShardOperations::load(TenantId tenant,
                                                                           ShardKey key,
                                                                           const char* operation) {
  auto reading = core_->read(core_->lease_ranges(tenant, key), operation);
  const Core::Found found = co_await reading;
  if (!found) co_return base::fail(found.error());
  co_return load_lease(*found, tenant, key, operation);
}

template <class Deed>
Transaction ShardOperations::transaction_of(const LoadedLease& loaded,
                                            const ShardDump& after,
                                            bool is_remembered) const {
  Transaction transaction = core_->shapes().leased(loaded.shard, after, Deed::kLeaves);
  const ShardState& state = after.state;
  if (Deed::kWantsHint) core_->ask_hint(transaction, state.tenant, state.run);
  if (is_remembered) {
    for (Range& range : core_->lease_ranges(state.tenant, state.key()))
      transaction.failure.emplace_back(std::move(range));
  }
  return transaction;
}

template <class Deed>
void ShardOperations::settle_lease(LoadedLease loaded, ShardDump after, Revision at) {
  const LeaseId lease = loaded.shard.owner->lease;
  if (Deed::kAfterwards == Afterwards::kKeepAlive) core_->keep_alive(lease);
  if (Deed::kAfterwards == Afterwards::kRevoke) {
    core_->cache().forget(after.state.tenant, after.state.key());
    core_->revoke(lease);
    return;
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
  std::optional<LoadedLease> loaded;
  if (Deed::kLeaves == Leaves::kHeld) loaded = core_->cache().take(call.tenant, call.lease);
  bool is_remembered = loaded.has_value();
  std::uint32_t attempt = 0;
  while (true) {
    if (!loaded) {
      auto loading = load(call.tenant, key, Deed::kLoad);
      auto found = co_await loading;
      if (!found) co_return base::fail(Error(found.error()));
      if (!*found) co_return base::fail(Error(ShardNotFound{key}));
      loaded = **std::move(found);
    }
    settle(loaded->shard, call.now);
    base::Bytes spawned;
    const auto decision =
        deed.decide(view_of(loaded->shard.record, spawned), request, loaded->lease_duration);
    if (!decision || !*decision) {
      if (std::exchange(is_remembered, false)) {
        loaded.reset();
        continue;
      }
      if (!decision) co_return base::fail(decision.error());
      co_return Performed{Outcome::kReplayed, std::move(loaded->shard.record), {}};
    }
    if (attempt > core_->options().retries) co_return base::fail(Error(exhausted(Deed::kCommit)));

    ShardDump after = changed(loaded->shard.record, **decision);
    auto committing =
        core_->commit(transaction_of<Deed>(*loaded, after, is_remembered), Deed::kCommit);
    auto committed = co_await committing;
    if (!committed) co_return base::fail(Error(committed.error()));
    if (committed->succeeded) {
      Performed performed{Outcome::kExecuted, after, std::move(committed->ranges)};
      settle_lease<Deed>(*std::move(loaded), std::move(after), committed->at);
      co_return performed;
    }
    loaded.reset();
    if (std::exchange(is_remembered, false) && committed->ranges.size() == 2) {
      auto found = load_lease(committed->ranges, call.tenant, key, Deed::kLoad);
      if (!found) co_return base::fail(Error(found.error()));
      if (!*found) co_return base::fail(Error(ShardNotFound{key}));
      loaded = **std::move(found);
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
  const ShardState& state = performed->record.state;
  co_return RenewResult{state.lease->deadline,
                        core_->hint(performed->ranges, state.tenant, state.run, call.now)};
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

Task<Result<AcquireResultView, AcquireError>> ShardOperations::acquire(
    LogicalTime now, TenantId tenant, ShardKey key, WorkerId worker, AcquireScratch* out) {
  const AcquireRequest request{now, tenant, worker};
  for (std::uint32_t attempt = 0;; ++attempt) {
    auto loading = load(tenant, key, "acquire.load_shard");
    auto loaded = co_await loading;
    if (!loaded) co_return base::fail(AcquireError(loaded.error()));
    if (!*loaded) co_return base::fail(AcquireError(ShardNotFound{key}));
    LoadedShard& shard = (*loaded)->shard;
    settle(shard, now);
    const auto decision = decide_acquire(shard.record.state, request, (*loaded)->lease_duration);
    if (!decision) co_return base::fail(AcquireError(decision.error()));
    if (attempt > core_->options().retries) {
      co_return base::fail(AcquireError(exhausted("acquire.txn")));
    }

    auto granting = core_->grant("acquire.grant");
    const auto lease = co_await granting;
    if (!lease) co_return base::fail(AcquireError(lease.error()));
    ShardDump after = changed(shard.record, decision->change);
    Transaction transaction = core_->shapes().acquire(shard, after, *lease);
    core_->ask_hint(transaction, tenant, key.run);
    auto committing = core_->commit(std::move(transaction), "acquire.txn");
    const auto committed = co_await committing;
    if (!committed || !committed->succeeded) core_->revoke(*lease);
    if (!committed) co_return base::fail(AcquireError(committed.error()));
    if (committed->succeeded) {
      if (shard.owner) core_->revoke(shard.owner->lease);
      base::Bytes spawned;
      const AcquireResultView result{decision->lease, out->fill(view_of(after, spawned)),
                                     core_->hint(committed->ranges, tenant, key.run, now)};
      shard.record = std::move(after);
      shard.revision = committed->at;
      shard.owner = LoadedOwner{{worker, shard.record.state.fence}, *lease};
      core_->cache().put(**std::move(loaded));
      co_return result;
    }
    if (!core_->is_last(attempt)) {
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
    if (!committed) co_return base::fail(UnparkError(committed.error()));
    if (committed->succeeded) {
      co_return IdempotentOutcome<FenceEpoch>::executed(after.state.fence);
    }
    if (!core_->is_last(attempt)) {
      auto waiting = core_->wait(attempt);
      (void)co_await waiting;
    }
  }
}

}  // namespace cadastre::coord::etcd
