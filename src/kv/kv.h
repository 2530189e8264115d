// Reader, Writer, Cursor: one ordered key space, inside one transaction.
//
// Keys are ordered as unsigned bytes, a prefix before what it begins. A key has 1 to
// Limits::key_bytes_max bytes, a value 0 to Limits::value_bytes_max. The bounds of seeks and of
// erase_range are not keys: they may have any length.
//
// Rules
//   1. A view obtained from a transaction dies at the next mutation in that transaction, of whatever
//      key space, or at its end. No argument of put may point into such a view: copy first.
//   2. A cursor stands still while nothing changes. After a mutation it has to be placed again by a
//      seek; next() and prev() answer kStaleCursor until then.
//   3. A Reader or Writer belongs to its transaction and goes with it. A cursor is destroyed before
//      its transaction object; it may outlast commit() and abort(), then it answers kEnded.
//   4. A write transaction sees its own changes.
//
// A transaction and all that comes from it is used by one thread at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/error.h"

namespace cadastre::kv {

using base::ByteView;
using base::Result;

struct Limits {
  std::size_t key_bytes_max = 0;
  std::size_t value_bytes_max = 0;
  std::size_t txn_bytes_max = 0;   // What one transaction changes stays below; more may be refused.
  bool counters_conflict = false;  // Transactions that change one common record exclude each other.
};

struct EntryView {  // Dies with the next mutation or with the transaction.
  ByteView key;
  ByteView value;
};

// Stands on an entry, before the first or after the last one. A new cursor stands nowhere: its next()
// is the first entry, its prev() the last. A call that answers nothing leaves the cursor at the end it
// ran into, from where the other direction leads back.
class Cursor {
 public:
  Cursor() = default;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  virtual ~Cursor() = default;

  // Least key >= key; greatest key <= key.
  [[nodiscard]] virtual Result<std::optional<EntryView>, Error> seek_ceiling(ByteView key) = 0;
  [[nodiscard]] virtual Result<std::optional<EntryView>, Error> seek_floor(ByteView key) = 0;
  [[nodiscard]] virtual Result<std::optional<EntryView>, Error> next() = 0;
  [[nodiscard]] virtual Result<std::optional<EntryView>, Error> prev() = 0;
};

class Reader {
 public:
  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  virtual ~Reader() = default;

  [[nodiscard]] virtual Result<std::optional<ByteView>, Error> get(ByteView key) = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<Cursor>, Error> cursor() = 0;
  // Of the whole transaction. Moves by one with every put, and with every erase and erase_range that
  // finds something; constant in read transactions.
  [[nodiscard]] virtual std::uint64_t mutation_count() const = 0;
  [[nodiscard]] virtual const Limits& limits() const = 0;
};

class Writer : public Reader {
 public:
  // Replaces what is there.
  [[nodiscard]] virtual Result<void, Error> put(ByteView key, ByteView value) = 0;
  // Absent is fine.
  [[nodiscard]] virtual Result<void, Error> erase(ByteView key) = 0;
  // Half open. Nothing if last <= first.
  [[nodiscard]] virtual Result<void, Error> erase_range(ByteView first, ByteView last) = 0;
};

}  // namespace cadastre::kv
