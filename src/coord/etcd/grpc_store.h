// GrpcStore: a real etcd as Store, through gRPC and the public API of etcd 3.4.
//
// A call goes to one member (grpc_endpoints.h). If nothing was done, or doing it again is harmless, the others
// are asked in turn until the call's time is over; a transaction that may have been carried out is answered
// kOutcomeUnknown and never sent again. While no member answers, calls fail at once with kUnavailable and one
// probe at a time finds out when one is back. With a user, the first call authenticates, and a token that
// etcd no longer takes is replaced.
//
// Reads and transactions are linearizable and ask for a member that has a leader.
//
// Threads: none of ours. Completions run on gRPC's threads, or in the call itself if it is refused there; they
// must not block and must not destroy the store. Any thread may call. The destructor refuses new calls and
// waits for those in flight, which takes no longer than their deadlines.

#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "coord/etcd/etcd_config.h"
#include "coord/etcd/store.h"

namespace cadastre::coord::etcd {

class GrpcClient;

class GrpcStore final : public Store {
 public:
  // Connects when the first call needs it. Borrows the clock.
  [[nodiscard]] static Result<std::unique_ptr<GrpcStore>, EtcdConfigError> open(
      const EtcdConfig& config, const base::Clock& clock);
  ~GrpcStore() override;

  // At least one range.
  void read(std::vector<Range> ranges, StoreDone<std::vector<RangeResult>> done) override;
  void commit(Transaction transaction, StoreDone<TransactionResult> done) override;
  void grant_lease(std::chrono::seconds ttl, StoreDone<LeaseId> done) override;
  void keep_alive(LeaseId lease, StoreDone<std::chrono::seconds> done) override;
  void revoke_lease(LeaseId lease, StoreDone<void> done) override;

 private:
  explicit GrpcStore(std::unique_ptr<GrpcClient> client);

  std::unique_ptr<GrpcClient> client_;
};

}  // namespace cadastre::coord::etcd
