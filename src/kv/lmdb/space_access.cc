#include "kv/lmdb/space_access.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <lmdb.h>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/lmdb/lmdb_error.h"
#include "kv/step_cursor.h"

namespace cadastre::kv::lmdb {
namespace {

constexpr std::size_t kIdleCursorsMax = 4;  // Of one space and reader slot.

class LmdbCursor : public StepCursor {
 public:
  LmdbCursor(OpenTxn& txn, OwnedCursor cursor) noexcept
      : StepCursor(txn.state), txn_(txn), cursor_(std::move(cursor)) {}

 protected:
  [[nodiscard]] OpenTxn& txn() noexcept { return txn_; }
  [[nodiscard]] OwnedCursor& cursor() noexcept { return cursor_; }

 private:
  Found move_to_first() override { return move({}, MDB_FIRST); }
  Found move_to_last() override { return move({}, MDB_LAST); }
  Found move_to_ceiling(ByteView key) override { return move(to_val(key), MDB_SET_RANGE); }
  Found move_forward() override { return move({}, MDB_NEXT); }
  Found move_back() override { return move({}, MDB_PREV); }

  Found move(MDB_val key, MDB_cursor_op operation) {
    MDB_val value{};
    const int code = mdb_cursor_get(cursor_.get(), &key, &value, operation);
    if (code == MDB_NOTFOUND) return std::nullopt;
    if (code != MDB_SUCCESS) return base::fail(to_error(code));
    return EntryView{to_view(key), to_view(value)};
  }

  OpenTxn& txn_;
  OwnedCursor cursor_;
};

class WriteCursor final : public LmdbCursor {
 public:
  using LmdbCursor::LmdbCursor;
  WriteCursor(const WriteCursor&) = delete;
  WriteCursor& operator=(const WriteCursor&) = delete;
  ~WriteCursor() override {
    // NOLINTNEXTLINE(bugprone-unused-return-value): LMDB has freed it.
    if (txn().handle == nullptr) (void)cursor().release();
  }
};

class ReadCursor final : public LmdbCursor {
 public:
  ReadCursor(OpenTxn& txn, OwnedCursor cursor, std::vector<OwnedCursor>& idle) noexcept
      : LmdbCursor(txn, std::move(cursor)), idle_(idle) {}
  ReadCursor(const ReadCursor&) = delete;
  ReadCursor& operator=(const ReadCursor&) = delete;
  ~ReadCursor() override {
    if (idle_.size() < kIdleCursorsMax) idle_.push_back(std::move(cursor()));
  }

 private:
  std::vector<OwnedCursor>& idle_;
};

Result<OwnedCursor, Error> open_cursor(OpenTxn& txn, MDB_dbi space) {
  MDB_cursor* cursor = nullptr;
  CAD_TRY(checked(mdb_cursor_open(txn.handle, space, &cursor)));
  return OwnedCursor(cursor);
}

}  // namespace

MDB_val to_val(ByteView bytes) noexcept {
  // LMDB only reads what it is given.
  return {bytes.size(), const_cast<std::byte*>(bytes.data())};
}

ByteView to_view(const MDB_val& value) noexcept {
  return {static_cast<const std::byte*>(value.mv_data), value.mv_size};
}

Result<std::optional<ByteView>, Error> get(const OpenTxn& txn, MDB_dbi space, ByteView key) {
  MDB_val wanted = to_val(key);
  MDB_val value{};
  const int code = mdb_get(txn.handle, space, &wanted, &value);
  if (code == MDB_NOTFOUND) return std::nullopt;
  if (code != MDB_SUCCESS) return base::fail(to_error(code));
  return to_view(value);
}

Result<std::unique_ptr<Cursor>, Error> open_write_cursor(OpenTxn& txn, MDB_dbi space) {
  return std::make_unique<WriteCursor>(txn, CAD_TRY(open_cursor(txn, space)));
}

Result<std::unique_ptr<Cursor>, Error> open_read_cursor(OpenTxn& txn,
                                                        MDB_dbi space,
                                                        std::vector<OwnedCursor>& idle) {
  if (idle.empty())
    return std::make_unique<ReadCursor>(txn, CAD_TRY(open_cursor(txn, space)), idle);
  OwnedCursor cursor = std::move(idle.back());
  idle.pop_back();
  CAD_TRY(checked(mdb_cursor_renew(txn.handle, cursor.get())));
  return std::make_unique<ReadCursor>(txn, std::move(cursor), idle);
}

}  // namespace cadastre::kv::lmdb
