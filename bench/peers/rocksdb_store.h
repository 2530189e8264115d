// RocksdbStore: one row for each chunk of a set, changed by an associative merge operator: an insert
// appends a few bytes and reads nothing; readers and compactions unite what was appended.
//
//   key || u48_be chunk  ->  chunk_value.h
//
// One row for a whole set, the other way to use a merge operator, decodes megabytes for every answer.
// Keys of one benchmark have one length or are no prefixes of each other.

#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include "bench/peers/set_store.h"

namespace cadastre::bench {

[[nodiscard]] std::string rocksdb_version();

class RocksdbStore final : public SetStore {
 public:
  explicit RocksdbStore(std::string directory);

  [[nodiscard]] std::string_view name() const override { return "RocksDB merge"; }
  void begin() override { batch_.Clear(); }
  void insert(std::string_view key, Id id) override;
  void insert_many(std::string_view key, std::span<const Id> ids) override;
  // Reads and writes: an associative operator cannot take away.
  void remove_many(std::string_view key, std::span<const Id> ids) override;
  void commit() override;
  void set_durability(Durability durability) override;
  void compact(std::string_view key) override;
  [[nodiscard]] std::unique_ptr<SetReader> reader() override;
  [[nodiscard]] Space space() override;

 private:
  std::string directory_;
  std::unique_ptr<rocksdb::DB> database_;
  rocksdb::WriteBatch batch_;
  rocksdb::WriteOptions write_options_;
  std::vector<Id> sorted_;
};

}  // namespace cadastre::bench
