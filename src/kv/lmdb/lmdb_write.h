// The write transaction over LMDB.

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
#include "kv/transaction_gate.h"

namespace cadastre::kv::lmdb {

class LmdbWriter final : public Writer {
 public:
  LmdbWriter(OpenTxn& txn, MDB_dbi space) noexcept;

  [[nodiscard]] Result<std::optional<ByteView>, Error> get(ByteView key) override;
  [[nodiscard]] Result<std::unique_ptr<Cursor>, Error> cursor() override;
  [[nodiscard]] std::uint64_t mutation_count() const override { return txn_.state.mutations; }
  [[nodiscard]] const Limits& limits() const override;
  [[nodiscard]] Result<void, Error> put(ByteView key, ByteView value) override;
  [[nodiscard]] Result<void, Error> erase(ByteView key) override;
  [[nodiscard]] Result<void, Error> erase_range(ByteView first, ByteView last) override;

 private:
  // After a failed change LMDB takes no other: only the end is left.
  [[nodiscard]] Result<void, Error> changed(int code);

  OpenTxn& txn_;
  const MDB_dbi space_;
};

class LmdbWrite final : public WriteTransaction {
 public:
  // The gate's writer is inside and the transaction begun; the end of this one ends both.
  LmdbWrite(MDB_env* env, TransactionGate& gate, MDB_txn* begun) noexcept;
  LmdbWrite(const LmdbWrite&) = delete;
  LmdbWrite& operator=(const LmdbWrite&) = delete;
  ~LmdbWrite() override;

  [[nodiscard]] Reader& reader(SpaceId space) override { return writer(space); }
  [[nodiscard]] Writer& writer(SpaceId space) override;
  [[nodiscard]] std::uint64_t mutation_count() const override { return txn_.state.mutations; }
  [[nodiscard]] Result<void, Error> commit() override;
  void abort() override;

  // Part of this transaction: known to others once it is committed.
  [[nodiscard]] Result<SpaceId, Error> make_space(const char* name);

 private:
  [[nodiscard]] Error commit_error(int code) const;

  MDB_env* const env_;
  TransactionGate& gate_;
  OpenTxn txn_;
  std::vector<std::unique_ptr<LmdbWriter>> writers_;  // By SpaceId, made when asked for.
};

}  // namespace cadastre::kv::lmdb
