// SqliteStore: one row for each id, `(key, id)` as the primary key WITHOUT ROWID, in WAL mode. Prepared
// statements, a cache that holds everything, rows of a batch in order.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sqlite3.h>

#include "bench/peers/set_store.h"

namespace cadastre::bench {

// A prepared statement, ready to run again as soon as it is bound anew.
class SqliteStatement {
 public:
  SqliteStatement(sqlite3* connection, std::string_view sql);

  // Parameters count from 1. The key lives until the statement is reset.
  void bind(int parameter, std::string_view key);
  void bind(int parameter, std::int64_t number);
  // Whether there is a row.
  [[nodiscard]] bool step();
  [[nodiscard]] std::int64_t number(int column) const;
  void reset();

 private:
  struct Finalise {
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalise> statement_;
};

class SqliteConnection {
 public:
  explicit SqliteConnection(const std::string& path);

  [[nodiscard]] sqlite3* get() const { return connection_.get(); }
  void run(const std::string& sql);

 private:
  struct Close {
    void operator()(sqlite3* connection) const noexcept { sqlite3_close(connection); }
  };
  std::unique_ptr<sqlite3, Close> connection_;
};

[[nodiscard]] std::string sqlite_version();

class SqliteStore final : public SetStore {
 public:
  explicit SqliteStore(const std::string& directory);

  [[nodiscard]] std::string_view name() const override { return "SQLite in WAL mode"; }
  void begin() override;
  void insert(std::string_view key, Id id) override;
  void insert_many(std::string_view key, std::span<const Id> ids) override;
  void remove_many(std::string_view key, std::span<const Id> ids) override;
  void commit() override;
  void set_durability(Durability durability) override;
  void compact(std::string_view key) override;
  [[nodiscard]] std::unique_ptr<SetReader> reader() override;
  [[nodiscard]] Space space() override;

 private:
  // Runs a statement with (key, id) for each id, in order.
  void for_each_sorted(SqliteStatement& statement, std::string_view key, std::span<const Id> ids);

  std::string directory_;
  SqliteConnection connection_;
  std::unique_ptr<SqliteStatement> begin_;
  std::unique_ptr<SqliteStatement> insert_;
  std::unique_ptr<SqliteStatement> remove_;
  std::unique_ptr<SqliteStatement> commit_;
  std::vector<Id> sorted_;
};

}  // namespace cadastre::bench
