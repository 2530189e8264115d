#include "kv/lmdb/lmdb_read.h"

#include <cstddef>
#include <memory>
#include <optional>

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
#include "kv/step_cursor.h"
#include "kv/store.h"

namespace cadastre::kv::lmdb {
namespace {

// Of a space that the transaction does not have.
class EmptyCursor final : public StepCursor {
 public:
  explicit EmptyCursor(OpenTxn& txn) noexcept : StepCursor(txn.state) {}

 private:
  Found move_to_first() override { return std::nullopt; }
  Found move_to_last() override { return std::nullopt; }
  Found move_to_ceiling(ByteView /*key*/) override { return std::nullopt; }
  Found move_forward() override { return std::nullopt; }
  Found move_back() override { return std::nullopt; }
};

}  // namespace

LmdbReader::LmdbReader(OpenTxn& txn, MDB_dbi space) noexcept : txn_(txn), space_(space) {}

Result<std::optional<ByteView>, Error> LmdbReader::get(ByteView key) {
  CAD_TRY(check_key(key, kEmbeddedLimits));
  if (!is_there_) return std::nullopt;
  return lmdb::get(txn_, space_, key);
}

Result<std::unique_ptr<Cursor>, Error> LmdbReader::cursor() {
  if (!is_there_) return std::make_unique<EmptyCursor>(txn_);
  return open_read_cursor(txn_, space_, idle_cursors_);
}

const Limits& LmdbReader::limits() const {
  return kEmbeddedLimits;
}

void LmdbReader::refresh() noexcept {
  unsigned flags = 0;
  is_there_ = mdb_dbi_flags(txn_.handle, space_, &flags) == MDB_SUCCESS;
}

ReadSlot::~ReadSlot() {
  readers_.clear();  // Cursors go before their transaction.
  if (txn_.handle != nullptr) mdb_txn_abort(txn_.handle);
}

Result<void, Error> ReadSlot::begin(MDB_env* env) {
  int code = begin_or_renew(env);
  if (code == MDB_READERS_FULL) {  // Processes that died may still be in the table.
    int dead = 0;
    CAD_TRY(checked(mdb_reader_check(env, &dead)));
    code = begin_or_renew(env);
  }
  return checked(code);
}

void ReadSlot::end() {
  CAD_CHECK(txn_.state.cursors == 0, "a cursor is destroyed before its transaction");
  mdb_txn_reset(txn_.handle);
}

Reader& ReadSlot::reader(SpaceId space) {
  const std::size_t index = space.value();
  if (readers_.size() <= index) readers_.resize(index + 1);
  if (!readers_[index]) readers_[index] = std::make_unique<LmdbReader>(txn_, space.value());
  readers_[index]->refresh();
  return *readers_[index];
}

int ReadSlot::begin_or_renew(MDB_env* env) noexcept {
  if (txn_.handle == nullptr) return mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn_.handle);
  return mdb_txn_renew(txn_.handle);
}

}  // namespace cadastre::kv::lmdb
