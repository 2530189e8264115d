#include "log/storage/rocks_read_only.h"

#include <cstdarg>

#include <rocksdb/env.h>

namespace cadastre::log {
namespace {

// RocksDB would write its own text log into the directory.
class SilentLogger final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

}  // namespace

rocksdb::Status open_read_only(const std::filesystem::path& directory,
                               rocksdb::WALRecoveryMode mode,
                               std::unique_ptr<rocksdb::DB>& database) {
  rocksdb::Options options;
  options.wal_recovery_mode = mode;
  options.paranoid_checks = mode == rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  options.info_log = std::make_shared<SilentLogger>();
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(options, directory.string(), &opened);
  database.reset(opened);
  return status;
}

}  // namespace cadastre::log
