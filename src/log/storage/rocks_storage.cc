#include "log/storage/rocks_storage.h"

#include <array>
#include <cstdarg>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/listener.h>
#include <rocksdb/memtablerep.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include "base/check.h"
#include "base/mutex.h"
#include "log/storage/image_reader.h"
#include "log/storage/rocks_directory.h"
#include "log/storage/rocks_read_only.h"
#include "log/storage/stepwise_deletes.h"
#include "log/storage/write_plan.h"

namespace cadastre::log {

// What RocksDB's own threads could not do. A failed flush is a failed write that the writer does not see;
// from then on it sees it. Called from any thread.
class BackgroundErrors final : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason /*reason*/,
                         rocksdb::Status* error) override {
    const base::MutexLock lock(mutex_);
    if (first_.empty()) first_ = error->ToString();
  }
  // max_bgerror_resume_count does not cover a full disk.
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/,
                            rocksdb::Status /*error*/,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }

  // Empty: there was none.
  [[nodiscard]] std::string first() const CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    return first_;
  }

 private:
  mutable base::Mutex mutex_;
  std::string first_ CAD_GUARDED_BY(mutex_);
};

namespace {

rocksdb::Slice slice(ByteView bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
ByteView view(const rocksdb::Slice& slice) noexcept {
  return {reinterpret_cast<const std::byte*>(slice.data()), slice.size()};
}

// RocksDB's own notes go nowhere. Their file would lie on the disk that they complain about: when it is
// full, Debian's RocksDB ends the process because a note could not be written, before we say why. What
// matters comes back as a status.
class NoNotes final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

rocksdb::Env& env_of(const RocksOptions& ours) {
  return ours.env == nullptr ? *rocksdb::Env::Default() : *ours.env;
}

// The table of spec 4.2, with its reasons.
rocksdb::Options options_of(const RocksOptions& ours, rocksdb::Env& env) {
  rocksdb::Options options;
  options.env = &env;
  options.create_if_missing = true;  // Only reached when the directory is empty or a database.
  // What a crash tore is gone by now (log_tail.h): whatever is still refused is damage.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kAbsoluteConsistency;
  options.avoid_flush_during_recovery =
      false;  // What was read becomes durable before anyone relies on it.
  options.recycle_log_file_num = 0;
  options.track_and_verify_wals_in_manifest = true;
  options.paranoid_checks = true;
  options.max_bgerror_resume_count = 0;
  // Most entries die in the memtable: a flush drops what a range erase in the same memtable covers.
  options.write_buffer_size = ours.memtable_bytes;
  options.max_write_buffer_number = 4;
  options.max_total_wal_size = 512 * kMiB;
  options.compression = rocksdb::kNoCompression;
  options.bottommost_compression = rocksdb::kNoCompression;
  options.compaction_style = rocksdb::kCompactionStyleLevel;
  // Written in order of time, sorted when it is flushed: a sorted table costs half the processor with many
  // groups. Whoever reads what is not flushed yet pays for a sort: nobody does while all goes well.
  options.memtable_factory = std::make_shared<rocksdb::VectorRepFactory>();
  options.allow_concurrent_memtable_write = false;  // One writer.
  options.enable_pipelined_write = false;
  options.avoid_flush_during_shutdown = true;  // Everything is in the write-ahead log, synced.
  options.max_background_jobs = 2;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.info_log = std::make_shared<NoNotes>();
  return options;
}

class BatchSink final : public RecordSink {
 public:
  explicit BatchSink(rocksdb::WriteBatch& batch) noexcept : batch_(batch) {}

  void put(ByteView key, std::span<const ByteView> value) override {
    constexpr std::size_t kPartsMax = 3;
    CAD_CHECK(value.size() <= kPartsMax, "a value has head, body and sum");
    const rocksdb::Slice key_slice = slice(key);
    std::array<rocksdb::Slice, kPartsMax> parts;
    for (std::size_t i = 0; i < value.size(); ++i)
      parts[i] = slice(value[i]);
    check(batch_.Put(rocksdb::SliceParts(&key_slice, 1),
                     rocksdb::SliceParts(parts.data(), static_cast<int>(value.size()))));
  }
  void erase(ByteView key) override { check(batch_.Delete(slice(key))); }
  void erase_range(ByteView begin, ByteView end) override {
    check(batch_.DeleteRange(slice(begin), slice(end)));
  }

 private:
  static void check(const rocksdb::Status& status) {
    CAD_CHECK(status.ok(), "a write batch in memory has no bound of its own");
  }

  rocksdb::WriteBatch& batch_;
};

class RocksCursor final : public RecordCursor {
 public:
  explicit RocksCursor(rocksdb::DB& database) : iterator_(database.NewIterator(read_options())) {}
  // Never leaves [begin, end).
  RocksCursor(rocksdb::DB& database, const RecordKey& begin, const RecordKey& end)
      : begin_(begin), end_(end), iterator_(bounded(database)) {}

  void seek(ByteView key) override { iterator_->Seek(slice(key)); }
  void next() override { iterator_->Next(); }
  [[nodiscard]] bool valid() const override { return iterator_->Valid(); }
  [[nodiscard]] ByteView key() const override { return view(iterator_->key()); }
  [[nodiscard]] ByteView value() const override { return view(iterator_->value()); }
  [[nodiscard]] std::string error() const override {
    return iterator_->status().ok() ? std::string() : iterator_->status().ToString();
  }

 private:
  static rocksdb::ReadOptions read_options() {
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    options.verify_checksums = true;
    return options;
  }

  rocksdb::Iterator* bounded(rocksdb::DB& database) {
    begin_slice_ = slice(begin_.view());
    end_slice_ = slice(end_.view());
    rocksdb::ReadOptions options = read_options();
    options.iterate_lower_bound = &begin_slice_;
    options.iterate_upper_bound = &end_slice_;
    return database.NewIterator(options);
  }

  const RecordKey begin_;
  const RecordKey end_;
  rocksdb::Slice begin_slice_;  // The iterator borrows both.
  rocksdb::Slice end_slice_;
  const std::unique_ptr<rocksdb::Iterator> iterator_;
};

base::Result<base::DirectoryLock, OpenError> lock_directory(
    const std::filesystem::path& directory) {
  auto lock =
      base::DirectoryLock::acquire((directory / kOwnerFile).string(), base::LockKind::kWriter);
  if (lock) return std::move(*lock);
  const base::LockRefused& refused = lock.error();
  if (refused.system_code != 0) {
    return base::fail(
        OpenError::kCannotOpen,
        fmt::format("{}: {}", directory.string(),
                    std::error_code(refused.system_code, std::generic_category()).message()));
  }
  return base::fail(OpenError::kLocked, fmt::format("{} belongs to process {}", directory.string(),
                                                    refused.holder_pid));
}

OpenError code_of(const rocksdb::Status& status) noexcept {
  // A file that CURRENT or the manifest names and that is not there was lost: we looked before.
  if (status.IsCorruption() || status.IsPathNotFound()) return OpenError::kDamaged;
  return OpenError::kCannotOpen;
}

// Makes the names in a directory durable.
rocksdb::Status sync_names(rocksdb::Env& env, const std::filesystem::path& directory) {
  std::unique_ptr<rocksdb::Directory> opened;
  const rocksdb::Status status = env.NewDirectory(directory.string(), &opened);
  return status.ok() ? opened->Fsync() : status;
}

rocksdb::WriteOptions synced() {
  rocksdb::WriteOptions options;
  options.sync = true;
  return options;
}

// A database without NODE is one whose making was cut short, or not ours.
base::Result<void, OpenError> look_inside(const std::filesystem::path& directory) {
  std::unique_ptr<rocksdb::DB> database;
  const rocksdb::Status status =
      open_read_only(directory, rocksdb::WALRecoveryMode::kPointInTimeRecovery, database);
  if (!status.ok()) return {};  // What is damaged is judged next, with file and offset.
  RocksCursor cursor(*database);
  cursor.seek({});
  if (!cursor.valid()) return {};
  const auto node = read_node_record(cursor);
  if (node || node.error().code != OpenError::kForeign) return {};
  return base::fail(OpenError::kForeign, directory.string() + " is another program's database");
}

// Whose log it is, before anything is touched.
base::Result<std::optional<NodeIdentity>, OpenError> check_owner(const RocksOptions& options,
                                                                 DirectoryContent content) {
  if (content == DirectoryContent::kNothing) return std::nullopt;
  const auto named = CAD_TRY(read_node_file(options.directory));
  if (!named) {
    CAD_TRY(look_inside(options.directory));
  } else if (!(*named == options.identity)) {
    return base::fail(
        OpenError::kForeign,
        fmt::format("{} is the log of node {} of cluster {}", options.directory.string(),
                    named->node.value(), named->cluster.value()));
  }
  return named;
}

}  // namespace

RocksStorage::RocksStorage(Opened opened, NodeIdentity identity)
    : lock_(std::move(opened.lock)),
      errors_(std::move(opened.errors)),
      env_(std::move(opened.env)),
      database_(std::move(opened.database)),
      torn_(std::move(opened.torn)),
      identity_(identity),
      batch_(std::make_unique<rocksdb::WriteBatch>()) {}

RocksStorage::~RocksStorage() = default;

base::Result<std::unique_ptr<RocksStorage>, OpenError> RocksStorage::open(
    const RocksOptions& options) {
  const DirectoryContent content = CAD_TRY(look_at_directory(options.directory));
  const auto named = CAD_TRY(check_owner(options, content));
  if (content == DirectoryContent::kNothing) {
    std::error_code error;
    std::filesystem::create_directory(options.directory, error);
    if (error) {
      return base::fail(OpenError::kCannotOpen,
                        fmt::format("{}: {}", options.directory.string(), error.message()));
    }
    const std::filesystem::path parent = options.directory.parent_path();
    const rocksdb::Status named = sync_names(env_of(options), parent.empty() ? "." : parent);
    if (!named.ok()) return base::fail(OpenError::kCannotOpen, named.ToString());
  }
  Opened opened {
    CAD_TRY(lock_directory(options.directory))
    , std::make_shared<BackgroundErrors>(), stepwise_deletes(env_of(options)), nullptr, {}
  };
  if (content == DirectoryContent::kDatabase) {
    opened.torn = CAD_TRY(judge_tail(options.directory));
    CAD_TRY(cut_tails(opened.torn));
  }
  rocksdb::Options database_options = options_of(options, *opened.env);
  database_options.listeners.push_back(opened.errors);
  rocksdb::DB* database = nullptr;
  rocksdb::Status status =
      rocksdb::DB::Open(database_options, options.directory.string(), &database);
  if (!status.ok()) {
    return base::fail(code_of(status),
                      fmt::format("{}: {}", options.directory.string(), status.ToString()));
  }
  opened.database.reset(database);
  // Files that recovery deleted must not come back.
  status = sync_names(env_of(options), options.directory);
  if (!status.ok()) return base::fail(OpenError::kCannotOpen, status.ToString());
  std::unique_ptr<RocksStorage> storage(new RocksStorage(std::move(opened), options.identity));
  CAD_TRY(storage->check_or_write_node(options, named));
  return storage;
}

base::Result<void, OpenError> RocksStorage::check_or_write_node(const RocksOptions& options,
                                                                std::optional<NodeIdentity> named) {
  {
    RocksCursor cursor(*database_);
    cursor.seek({});
    if (cursor.valid() || !cursor.error().empty()) {
      const NodeRecord node = CAD_TRY(read_node_record(cursor));
      if (node.identity == identity_)
        return named ? base::Result<void, OpenError>{}
                     : write_node_file(options.directory, identity_);
      return base::fail(
          OpenError::kForeign,
          fmt::format("{} is the log of node {} of cluster {}", options.directory.string(),
                      node.identity.node.value(), node.identity.cluster.value()));
    }
  }
  if (named) {
    return base::fail(OpenError::kDamaged,
                      fmt::format("{}: NODE is there, but the database has lost everything",
                                  options.directory.string()));
  }
  return write_node(options, identity_);
}

base::Result<void, OpenError> RocksStorage::write_node(const RocksOptions& options,
                                                       NodeIdentity identity) {
  const RecordKey key = node_key();
  const Bytes value = encode_node({.identity = identity, .created_ms = options.created_ms});
  const auto sum = record_sum(key.view(), value);
  BatchSink(*batch_).put(key.view(), std::array<ByteView, 2>{ByteView{value}, ByteView{sum}});
  const rocksdb::Status status = database_->Write(synced(), batch_.get());
  batch_->Clear();
  if (!status.ok()) return base::fail(OpenError::kCannotOpen, status.ToString());
  return write_node_file(options.directory, identity);
}

base::Result<void, OpenError> RocksStorage::give_to(const RocksOptions& options, NodeIdentity to) {
  if (options.identity == to) return {};
  const auto storage = CAD_TRY(open(options));
  // Without the file the record alone says whose log it is.
  CAD_TRY(remove_node_file(options.directory));
  return storage->write_node(options, to);
}

base::Result<LogStorage::Recovered, OpenError> RocksStorage::recover() {
  RocksCursor cursor(*database_);
  Recovered recovered = CAD_TRY(read_images(cursor));
  last_set_ = recovered.last_set;
  return recovered;
}

base::Result<void, WriteError> RocksStorage::write(const WriteSet& set) {
  CAD_CHECK(set.number.value() == last_set_.value() + 1, "sets are written in order, each once");
  if (const std::string failed = errors_->first(); !failed.empty())
    return base::fail(WriteError::kFailed, failed);
  BatchSink sink(*batch_);
  write_records(set, sink);
  const rocksdb::Status status = database_->Write(synced(), batch_.get());
  batch_->Clear();
  if (!status.ok())
    return base::fail(status.IsNoSpace() ? WriteError::kDiskFull : WriteError::kFailed,
                      status.ToString());
  last_set_ = set.number;
  return {};
}

base::Result<std::vector<Entry>, LogReadError> RocksStorage::read(
    GroupId group, Incarnation incarnation, Index low, Index high, std::size_t bytes_max) {
  const GroupKey key{group, incarnation};
  RocksCursor cursor(*database_, entry_key(key, low), entry_key(key, high + 1));
  return read_entries(cursor, {.group = key, .low = low, .high = high, .bytes_max = bytes_max});
}

StorageUsage RocksStorage::usage() const {
  std::uint64_t tables = 0;
  std::uint64_t memory = 0;
  database_->GetIntProperty(rocksdb::DB::Properties::kTotalSstFilesSize, &tables);
  database_->GetIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &memory);
  return {tables + memory};
}

}  // namespace cadastre::log
