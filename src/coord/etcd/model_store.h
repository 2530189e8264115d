// ModelStore: an etcd in this process, as far as coordination uses one. For simulation and tests.
//
// An ordered map, one revision for the whole store, versions, leases that end at granted + ttl by the
// clock given, transactions that are evaluated and carried out as one. What a real etcd refuses is
// refused here: too many operations, too many bytes, one key written twice, a lease that is gone.
//
// A range may be read as it was: the last kModelChangesMax changes can be undone, until they are compacted.
//
// Each call asks `faults`, if there is one, what goes wrong. Calls are carried out at once, or wait until
// they are delivered in an order that a test chooses, so that several coordinators race as it says.
//
// One thread.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/attributes.h"
#include "base/clock.h"
#include "base/result.h"
#include "coord/etcd/limits.h"
#include "coord/etcd/store.h"

namespace cadastre::coord::etcd {

enum class Rpc : std::uint8_t {
  kRead,
  kCommit,
  kGrant,
  kKeepAlive,
  kRevoke,
};

enum class Fault : std::uint8_t {
  kNone,
  kUnavailable,  // nothing happens, and the caller is told
  kLostRequest,  // nothing happens, and the caller cannot know
  kLostAnswer,   // it happens, and the caller cannot know
  kCompareMiss,  // a transaction's compares fail, whatever they say; else as kNone
};

enum class ModelDelivery : std::uint8_t {
  kAtOnce,
  kWhenTold,  // by deliver()
};

struct ModelOptions {
  std::size_t txn_ops_max = kTxnOpsDefault;
  std::size_t request_bytes_max = std::size_t{3} << 19;  // etcd's --max-request-bytes
  ModelDelivery delivery = ModelDelivery::kAtOnce;
};

inline constexpr std::size_t kModelChangesMax = 4'096;

class ModelStore final : public Store {
 public:
  // Borrows the clock.
  explicit ModelStore(const base::Clock& clock CAD_LIFETIMEBOUND, const ModelOptions& options = {})
      : clock_(&clock), options_(options) {}

  void read(std::vector<Range> ranges, StoreDone<std::vector<RangeResult>> done) override;
  void commit(Transaction transaction, StoreDone<TransactionResult> done) override;
  void grant_lease(std::chrono::seconds ttl, StoreDone<LeaseId> done) override;
  void keep_alive(LeaseId lease, StoreDone<std::chrono::seconds> done) override;
  void revoke_lease(LeaseId lease, StoreDone<void> done) override;

  using Faults = std::move_only_function<Fault(Rpc)>;
  void set_faults(Faults faults) { faults_ = std::move(faults); }

  // Calls that wait, and one of them carried out. In deliver(), `which` is below pending().
  [[nodiscard]] std::size_t pending() const noexcept { return waiting_.size(); }
  void deliver(std::size_t which);

  // Forgets what was there before.
  void compact();

  // Ends a lease as if its time had run out.
  void expire(LeaseId lease);
  [[nodiscard]] std::vector<LeaseId> leases() const;
  // Everything that is there, without asking for faults.
  [[nodiscard]] std::vector<KeyValue> dump();
  // Writes past every rule, for tests that need a damaged store.
  void force(const Put& put) { write(put, next_revision()); }
  void force(const Delete& gone) {
    (void)next_revision();
    erase(gone);
  }

  struct Counters {
    std::uint64_t reads = 0;
    std::uint64_t commits = 0;
    std::uint64_t lost_races = 0;  // compares that failed
    std::uint64_t faults = 0;
  };
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }
  // The last transaction that was carried out.
  [[nodiscard]] const Transaction& last_transaction() const noexcept CAD_LIFETIMEBOUND {
    return last_;
  }

 private:
  struct Cell {
    std::string value;
    Revision modified = {};
    std::int64_t version = 0;
    LeaseId lease = {};
  };
  struct LeaseState {
    std::chrono::seconds ttl{};
    base::Elapsed ends{};
    std::set<std::string> keys;
  };
  using Cells = std::map<std::string, Cell, std::less<>>;

  [[nodiscard]] Revision next_revision() noexcept {
    return revision_ = Revision(revision_.value() + 1);
  }
  [[nodiscard]] Fault draw(Rpc rpc);
  // Runs now or is put with the others that wait.
  void take_in(std::move_only_function<void()> call);
  void expire_leases();
  // A change that can be undone: what was there before.
  struct Change {
    Revision revision;
    std::string key;
    std::optional<Cell> before;
  };
  void note(const std::string& key);
  [[nodiscard]] Cells as_it_was(Revision revision) const;
  [[nodiscard]] Result<RangeResult, StoreError> scan(const Range& range) const;
  [[nodiscard]] RangeResult scan(const Range& range, const Cells& cells) const;
  [[nodiscard]] bool holds(const Compare& compare) const;
  [[nodiscard]] Result<void, StoreError> check(const Transaction& transaction) const;
  [[nodiscard]] Result<void, StoreError> check_writes(const std::vector<Operation>& list) const;
  [[nodiscard]] Result<TransactionResult, StoreError> carry_out(const Transaction& transaction,
                                                                Fault fault);
  void write(const Put& put, Revision revision);
  void erase(const Delete& gone);
  void detach(const std::string& key, LeaseId lease);

  // Constant after construction.
  const base::Clock* clock_;
  const ModelOptions options_;

  Faults faults_;
  Cells cells_;
  std::deque<Change> changes_;  // the oldest first
  Revision compacted_{};        // what was there at this revision and before is forgotten
  std::map<LeaseId, LeaseState> leases_;
  Revision revision_{1};
  std::int64_t last_lease_ = 0;
  std::vector<std::move_only_function<void()>> waiting_;
  Counters counters_;
  Transaction last_;
};

}  // namespace cadastre::coord::etcd
