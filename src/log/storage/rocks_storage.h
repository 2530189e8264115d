// RocksStorage: the log database of a node, on RocksDB (spec section 4).
//
// Every set is one write batch and one sync, so at most one record of the write-ahead log is ever
// unsynced. At open the files are judged before RocksDB sees them: a torn last set is what a crash
// leaves and is cut off, anything else is damage and is not opened (log_tail.h). An I/O error ends the
// storage, also one that a background thread met: nothing is retried, nothing resumes by itself, every
// later write fails.
//
// The directory holds RocksDB's files, OWNER (base/directory_lock.h) and NODE (rocks_directory.h), and
// nothing else: with any other file in it, or with another's database, it is not opened and not touched.
//
// write() belongs to one thread; read() may be called from any.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "base/directory_lock.h"
#include "base/result.h"
#include "log/limits.h"
#include "log/storage.h"
#include "log/storage/log_tail.h"
#include "log/storage/records.h"

namespace rocksdb {
class DB;
class Env;
class WriteBatch;
}  // namespace rocksdb

namespace cadastre::log {

struct RocksOptions {
  std::filesystem::path directory;  // Made if it is not there; its parent is.
  NodeIdentity identity;
  std::uint64_t created_ms = 0;  // Wall clock, for the record of a new directory.
  rocksdb::Env* env = nullptr;   // Nothing: the operating system's. Outlives the storage.
  std::size_t memtable_bytes =
      64 * kMiB;  // Of sets that are not in a table yet: smaller in tests only.
};

class BackgroundErrors;

class RocksStorage final : public LogStorage {
 public:
  [[nodiscard]] static base::Result<std::unique_ptr<RocksStorage>, OpenError> open(
      const RocksOptions& options);
  ~RocksStorage() override;

  // Makes another node's log of the one in `options`, which nobody has open. Killed in between, the log is the one
  // node's or the other's.
  [[nodiscard]] static base::Result<void, OpenError> give_to(const RocksOptions& options,
                                                             NodeIdentity to);

  [[nodiscard]] base::Result<Recovered, OpenError> recover() override;
  [[nodiscard]] base::Result<void, WriteError> write(const WriteSet& set) override;
  [[nodiscard]] base::Result<std::vector<Entry>, LogReadError> read(GroupId group,
                                                                    Incarnation incarnation,
                                                                    Index low,
                                                                    Index high,
                                                                    std::size_t bytes_max) override;
  [[nodiscard]] StorageUsage usage() const override;

  // What a crash had torn and the open cut off.
  [[nodiscard]] const std::vector<TornTail>& torn() const noexcept { return torn_; }

 private:
  struct Opened {
    base::DirectoryLock lock;
    std::shared_ptr<BackgroundErrors> errors;
    std::unique_ptr<rocksdb::Env> env;
    std::unique_ptr<rocksdb::DB> database;
    std::vector<TornTail> torn;
  };
  RocksStorage(Opened opened, NodeIdentity identity);

  base::Result<void, OpenError> write_node(const RocksOptions& options, NodeIdentity identity);
  base::Result<void, OpenError> check_or_write_node(const RocksOptions& options,
                                                    std::optional<NodeIdentity> named);

  const base::DirectoryLock lock_;                  // Released after the database is closed.
  const std::shared_ptr<BackgroundErrors> errors_;  // RocksDB holds it, too.
  const std::unique_ptr<rocksdb::Env> env_;
  const std::unique_ptr<rocksdb::DB> database_;
  const std::vector<TornTail> torn_;
  const NodeIdentity identity_;
  const std::unique_ptr<rocksdb::WriteBatch> batch_;  // The writer's, used again and again.
  SetNumber last_set_;
};

}  // namespace cadastre::log
