// A log on plain RocksDB, with the options of the log's storage and nothing above: a history of numbered
// write sets, its directory with a byte of damage, and what each way of opening makes of it.
//
// One thread.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/options.h>

#include "base/result.h"
#include "log/storage/wal_scan.h"

namespace cadastre::log {

enum class Medium : std::uint8_t {
  kMemory,  // Where the machine has such a file system: CrashFileSystem decides what a crash leaves.
  kDisk,
};

// A directory of its own, gone with everything in it at the end.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(Medium medium = Medium::kMemory);
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();

  [[nodiscard]] std::string operator/(const std::string& child) const {
    return path_ + "/" + child;
  }

 private:
  std::string path_;
};

// The option table of the log's storage, with one of RocksDB's recovery modes.
[[nodiscard]] rocksdb::Options log_options(rocksdb::Env& env, rocksdb::WALRecoveryMode mode);

class RawLog {
 public:
  RawLog(rocksdb::Env& env, const std::string& directory, rocksdb::WALRecoveryMode mode);

  [[nodiscard]] const rocksdb::Status& status() const { return status_; }

  // One synced batch: an entry of `value_bytes` bytes that depend on the number, and the number with
  // its sum.
  rocksdb::Status write(std::uint64_t set, std::size_t value_bytes);
  // The next set begins a new file; the flush of the sets before goes on in the background.
  rocksdb::Status begin_flush();

  // The numbers of all sets whose entry is there and right.
  [[nodiscard]] std::vector<std::uint64_t> sets() const;

 private:
  rocksdb::Status status_;
  std::unique_ptr<rocksdb::DB> db_;
};

// The write-ahead files of a directory, by ascending number; its manifest; a file's bytes.
[[nodiscard]] std::vector<std::string> wal_paths(const std::string& directory);
// Empty if there is no database yet.
[[nodiscard]] std::string manifest_path(const std::string& directory);
[[nodiscard]] std::string read_bytes(const std::string& path);
void write_bytes(const std::string& path, const std::string& bytes);

// How a directory is opened.
enum class Way : std::uint8_t {
  kTolerant,  // RocksDB's kTolerateCorruptedTailRecords
  kPoint,     // kPointInTimeRecovery
  kAbsolute,  // kAbsoluteConsistency
  kJudged,    // judge_wals, cut the torn set off, then kAbsoluteConsistency
};

// What came of it, for a log of sets 1 to n.
enum class Outcome : std::uint8_t {
  kRefused,      // It does not open.
  kAll,          // 1 to n.
  kWithoutLast,  // 1 to n - 1.
  kFewer,        // 1 to some k < n - 1: synced sets are lost in silence.
  kHole,         // Sets are missing before others that are there.
};
[[nodiscard]] Outcome reopen(rocksdb::Env& env,
                             const std::string& directory,
                             Way way,
                             std::uint64_t sets);

// What an implementation does before it opens: judges all files and cuts a torn set off.
[[nodiscard]] base::Result<WalTail, WalDamage> judge_and_cut(const std::string& directory);
[[nodiscard]] bool judge_and_cut_manifest(const std::string& directory);

}  // namespace cadastre::log
