// A RocksDB database opened only to look: nothing in its directory changes, not even RocksDB's own notes.

#pragma once

#include <filesystem>
#include <memory>

#include <rocksdb/db.h>
#include <rocksdb/options.h>

namespace cadastre::log {

[[nodiscard]] rocksdb::Status open_read_only(const std::filesystem::path& directory,
                                             rocksdb::WALRecoveryMode mode,
                                             std::unique_ptr<rocksdb::DB>& database);

}  // namespace cadastre::log
