// Read transactions over LMDB. A slot keeps its LMDB transaction and cursors for the next reader, so
// that beginning one allocates nothing inside LMDB.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <lmdb.h>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/lmdb/space_access.h"
#include "kv/store.h"

namespace cadastre::kv::lmdb {

class LmdbReader final : public Reader {
 public:
  LmdbReader(OpenTxn& txn, MDB_dbi space) noexcept;

  [[nodiscard]] Result<std::optional<ByteView>, Error> get(ByteView key) override;
  [[nodiscard]] Result<std::unique_ptr<Cursor>, Error> cursor() override;
  [[nodiscard]] std::uint64_t mutation_count() const override { return 0; }
  [[nodiscard]] const Limits& limits() const override;

  // Looks whether the transaction of now has the space.
  void refresh() noexcept;

 private:
  OpenTxn& txn_;
  const MDB_dbi space_;
  bool is_there_ = false;
  std::vector<OwnedCursor> idle_cursors_;
};

// One place in the table of readers. Used by one transaction at a time.
class ReadSlot {
 public:
  ReadSlot() = default;
  ReadSlot(const ReadSlot&) = delete;
  ReadSlot& operator=(const ReadSlot&) = delete;
  ~ReadSlot();

  [[nodiscard]] Result<void, Error> begin(MDB_env* env);
  void end();
  [[nodiscard]] Reader& reader(SpaceId space);
  // The last commit that the open transaction sees.
  [[nodiscard]] std::uint64_t commit() const noexcept { return mdb_txn_id(txn_.handle); }

 private:
  [[nodiscard]] int begin_or_renew(MDB_env* env) noexcept;

  OpenTxn txn_;  // Made by the first transaction, reset between two.
  std::vector<std::unique_ptr<LmdbReader>> readers_;  // By SpaceId, made when asked for.
};

}  // namespace cadastre::kv::lmdb
