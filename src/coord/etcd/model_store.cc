#include "coord/etcd/model_store.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "coord/etcd/store.h"

namespace cadastre::coord::etcd {
namespace {

bool covers(const Delete& gone, const std::string& key) noexcept {
  if (gone.end.empty()) return key == gone.key;
  return key >= gone.key && key < gone.end;
}

std::size_t bytes_of(const Operation& operation) {
  return std::visit(
      [](const auto& one) -> std::size_t {
        if constexpr (std::is_same_v<std::decay_t<decltype(one)>, Put>) {
          return one.key.size() + one.value.size();
        } else {
          return one.key.size() + one.end.size();
        }
      },
      operation);
}

// What a call answers: `carry_out` does it, unless the fault says that it never arrived.
template <class T, class Do>
Result<T, StoreError> answer(Fault fault, const Do& carry_out) {
  if (fault == Fault::kUnavailable) {
    return base::fail(StoreError::kUnavailable, "the store is away");
  }
  if (fault == Fault::kLostRequest) {
    return base::fail(StoreError::kOutcomeUnknown, "no answer came");
  }
  Result<T, StoreError> result = carry_out();
  if (fault == Fault::kLostAnswer) {
    return base::fail(StoreError::kOutcomeUnknown, "no answer came");
  }
  return result;
}

}  // namespace

Fault ModelStore::draw(Rpc rpc) {
  if (!faults_) return Fault::kNone;
  const Fault fault = faults_(rpc);
  if (fault != Fault::kNone) ++counters_.faults;
  return fault;
}

void ModelStore::take_in(std::move_only_function<void()> call) {
  if (options_.delivery == ModelDelivery::kWhenTold) {
    waiting_.push_back(std::move(call));
  } else {
    call();
  }
}

void ModelStore::deliver(std::size_t which) {
  CAD_CHECK(which < waiting_.size(), "a call that waits is delivered");
  auto call = std::move(waiting_[which]);
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(which));
  call();
}

void ModelStore::read(std::vector<Range> ranges, StoreDone<std::vector<RangeResult>> done) {
  take_in([this, ranges = std::move(ranges), done = std::move(done)]() mutable {
    ++counters_.reads;
    expire_leases();
    done(answer<std::vector<RangeResult>>(
        draw(Rpc::kRead), [&]() -> Result<std::vector<RangeResult>, StoreError> {
          if (ranges.size() > options_.txn_ops_max) {
            return base::fail(StoreError::kRefused, "too many ranges");
          }
          std::vector<RangeResult> results;
          results.reserve(ranges.size());
          for (const Range& range : ranges)
            results.push_back(CAD_TRY(scan(range)));
          return results;
        }));
  });
}

void ModelStore::commit(Transaction transaction, StoreDone<TransactionResult> done) {
  take_in([this, transaction = std::move(transaction), done = std::move(done)]() mutable {
    ++counters_.commits;
    expire_leases();
    const Fault fault = draw(Rpc::kCommit);
    auto result = answer<TransactionResult>(fault, [&] { return carry_out(transaction, fault); });
    last_ = std::move(transaction);
    done(std::move(result));
  });
}

void ModelStore::grant_lease(std::chrono::seconds ttl, StoreDone<LeaseId> done) {
  take_in([this, ttl, done = std::move(done)]() mutable {
    expire_leases();
    done(answer<LeaseId>(draw(Rpc::kGrant), [&]() -> Result<LeaseId, StoreError> {
      const LeaseId lease(++last_lease_);
      leases_[lease] = {.ttl = ttl, .ends = clock_->elapsed() + ttl, .keys = {}};
      return lease;
    }));
  });
}

void ModelStore::keep_alive(LeaseId lease, StoreDone<std::chrono::seconds> done) {
  take_in([this, lease, done = std::move(done)]() mutable {
    expire_leases();
    done(answer<std::chrono::seconds>(
        draw(Rpc::kKeepAlive), [&]() -> Result<std::chrono::seconds, StoreError> {
          const auto found = leases_.find(lease);
          if (found == leases_.end()) return base::fail(StoreError::kNoLease, "the lease is gone");
          found->second.ends = clock_->elapsed() + found->second.ttl;
          return found->second.ttl;
        }));
  });
}

void ModelStore::revoke_lease(LeaseId lease, StoreDone<void> done) {
  take_in([this, lease, done = std::move(done)]() mutable {
    expire_leases();
    done(answer<void>(draw(Rpc::kRevoke), [&]() -> Result<void, StoreError> {
      if (!leases_.contains(lease)) return base::fail(StoreError::kNoLease, "the lease is gone");
      expire(lease);
      return {};
    }));
  });
}

void ModelStore::expire(LeaseId lease) {
  const auto found = leases_.find(lease);
  if (found == leases_.end()) return;
  const auto keys = std::move(found->second.keys);
  leases_.erase(found);
  if (keys.empty()) return;
  (void)next_revision();
  for (const std::string& key : keys) {
    note(key);
    cells_.erase(key);
  }
}

void ModelStore::expire_leases() {
  std::vector<LeaseId> over;
  for (const auto& [id, lease] : leases_) {
    if (clock_->elapsed() >= lease.ends) over.push_back(id);
  }
  for (const LeaseId id : over)
    expire(id);
}

std::vector<LeaseId> ModelStore::leases() const {
  std::vector<LeaseId> ids;
  ids.reserve(leases_.size());
  for (const auto& [id, lease] : leases_)
    ids.push_back(id);
  return ids;
}

std::vector<KeyValue> ModelStore::dump() {
  expire_leases();
  std::vector<KeyValue> all;
  all.reserve(cells_.size());
  for (const auto& [key, cell] : cells_)
    all.push_back({key, cell.value, cell.modified, cell.version, cell.lease});
  return all;
}

void ModelStore::note(const std::string& key) {
  const auto found = cells_.find(key);
  const bool is_there = found != cells_.end();
  changes_.push_back({revision_, key, is_there ? std::optional(found->second) : std::nullopt});
  if (changes_.size() <= kModelChangesMax) return;
  compacted_ = Revision(changes_.front().revision.value() - 1);
  changes_.pop_front();
}

void ModelStore::compact() {
  changes_.clear();
  compacted_ = Revision(revision_.value() - 1);
}

ModelStore::Cells ModelStore::as_it_was(Revision revision) const {
  Cells cells = cells_;
  for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
    if (change->revision <= revision) break;
    if (change->before) {
      cells[change->key] = *change->before;
    } else {
      cells.erase(change->key);
    }
  }
  return cells;
}

Result<RangeResult, StoreError> ModelStore::scan(const Range& range) const {
  if (range.at == Revision() || range.at == revision_) return scan(range, cells_);
  if (range.at <= compacted_) return base::fail(StoreError::kCompacted, "it is forgotten");
  if (range.at > revision_) return base::fail(StoreError::kRefused, "it is still to come");
  return scan(range, as_it_was(range.at));
}

RangeResult ModelStore::scan(const Range& range, const Cells& cells) const {
  RangeResult result;
  result.at = revision_;
  const auto begin = cells.lower_bound(range.key);
  for (auto at = begin; at != cells.end(); ++at) {
    const bool inside = range.end.empty() ? at->first == range.key : at->first < range.end;
    if (!inside) break;
    ++result.count;
    if (range.fields == Fields::kCount) continue;
    if (range.limit != 0 && result.count > range.limit) {
      result.more = true;
      continue;
    }
    const Cell& cell = at->second;
    const std::string& value = range.fields == Fields::kAll ? cell.value : std::string();
    result.keys.push_back({at->first, value, cell.modified, cell.version, cell.lease});
  }
  return result;
}

bool ModelStore::holds(const Compare& compare) const {
  const auto at = cells_.find(compare.key);
  const bool present = at != cells_.end();
  struct Visitor {
    bool present;
    const Cell& cell;
    // An absent key has revision, version and lease 0.
    bool operator()(const Compare::Modified& that) const { return cell.modified == that.revision; }
    bool operator()(const Compare::Absent&) const { return !present; }
    bool operator()(const Compare::Present&) const { return present; }
    bool operator()(const Compare::Value& that) const {
      return present && cell.value == that.value;
    }
    bool operator()(const Compare::BoundTo& that) const { return cell.lease == that.lease; }
  };
  static const Cell kAbsent;
  return std::visit(Visitor{present, present ? at->second : kAbsent}, compare.that);
}

Result<void, StoreError> ModelStore::check_writes(const std::vector<Operation>& list) const {
  std::set<std::string> written;
  for (const Operation& operation : list) {
    if (const auto* put = std::get_if<Put>(&operation)) {
      if (!written.insert(put->key).second) {
        return base::fail(StoreError::kRefused, "a key is written twice");
      }
      if (put->lease != LeaseId() && !leases_.contains(put->lease)) {
        return base::fail(StoreError::kNoLease, "the lease is gone");
      }
    }
  }
  for (const Operation& operation : list) {
    const auto* gone = std::get_if<Delete>(&operation);
    if (gone == nullptr) continue;
    for (const std::string& key : written) {
      if (covers(*gone, key)) {
        return base::fail(StoreError::kRefused, "a key is written and deleted");
      }
    }
  }
  return {};
}

Result<void, StoreError> ModelStore::check(const Transaction& transaction) const {
  const std::size_t max = options_.txn_ops_max;
  if (transaction.compares.size() > max || transaction.success.size() > max ||
      transaction.failure.size() > max) {
    return base::fail(StoreError::kRefused, "too many operations");
  }
  std::size_t bytes = 0;
  for (const Compare& compare : transaction.compares)
    bytes += compare.key.size();
  for (const auto* list : {&transaction.success, &transaction.failure}) {
    for (const Operation& operation : *list)
      bytes += bytes_of(operation);
  }
  if (bytes > options_.request_bytes_max) {
    return base::fail(StoreError::kRefused, "the request is too large");
  }
  CAD_TRY(check_writes(transaction.success));
  return check_writes(transaction.failure);
}

Result<TransactionResult, StoreError> ModelStore::carry_out(const Transaction& transaction,
                                                            Fault fault) {
  CAD_TRY(check(transaction));
  TransactionResult result;
  result.succeeded = fault != Fault::kCompareMiss;
  for (const Compare& compare : transaction.compares)
    result.succeeded = result.succeeded && holds(compare);
  if (!result.succeeded) ++counters_.lost_races;
  const auto& list = result.succeeded ? transaction.success : transaction.failure;
  bool wrote = false;
  const auto revision = [&] {
    if (!wrote) (void)next_revision();
    wrote = true;
    return revision_;
  };
  for (const Operation& operation : list) {
    if (const auto* range = std::get_if<Range>(&operation)) {
      result.ranges.push_back(CAD_TRY(scan(*range)));
    } else if (const auto* put = std::get_if<Put>(&operation)) {
      write(*put, revision());
    } else {
      (void)revision();
      erase(std::get<Delete>(operation));
    }
  }
  result.at = revision_;
  return result;
}

void ModelStore::detach(const std::string& key, LeaseId lease) {
  const auto found = leases_.find(lease);
  if (found != leases_.end()) found->second.keys.erase(key);
}

void ModelStore::write(const Put& put, Revision revision) {
  note(put.key);
  Cell& cell = cells_[put.key];
  detach(put.key, cell.lease);
  cell.value = put.value;
  cell.modified = revision;
  ++cell.version;
  cell.lease = put.lease;
  if (put.lease != LeaseId()) leases_[put.lease].keys.insert(put.key);
}

void ModelStore::erase(const Delete& gone) {
  auto at = cells_.lower_bound(gone.key);
  while (at != cells_.end() && covers(gone, at->first)) {
    note(at->first);
    detach(at->first, at->second.lease);
    at = cells_.erase(at);
  }
}

}  // namespace cadastre::coord::etcd
