// Operations on one shard: load, decide by the shared rules, one transaction; again if another came first.
//
// A checkpoint or renewal of a lease whose record is remembered goes to the transaction at once: one round
// trip. If its compares fail, the answer brings record and owner, and the operation decides anew on those.
// A refusal is never given on a remembered record: it is read first.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/attributes.h"
#include "base/result.h"
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

class ShardOperations {
 public:
  // Borrows the core.
  explicit ShardOperations(Core& core CAD_LIFETIMEBOUND) noexcept : core_(&core) {}

  [[nodiscard]] Task<Result<AcquireResultView, AcquireError>> acquire(
      LogicalTime now, TenantId tenant, ShardKey key, WorkerId worker, AcquireScratch* out);
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
    ShardDump record;                 // afterwards
    std::vector<RangeResult> ranges;  // what the transaction was asked for beyond its writes
  };
  template <class Deed>
  [[nodiscard]] Task<Result<Performed, typename Deed::Error>> perform(Deed deed, LeasedCall call);
  template <class Deed>
  [[nodiscard]] Transaction transaction_of(const LoadedLease& loaded,
                                           const ShardDump& after,
                                           bool is_remembered) const;
  template <class Deed>
  void settle_lease(LoadedLease loaded, ShardDump after, Revision at);

  [[nodiscard]] Task<Result<std::optional<LoadedLease>, InfraError>> load(TenantId tenant,
                                                                          ShardKey key,
                                                                          const char* operation);

  Core* core_;
};

}  // namespace cadastre::coord::etcd
