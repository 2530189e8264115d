// LmdbFiles, LmdbWrite, LmdbRead: one unnamed LMDB database in a directory, without ceremony; what the
// peers on LMDB share. Opened as ours is: same map, same flags.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include <lmdb.h>

#include "base/bytes.h"
#include "bench/peers/set_store.h"

namespace cadastre::bench {

struct LmdbEntry {  // Dies with the next change.
  base::ByteView key;
  base::ByteView value;
};

// One transaction, to read.
class LmdbRead {
 public:
  [[nodiscard]] std::optional<base::ByteView> get(base::ByteView key) const;
  // Calls visit(entry) for each key that begins with `prefix`, in order.
  template <class Visit>
  void for_each(base::ByteView prefix, const Visit& visit) const {
    const Cursor cursor = open_cursor();
    auto entry = seek(cursor.get(), prefix);
    while (entry && starts_with(entry->key, prefix)) {
      visit(*entry);
      entry = step(cursor.get());
    }
  }

 protected:
  friend class LmdbFiles;
  struct EndTransaction {
    void operator()(MDB_txn* txn) const noexcept { mdb_txn_abort(txn); }
  };
  struct CloseCursor {
    void operator()(MDB_cursor* cursor) const noexcept { mdb_cursor_close(cursor); }
  };
  using Cursor = std::unique_ptr<MDB_cursor, CloseCursor>;

  LmdbRead(MDB_txn* txn, MDB_dbi database) : txn_(txn), database_(database) {}
  [[nodiscard]] Cursor open_cursor() const;
  [[nodiscard]] static std::optional<LmdbEntry> seek(MDB_cursor* cursor, base::ByteView key);
  [[nodiscard]] static std::optional<LmdbEntry> step(MDB_cursor* cursor);
  [[nodiscard]] static bool starts_with(base::ByteView key, base::ByteView prefix);

  std::unique_ptr<MDB_txn, EndTransaction> txn_;
  MDB_dbi database_;
};

class LmdbWrite : public LmdbRead {
 public:
  // `value` does not point into the store.
  void put(base::ByteView key, base::ByteView value);
  void erase(base::ByteView key);
  void commit();

 private:
  friend class LmdbFiles;
  using LmdbRead::LmdbRead;
};

class LmdbFiles {
 public:
  explicit LmdbFiles(std::string directory);

  [[nodiscard]] LmdbRead read() const;
  [[nodiscard]] LmdbWrite write();
  void set_durability(Durability durability);
  [[nodiscard]] Space space() const;

 private:
  struct CloseEnvironment {
    void operator()(MDB_env* env) const noexcept { mdb_env_close(env); }
  };

  std::string directory_;
  std::unique_ptr<MDB_env, CloseEnvironment> env_;
  MDB_dbi database_ = 0;
};

}  // namespace cadastre::bench
