// Store: named, ordered key spaces and the transactions over them.
//
//   const SpaceId tags = CAD_TRY(store.open_space("tags"));
//   auto txn = CAD_TRY(store.begin_write());
//   CAD_TRY(txn->writer(tags).put(key, value));
//   CAD_TRY(txn->commit());                        // else the destructor aborts
//
// A transaction spans every key space. A read transaction sees what was committed when it began, for
// as long as it lives; it never waits for a writer, nor a writer for it. There is one write
// transaction at a time: the next one waits until it ends.
//
// A store is safe from any thread. A write transaction is begun, used and ended in one thread; a read
// transaction may wander between threads, one at a time. Transactions end before their store does.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/strong.h"
#include "kv/error.h"
#include "kv/kv.h"

namespace cadastre::kv {

// A key space of one store, for as long as that store is open.
using SpaceId = base::Strong<struct SpaceIdTag, std::uint32_t>;

// The destructor ends it.
class ReadTransaction {
 public:
  ReadTransaction() = default;
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;
  virtual ~ReadTransaction() = default;

  // The same object each time. A space that was made after the transaction began is empty.
  [[nodiscard]] virtual Reader& reader(SpaceId space) = 0;
};

// The destructor aborts what was not committed. After the end every call answers kEnded.
class WriteTransaction : public ReadTransaction {
 public:
  [[nodiscard]] virtual Writer& writer(SpaceId space) = 0;
  [[nodiscard]] virtual std::uint64_t mutation_count() const = 0;

  // All or nothing; an error means nothing, except kOutcomeUnknown. Ends the transaction either way.
  [[nodiscard]] virtual Result<void, Error> commit() = 0;
  virtual void abort() = 0;
};

struct OldestReader {
  std::uint64_t commits_behind = 0;
  std::chrono::nanoseconds age{};
};

// For the operator. A long reader keeps old versions alive, and the store grows meanwhile.
struct StoreStats {
  std::uint64_t capacity_bytes = 0;      // A transaction that needs more gets kMapFull.
  std::uint64_t capacity_bytes_max = 0;  // Bound of Store::grow.
  std::uint64_t used_bytes = 0;
  std::uint64_t commits = 0;  // That changed something, since the store was made.
  std::uint32_t readers_open = 0;
  std::uint32_t readers_max = 0;
  std::optional<OldestReader> oldest_reader;
};

enum class OpenTransactions : std::uint8_t {
  kRefuse,  // Answer kBusy if there is one.
  kWait,    // Hold new ones back and wait for the others. Never while this thread has one.
};

class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  [[nodiscard]] virtual const Limits& limits() const = 0;

  // Makes the space if it is not there, in a transaction of its own: kBusy if this thread has a write
  // transaction.
  [[nodiscard]] virtual Result<SpaceId, Error> open_space(std::string_view name) = 0;
  [[nodiscard]] virtual std::optional<SpaceId> find_space(std::string_view name) const = 0;
  [[nodiscard]] virtual std::vector<std::string> space_names() const = 0;  // In byte order.

  [[nodiscard]] virtual Result<std::unique_ptr<ReadTransaction>, Error> begin_read() = 0;
  // Waits for the other writer; kBusy if that one is of this thread, kReadOnly if there can be none.
  [[nodiscard]] virtual Result<std::unique_ptr<WriteTransaction>, Error> begin_write() = 0;

  // What to do after kMapFull: doubles the capacity up to its maximum, and answers the new one. kMapFull
  // if it cannot grow. Needs a moment without transactions.
  [[nodiscard]] virtual Result<std::uint64_t, Error> grow(OpenTransactions others) = 0;
  // Makes every commit so far as durable as the store can.
  [[nodiscard]] virtual Result<void, Error> sync() = 0;
  [[nodiscard]] virtual StoreStats stats() const = 0;
};

// For backends. A name has 1 to kSpaceNameBytesMax bytes, none of them zero.
[[nodiscard]] bool is_valid_space_name(std::string_view name) noexcept;
// The capacity after Store::grow: twice as much, within the maximum.
[[nodiscard]] std::uint64_t grown_capacity(std::uint64_t bytes, std::uint64_t bytes_max) noexcept;

}  // namespace cadastre::kv
