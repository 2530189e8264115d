#include "tests/log/raw_log.h"

#include <algorithm>
#include <cstdarg>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <rocksdb/iterator.h>
#include <rocksdb/listener.h>
#include <rocksdb/write_batch.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/endian.h"
#include "base/random.h"

namespace cadastre::log {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSetBytesMax = 33U << 20U;

// RocksDB would write a text log past the wrapped file system.
class SilentLogger final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, std::va_list /*arguments*/) override {}
};

// max_bgerror_resume_count does not cover a full disk: RocksDB's file manager waits for space and resumes.
class NoResume final : public rocksdb::EventListener {
 public:
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/,
                            rocksdb::Status /*error*/,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }
};

std::string key_of(std::uint64_t set) {
  std::string key(1 + sizeof set, '\x01');
  base::store_be(reinterpret_cast<std::byte*>(key.data() + 1), set);
  return key;
}

std::string value_of(std::uint64_t set, std::size_t bytes) {
  base::SeededRandom random(set);
  std::string value(bytes, '\0');
  for (char& c : value)
    c = static_cast<char>(random.next_u64());
  return value;
}

std::string number_of(std::uint64_t set) {
  std::string number(sizeof set + sizeof(std::uint32_t), '\0');
  const auto to = reinterpret_cast<std::byte*>(number.data());
  base::store_le(to, set);
  base::store_le(to + sizeof set, base::crc32c({to, sizeof set}));
  return number;
}

rocksdb::WALRecoveryMode mode_of(Way way) {
  switch (way) {
    case Way::kTolerant: return rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
    case Way::kPoint: return rocksdb::WALRecoveryMode::kPointInTimeRecovery;
    case Way::kAbsolute:
    case Way::kJudged: return rocksdb::WALRecoveryMode::kAbsoluteConsistency;
  }
  return rocksdb::WALRecoveryMode::kAbsoluteConsistency;
}

}  // namespace

TemporaryDirectory::TemporaryDirectory(Medium medium) {
  const fs::path memory = "/dev/shm";
  const bool in_memory = medium == Medium::kMemory && fs::is_directory(memory);
  const fs::path parent = in_memory ? memory : fs::temp_directory_path();
  std::string pattern = (parent / "cadastre_log_XXXXXX").string();
  CAD_CHECK(mkdtemp(pattern.data()) != nullptr, "a test can make a directory");
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code error;
  fs::remove_all(path_, error);
}

rocksdb::Options log_options(rocksdb::Env& env, rocksdb::WALRecoveryMode mode) {
  rocksdb::Options options;
  options.env = &env;
  options.info_log = std::make_shared<SilentLogger>();
  options.create_if_missing = true;
  options.wal_recovery_mode = mode;
  options.recycle_log_file_num = 0;
  options.track_and_verify_wals_in_manifest = true;
  options.paranoid_checks = true;
  options.max_bgerror_resume_count = 0;
  options.listeners.push_back(std::make_shared<NoResume>());
  options.avoid_flush_during_recovery = false;
  options.write_buffer_size = 64U << 20U;
  options.max_write_buffer_number = 4;
  options.max_total_wal_size = 512U << 20U;
  options.compression = rocksdb::kNoCompression;
  options.compaction_style = rocksdb::kCompactionStyleLevel;
  options.allow_concurrent_memtable_write = false;
  options.enable_pipelined_write = false;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  return options;
}

RawLog::RawLog(rocksdb::Env& env, const std::string& directory, rocksdb::WALRecoveryMode mode) {
  rocksdb::DB* db = nullptr;
  status_ = rocksdb::DB::Open(log_options(env, mode), directory, &db);
  db_.reset(db);
}

rocksdb::Status RawLog::write(std::uint64_t set, std::size_t value_bytes) {
  rocksdb::WriteBatch batch;
  rocksdb::Status status = batch.Put(key_of(set), value_of(set, value_bytes));
  if (status.ok()) status = batch.Put("\x02", number_of(set));
  rocksdb::WriteOptions options;
  options.sync = true;
  return status.ok() ? db_->Write(options, &batch) : status;
}

rocksdb::Status RawLog::begin_flush() {
  rocksdb::FlushOptions options;
  options.wait = false;
  return db_->Flush(options);
}

std::vector<std::uint64_t> RawLog::sets() const {
  std::vector<std::uint64_t> found;
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
  std::string last;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (it->key() == "\x02") {
      last = it->value().ToString();
      continue;
    }
    const auto set =
        base::load_be<std::uint64_t>(reinterpret_cast<const std::byte*>(it->key().data() + 1));
    CAD_CHECK(it->value() == value_of(set, it->value().size()), "an entry is as it was written");
    found.push_back(set);
  }
  CAD_CHECK(it->status().ok(), "an open log reads");
  CAD_CHECK(found.empty() || last == number_of(found.back()),
            "entry and number of a set come together");
  return found;
}

std::vector<std::string> wal_paths(const std::string& directory) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() == ".log") paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);  // Numbers are padded with zeros.
  return paths;
}

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  CAD_CHECK(!file.fail(), "a test can write a file");
}

base::Result<WalTail, WalDamage> judge_and_cut(const std::string& directory) {
  const std::vector<std::string> paths = wal_paths(directory);
  std::vector<std::string> contents;
  contents.reserve(paths.size());
  for (const std::string& path : paths)
    contents.push_back(read_bytes(path));
  std::vector<base::ByteView> files;
  files.reserve(contents.size());
  for (const std::string& content : contents)
    files.push_back(base::as_bytes(content));
  WalTail tail = CAD_TRY(judge_wals(files, kSetBytesMax));
  for (std::size_t i = 0; i < paths.size(); ++i)
    fs::resize_file(paths[i], tail.ends[i]);
  return tail;
}

std::string manifest_path(const std::string& directory) {
  std::string current = read_bytes(directory + "/CURRENT");
  if (current.empty()) return {};
  current.pop_back();  // The end of the line.
  return directory + "/" + current;
}

bool judge_and_cut_manifest(const std::string& directory) {
  const std::string path = manifest_path(directory);
  if (path.empty()) return true;
  const std::string content = read_bytes(path);
  const auto end = judge_manifest(base::as_bytes(content));
  if (!end) return false;
  fs::resize_file(path, *end);
  return true;
}

Outcome reopen(rocksdb::Env& env, const std::string& directory, Way way, std::uint64_t sets) {
  if (way == Way::kJudged && (!judge_and_cut(directory) || !judge_and_cut_manifest(directory)))
    return Outcome::kRefused;
  const RawLog log(env, directory, mode_of(way));
  if (!log.status().ok()) return Outcome::kRefused;
  const std::vector<std::uint64_t> found = log.sets();
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] != i + 1) return Outcome::kHole;
  }
  if (found.size() == sets) return Outcome::kAll;
  return found.size() + 1 == sets ? Outcome::kWithoutLast : Outcome::kFewer;
}

}  // namespace cadastre::log
