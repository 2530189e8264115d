// Store: what coordination asks of an etcd: reads, transactions and leases, with completions.
//
// The nouns are etcd's: every change gives the whole store a new revision; a key remembers the revision of
// its last change and how often it was written (`version`, 0: absent); a key may be bound to a lease and
// goes when that ends. A transaction evaluates all its compares at one revision and then carries out one of
// its two lists, as a whole.
//
// Implementations: GrpcStore (a real etcd) and ModelStore (the same rules in this process, for simulation).
// A completion runs exactly once, perhaps before the call returns, perhaps on another thread. Arguments are
// taken over.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/strong.h"

namespace cadastre::coord::etcd {

using base::Result;

using Revision = base::Strong<struct RevisionTag, std::int64_t>;
using LeaseId = base::Strong<struct LeaseIdTag, std::int64_t>;  // 0: none

// Keys are ASCII; values are bytes in a string, as the wire has them.
struct KeyValue {
  std::string key;
  std::string value;
  Revision modified = {};
  std::int64_t version = 0;
  LeaseId lease = {};

  friend bool operator==(const KeyValue&, const KeyValue&) = default;
};

enum class Fields : std::uint8_t {
  kAll,
  kKeys,   // values stay empty
  kCount,  // no keys at all, only how many
};

// [key, end); an empty `end`: the one key.
struct Range {
  std::string key;
  std::string end;
  std::int64_t limit = 0;  // 0: all
  Fields fields = Fields::kAll;
  Revision at = {};  // as it was then; 0: as it is
};

struct RangeResult {
  std::vector<KeyValue> keys;  // ascending
  std::int64_t count = 0;      // of the whole range, whatever the limit
  bool more = false;
  Revision at = {};
};

struct Compare {
  struct Modified {
    Revision revision;
  };
  struct Absent {};   // version = 0
  struct Present {};  // version > 0
  struct Value {
    std::string value;
  };
  struct BoundTo {
    LeaseId lease;
  };

  std::string key;
  std::variant<Modified, Absent, Present, Value, BoundTo> that;
};

struct Put {
  std::string key;
  std::string value;
  LeaseId lease = {};
};

struct Delete {
  std::string key;
  std::string end;  // empty: the one key
};

using Operation = std::variant<Range, Put, Delete>;

struct Transaction {
  std::vector<Compare> compares;
  std::vector<Operation> success;
  std::vector<Operation> failure;
};

struct TransactionResult {
  bool succeeded = false;
  Revision at = {};                 // of the writes, if it wrote
  std::vector<RangeResult> ranges;  // one for each Range of the list that was carried out, in order
};

enum class StoreError : std::uint8_t {
  kUnavailable,     // Nothing was sent, or etcd says that it did nothing: try again later.
  kOutcomeUnknown,  // It may have been carried out: read before you decide.
  kRefused,         // etcd does not take it, whatever the time: too large, forbidden, out of space.
  kNoLease,         // The lease is gone.
  kCompacted,       // What was there at that revision is forgotten: read as it is.
};

template <class T>
using StoreDone = std::move_only_function<void(Result<T, StoreError>)>;

class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  // Linearizable. All of `ranges` at one revision, but for those that name one.
  virtual void read(std::vector<Range> ranges, StoreDone<std::vector<RangeResult>> done) = 0;
  virtual void commit(Transaction transaction, StoreDone<TransactionResult> done) = 0;

  virtual void grant_lease(std::chrono::seconds ttl, StoreDone<LeaseId> done) = 0;
  // kNoLease if it has ended.
  virtual void keep_alive(LeaseId lease, StoreDone<std::chrono::seconds> done) = 0;
  virtual void revoke_lease(LeaseId lease, StoreDone<void> done) = 0;
};

}  // namespace cadastre::coord::etcd
