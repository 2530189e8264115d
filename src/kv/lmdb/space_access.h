// One named database of LMDB inside one transaction: what readers and writers have in common.

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <lmdb.h>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/transaction_state.h"

namespace cadastre::kv::lmdb {

// A transaction of LMDB and what is known of it.
struct OpenTxn {
  MDB_txn* handle = nullptr;  // Null once it has ended.
  TransactionState state;
};

struct CursorCloser {
  void operator()(MDB_cursor* cursor) const noexcept { mdb_cursor_close(cursor); }
};
using OwnedCursor = std::unique_ptr<MDB_cursor, CursorCloser>;

[[nodiscard]] MDB_val to_val(ByteView bytes) noexcept;
[[nodiscard]] ByteView to_view(const MDB_val& value) noexcept;

// The key has been checked.
[[nodiscard]] Result<std::optional<ByteView>, Error> get(const OpenTxn& txn,
                                                         MDB_dbi space,
                                                         ByteView key);

// LMDB frees what is open of a write transaction when that ends, so such a cursor is closed only while
// its transaction lives.
[[nodiscard]] Result<std::unique_ptr<Cursor>, Error> open_write_cursor(OpenTxn& txn, MDB_dbi space);

// A cursor of a read transaction outlives it and serves the next one: `idle` takes it back. Both
// outlive the cursor.
[[nodiscard]] Result<std::unique_ptr<Cursor>, Error> open_read_cursor(
    OpenTxn& txn, MDB_dbi space, std::vector<OwnedCursor>& idle);

}  // namespace cadastre::kv::lmdb
