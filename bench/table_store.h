// TableStore: ours behind the interface of the peers. A bitmap table on LMDB, in transactions that this
// class begins and commits.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "bench/peers/set_store.h"
#include "bitmap/bitmap_database.h"
#include "bitmap/segment_form.h"
#include "bitmap/table_writer.h"
#include "kv/lmdb/lmdb_options.h"
#include "kv/lmdb/lmdb_store.h"
#include "kv/store.h"

namespace cadastre::bench {

class TableStore final : public SetStore {
 public:
  explicit TableStore(std::string directory, kv::lmdb::Writes writes = kv::lmdb::Writes::kByCall);
  ~TableStore() override;

  [[nodiscard]] std::string_view name() const override { return "ours"; }
  void begin() override;
  void insert(std::string_view key, Id id) override;
  void insert_many(std::string_view key, std::span<const Id> ids) override;
  void remove_many(std::string_view key, std::span<const Id> ids) override;
  void commit() override;
  // Shares a transaction with other callers.
  void insert_alone(std::string_view key, Id id) override;
  // Opens the directory again.
  void set_durability(Durability durability) override;
  void compact(std::string_view key) override;
  [[nodiscard]] std::unique_ptr<SetReader> reader() override;
  [[nodiscard]] Space space() override;

  // Readers to come check so much of a segment.
  void set_point_reads(bitmap::ReadCheck check) { point_reads_ = check; }
  // The ids that an operation on two streams gives.
  void visit_combined(SetOperation operation,
                      std::string_view a,
                      std::string_view b,
                      VisitIds visit);
  // What the segments of a key take, without pages around them.
  [[nodiscard]] std::uint64_t value_bytes(std::string_view key);

 private:
  void open(Durability durability);

  std::string directory_;
  const kv::lmdb::Writes writes_;
  base::SystemClock clock_;
  std::unique_ptr<bitmap::BitmapDatabase> database_;
  kv::lmdb::LmdbStore* store_ = nullptr;  // The database's own.
  kv::SpaceId space_;
  std::unique_ptr<kv::WriteTransaction> txn_;
  std::optional<bitmap::TableWriter> table_;  // Of the transaction.
  bitmap::ReadCheck point_reads_ = bitmap::ReadCheck::kStructure;
};

}  // namespace cadastre::bench
