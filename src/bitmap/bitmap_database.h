// BitmapDatabase: tables for those who have no transactions of their own.
//
//   auto database = BitmapDatabase::open(std::move(store), {});
//   CAD_TRY(database->insert("tags", as_bytes("red"), Id{42}));
//   CAD_TRY(database->contains("tags", as_bytes("red"), Id{42}));
//
// Every call is one transaction, durable when it returns as far as the store is. Calls from several
// threads share transactions (group_commit.h). read() and write() run several operations in one. A
// full store grows by itself, conflicts are retried, both within bounds. A table comes into being with
// its first write, with the settings that the database was opened with.
//
// Safe from any thread. Not from inside a function that read() or write() runs.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/function_ref.h"
#include "base/result.h"
#include "bitmap/bitmap.h"
#include "bitmap/compact.h"
#include "bitmap/config.h"
#include "bitmap/error.h"
#include "bitmap/group_commit.h"
#include "bitmap/ids.h"
#include "bitmap/segment_form.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "kv/store.h"

namespace cadastre::bitmap {

struct DatabaseConfig {
  Config new_tables = {};
  ReadCheck point_reads = ReadCheck::kStructure;
};

using ReadWork = base::FunctionRef<Result<void, Error>(const TableReader&)>;
using WriteWork = base::FunctionRef<Result<void, Error>(TableWriter&)>;

class BitmapDatabase {
 public:
  [[nodiscard]] static Result<std::unique_ptr<BitmapDatabase>, Error> open(
      std::unique_ptr<kv::Store> store, const DatabaseConfig& config);

  [[nodiscard]] kv::Store& store() noexcept { return *store_; }
  [[nodiscard]] std::vector<std::string> tables() const { return store_->space_names(); }

  // Several operations in one transaction. A table that is not there is empty for readers. The work
  // may run more than once; only its last run counts.
  [[nodiscard]] Result<void, Error> read(std::string_view table, ReadWork work);
  [[nodiscard]] Result<void, Error> write(std::string_view table, WriteWork work);

  // ---- One operation each --------------------------------------------------------------------

  [[nodiscard]] Result<bool, Error> insert(std::string_view table, ByteView key, Id id);
  [[nodiscard]] Result<bool, Error> remove(std::string_view table, ByteView key, Id id);
  [[nodiscard]] Result<std::uint64_t, Error> insert_many(std::string_view table,
                                                         ByteView key,
                                                         std::span<const Id> ids);
  [[nodiscard]] Result<std::uint64_t, Error> remove_many(std::string_view table,
                                                         ByteView key,
                                                         std::span<const Id> ids);
  [[nodiscard]] Result<std::uint64_t, Error> unite(std::string_view table,
                                                   ByteView key,
                                                   const Bitmap& other);
  [[nodiscard]] Result<bool, Error> erase_key(std::string_view table, ByteView key);
  // Whole, in as many transactions as the budget asks for.
  [[nodiscard]] Result<CompactReport, Error> compact(std::string_view table,
                                                     ByteView key,
                                                     CompactBudget budget = {});

  [[nodiscard]] Result<bool, Error> contains(std::string_view table, ByteView key, Id id);
  [[nodiscard]] Result<std::uint64_t, Error> cardinality(std::string_view table, ByteView key);
  [[nodiscard]] Result<Bitmap, Error> get(std::string_view table,
                                          ByteView key,
                                          std::size_t bytes_max);
  // A page of keys that begin with `prefix`, from behind `after`.
  [[nodiscard]] Result<std::vector<base::Bytes>, Error> keys(std::string_view table,
                                                             ByteView prefix,
                                                             std::size_t limit,
                                                             std::optional<ByteView> after = {});

  [[nodiscard]] GroupCommitStats stats() const { return commits_.stats(); }

 private:
  BitmapDatabase(std::unique_ptr<kv::Store> store, const DatabaseConfig& config)
      : store_(std::move(store)), config_(config), commits_(*store_) {}

  std::unique_ptr<kv::Store> store_;
  const DatabaseConfig config_;
  GroupCommit commits_;
};

}  // namespace cadastre::bitmap
