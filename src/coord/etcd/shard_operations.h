// Operations on one shard: load, decide by the shared rules, one transaction; again if another came first.
//
// An operation under a lease whose record is remembered goes to the transaction at once: one round trip. If its
// compares fail, the answer brings record and owner, and the operation decides anew on those. A refusal is never
// given on a remembered record: it is read first.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/attributes.h"
#include "base/result.h"
#include "coord/decide_shard.h"
#include "coord/errors.h"
#include "coord/etcd/core.h"
#include "coord/etcd/owned_arguments.h"
#include "coord/etcd/records.h"
#include "coord/etcd/store.h"
#include "coord/etcd/task.h"
#include "coord/identity.h"
#include "coord/outcome.h"
#include "coord/snapshot.h"
#include "coord/states.h"

namespace cadastre::coord::etcd {

// By its name, or as whatever is free in an Active run: to a claim, the shards of another run are not there (D-8).
enum class Wanted : std::uint8_t {
  kByName,
  kOfActiveRun,
};
struct AcquireCall {
  LogicalTime now;
  TenantId tenant;
  ShardKey key;
  WorkerId worker;
  Wanted wanted = Wanted::kByName;
};

class ShardOperations {
 public:
  // Borrows the core.
  explicit ShardOperations(Core& core CAD_LIFETIMEBOUND) noexcept : core_(&core) {}

  [[nodiscard]] Task<Result<AcquireResultView, AcquireError>> acquire(AcquireCall call,
                                                                      AcquireScratch* out);
  [[nodiscard]] Task<Result<RenewResult, RenewError>> renew(LeasedCall call);
  [[nodiscard]] Task<Result<IdempotentOutcome<Unit>, CheckpointError>> checkpoint(
      LeasedCall call, OwnedCursor cursor, OpId op);
  [[nodiscard]] Task<Result<IdempotentOutcome<Unit>, CompleteError>> complete(LeasedCall call,
                                                                              OwnedCursor cursor,
                                                                              OpId op);
  [[nodiscard]] Task<Result<IdempotentOutcome<Unit>, ParkError>> park(LeasedCall call,
                                                                      ParkReason reason,
                                                                      OpId op);
  [[nodiscard]] Task<Result<IdempotentOutcome<Unit>, ReleaseError>> release(LeasedCall call,
                                                                            OwnedCursor cursor,
                                                                            OpId op);
  [[nodiscard]] Task<Result<IdempotentOutcome<FenceEpoch>, UnparkError>> unpark(LogicalTime now,
                                                                                TenantId tenant,
                                                                                ShardKey key,
                                                                                OpId op);

 private:
  // What an operation under a lease came to.
  struct Performed {
    Outcome outcome = Outcome::kReplayed;
    std::optional<LogicalTime> deadline = std::nullopt;  // of the lease, if it is still held
    std::vector<RangeResult> ranges = {};  // what the transaction was asked for beyond its writes
  };
  template <class Deed>
  [[nodiscard]] Task<Result<Performed, typename Deed::Error>> perform(Deed deed, LeasedCall call);
  template <class Deed>
  [[nodiscard]] Transaction transaction_of(const LoadedLease& loaded,
                                           const ShardDump& after,
                                           bool is_remembered) const;
  template <class Deed>
  void settle_lease(LoadedLease loaded, ShardDump after, Revision at);
  // A shard on its way to a worker.
  struct Candidate {
    std::optional<LoadedLease> loaded = std::nullopt;
    std::optional<AcquireDecision> decision = std::nullopt;  // on what is loaded
    bool is_remembered = false;                              // what is loaded was not read for this
    std::vector<RangeResult> found = {};                     // by the transaction that failed
  };
  [[nodiscard]] Task<Result<void, AcquireError>> load_candidate(AcquireCall call,
                                                                Candidate* candidate);
  [[nodiscard]] static Result<void, AcquireError> decide(const AcquireCall& call,
                                                         Candidate& candidate);
  [[nodiscard]] Transaction acquisition(const LoadedLease& held,
                                        const ShardDump& after,
                                        LeaseId lease,
                                        bool is_remembered);
  // Nothing if another came first.
  [[nodiscard]] Task<Result<std::optional<AcquireResultView>, AcquireError>> take_over(
      AcquireCall call, Candidate* candidate, Core::Grant which, AcquireScratch* out);
  // The shard is the worker's: what is remembered, and what it is told.
  struct Grant {
    Lease lease;
    LogicalTime now;
  };
  [[nodiscard]] AcquireResultView hand_over(LoadedLease held,
                                            const Grant& grant,
                                            const std::vector<RangeResult>& found,
                                            AcquireScratch* out);

  Core* core_;
};

}  // namespace cadastre::coord::etcd
