#include "kv/lmdb/lmdb_write.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include <lmdb.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "kv/argument_checks.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/limits.h"
#include "kv/lmdb/lmdb_error.h"
#include "kv/lmdb/space_access.h"
#include "kv/store.h"
#include "kv/transaction_gate.h"

namespace cadastre::kv::lmdb {
namespace {

// How many entries of [first, last) were erased; an LMDB code ends it early.
struct Erased {
  std::size_t entries = 0;
  int code = MDB_SUCCESS;
};

Erased erase_entries(MDB_cursor* cursor, ByteView first, ByteView last) {
  Erased erased;
  MDB_val key = to_val(first);
  MDB_val value{};
  int code = mdb_cursor_get(cursor, &key, &value, first.empty() ? MDB_FIRST : MDB_SET_RANGE);
  while (code == MDB_SUCCESS && base::less(to_view(key), last)) {
    code = mdb_cursor_del(cursor, 0);
    if (code != MDB_SUCCESS) break;
    ++erased.entries;
    // After an erase the cursor stands before the entry that followed, and this is that entry.
    code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
  }
  erased.code = code == MDB_NOTFOUND ? MDB_SUCCESS : code;
  return erased;
}

}  // namespace

LmdbWriter::LmdbWriter(OpenTxn& txn, MDB_dbi space) noexcept : txn_(txn), space_(space) {}

Result<std::optional<ByteView>, Error> LmdbWriter::get(ByteView key) {
  CAD_TRY(txn_.state.usable());
  CAD_TRY(check_key(key, kEmbeddedLimits));
  return lmdb::get(txn_, space_, key);
}

Result<std::unique_ptr<Cursor>, Error> LmdbWriter::cursor() {
  CAD_TRY(txn_.state.usable());
  return open_write_cursor(txn_, space_);
}

const Limits& LmdbWriter::limits() const {
  return kEmbeddedLimits;
}

Result<void, Error> LmdbWriter::put(ByteView key, ByteView value) {
  CAD_TRY(txn_.state.usable());
  CAD_TRY(check_entry({key, value}, kEmbeddedLimits));
  MDB_val key_val = to_val(key);
  MDB_val value_val = to_val(value);
  return changed(mdb_put(txn_.handle, space_, &key_val, &value_val, 0));
}

Result<void, Error> LmdbWriter::erase(ByteView key) {
  CAD_TRY(txn_.state.usable());
  CAD_TRY(check_key(key, kEmbeddedLimits));
  MDB_val key_val = to_val(key);
  const int code = mdb_del(txn_.handle, space_, &key_val, nullptr);
  if (code == MDB_NOTFOUND) return {};
  return changed(code);
}

Result<void, Error> LmdbWriter::erase_range(ByteView first, ByteView last) {
  CAD_TRY(txn_.state.usable());
  if (!base::less(first, last)) return {};
  MDB_cursor* cursor = nullptr;
  CAD_TRY(checked(mdb_cursor_open(txn_.handle, space_, &cursor)));
  const Erased erased = erase_entries(cursor, first, last);
  mdb_cursor_close(cursor);
  if (erased.entries == 0 && erased.code == MDB_SUCCESS) return {};
  return changed(erased.code);
}

Result<void, Error> LmdbWriter::changed(int code) {
  ++txn_.state.mutations;
  if (code != MDB_SUCCESS) txn_.state.is_over = true;
  return checked(code);
}

LmdbWrite::LmdbWrite(MDB_env* env, TransactionGate& gate, MDB_txn* begun) noexcept
    : env_(env), gate_(gate) {
  txn_.handle = begun;
}

LmdbWrite::~LmdbWrite() {
  abort();
}

Writer& LmdbWrite::writer(SpaceId space) {
  const std::size_t index = space.value();
  if (writers_.size() <= index) writers_.resize(index + 1);
  if (!writers_[index]) {
    unsigned flags = 0;
    CAD_CHECK(
        txn_.handle == nullptr || mdb_dbi_flags(txn_.handle, space.value(), &flags) == MDB_SUCCESS,
        "a key space is opened before it is written");
    writers_[index] = std::make_unique<LmdbWriter>(txn_, space.value());
  }
  return *writers_[index];
}

Result<void, Error> LmdbWrite::commit() {
  if (txn_.state.is_over) {
    abort();
    return base::fail(Error{ErrorCode::kEnded});
  }
  txn_.state.is_over = true;
  const int code = mdb_txn_commit(std::exchange(txn_.handle, nullptr));
  std::optional<Error> error;
  if (code != MDB_SUCCESS) error = commit_error(code);
  gate_.leave_write();
  if (error) return base::fail(*error);
  return {};
}

void LmdbWrite::abort() {
  txn_.state.is_over = true;
  if (txn_.handle == nullptr) return;
  mdb_txn_abort(std::exchange(txn_.handle, nullptr));
  gate_.leave_write();
}

Result<SpaceId, Error> LmdbWrite::make_space(const char* name) {
  MDB_dbi space = 0;
  CAD_TRY(checked(mdb_dbi_open(txn_.handle, name, MDB_CREATE, &space)));
  return SpaceId(space);
}

// LMDB shuts itself down when the last step of a commit fails, the write of the root: only then is the
// outcome open. All steps before leave the old root in place.
Error LmdbWrite::commit_error(int code) const {
  MDB_txn* probe = nullptr;
  const int begun = mdb_txn_begin(env_, nullptr, MDB_RDONLY, &probe);
  if (begun == MDB_SUCCESS) mdb_txn_abort(probe);
  if (begun == MDB_PANIC) return {.code = ErrorCode::kOutcomeUnknown, .system_code = code};
  return to_error(code);
}

}  // namespace cadastre::kv::lmdb
