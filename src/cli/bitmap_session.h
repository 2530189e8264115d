// BitmapSession: one table of an open database, as a command or all requests of a batch see it.
//
// Each piece of work is a transaction of its own, until begin(): from then to commit() or abort() all of
// it shares one. Inside it a wrong argument changes nothing and the transaction goes on; any other error
// aborts it, and every later call says so until the end is called for. A session that ends inside a
// transaction aborts it.
//
// Belongs to one thread.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "bitmap/bitmap_database.h"
#include "bitmap/config.h"
#include "bitmap/error.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "cli/command_error.h"
#include "cli/options.h"

namespace cadastre::cli {

using base::Result;

// What the user said of the table.
struct BitmapTable {
  std::string name;
  std::optional<std::uint16_t> shards;         // has to be the table's own
  std::optional<std::uint32_t> segment_bytes;  // the table takes it with its next change

  // Of a table that is made now.
  [[nodiscard]] bitmap::Config config() const noexcept;
};

// A change to a table that is not there.
enum class AbsentTable : std::uint8_t {
  kMade,     // The table is made first.
  kSkipped,  // There is nothing to change.
};

class BitmapSession {
 public:
  // Borrows the database. Its new tables have the settings of `table`.
  BitmapSession(bitmap::BitmapDatabase& database, BitmapTable table, Form form, Mode mode);
  BitmapSession(const BitmapSession&) = delete;
  BitmapSession& operator=(const BitmapSession&) = delete;
  ~BitmapSession();

  [[nodiscard]] Form form() const noexcept { return form_; }
  [[nodiscard]] Mode mode() const noexcept { return mode_; }
  [[nodiscard]] bitmap::BitmapDatabase& database() noexcept { return database_; }
  [[nodiscard]] const std::string& table() const noexcept { return table_.name; }

  // Work may run more than once, and only its last run counts. It does not run where there is no table.
  [[nodiscard]] Result<void, CommandError> read(bitmap::ReadWork work);
  [[nodiscard]] Result<void, CommandError> write(AbsentTable absent, bitmap::WriteWork work);

  [[nodiscard]] Result<void, CommandError> begin();
  [[nodiscard]] Result<void, CommandError> commit();
  [[nodiscard]] Result<void, CommandError> abort();

 private:
  struct Transaction;

  [[nodiscard]] Result<std::unique_ptr<Transaction>, bitmap::Error> begin_transaction();
  [[nodiscard]] Result<bool, bitmap::Error> open_table(AbsentTable absent);
  [[nodiscard]] Result<void, bitmap::Error> read_inside(bitmap::ReadWork work);
  [[nodiscard]] Result<void, bitmap::Error> write_inside(AbsentTable absent,
                                                         bitmap::WriteWork work);
  [[nodiscard]] Result<void, bitmap::Error> check(const bitmap::TableReader& reader) const;
  [[nodiscard]] Result<void, bitmap::Error> adapt(bitmap::TableWriter& writer) const;
  [[nodiscard]] Result<void, CommandError> told(const Result<void, bitmap::Error>& result);
  // The error of a transaction that was aborted, if this one was.
  [[nodiscard]] Result<void, CommandError> check_alive() const;

  bitmap::BitmapDatabase& database_;
  BitmapTable table_;
  Form form_;
  Mode mode_;
  std::unique_ptr<Transaction> transaction_;  // between begin and its end, unless it failed
  std::optional<std::string> failed_with_;    // the code of what aborted it
  bool needs_room_ = false;  // it found the store full: the next one grows it first
};

}  // namespace cadastre::cli
