// CrashDisk: a node's disk (replicated_node.h) on the file system that knows what a crash could leave
// (tests/log/crash_file_system.h): the log's RocksDB and the snapshots on the same one.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include "base/bytes.h"
#include "base/result.h"
#include "coord/replicated/snapshot_store.h"
#include "log/storage.h"
#include "tests/coord/replicated_node.h"
#include "tests/log/crash_file_system.h"
#include "tests/log/raw_log.h"

namespace cadastre::coord::replicated {

class CrashFiles final : public SnapshotFiles {
 public:
  CrashFiles(log::CrashFileSystem& files, std::string directory)
      : files_(files), directory_(std::move(directory)) {}

  base::Result<std::optional<base::Bytes>, FileError> read(std::string_view name) override;
  base::Result<void, FileError> write_synced(std::string_view name, base::ByteView bytes) override;
  base::Result<void, FileError> rename(std::string_view from, std::string_view to) override;
  base::Result<void, FileError> sync_names() override;

 private:
  [[nodiscard]] std::string path(std::string_view name) const {
    return directory_ + "/" + std::string(name);
  }

  log::CrashFileSystem& files_;
  const std::string directory_;
};

class CrashDisk final : public NodeDisk {
 public:
  CrashDisk();

  base::Result<std::unique_ptr<log::LogStorage>, log::OpenError> open_log() override;
  SnapshotFiles& files() override { return *snapshots_; }
  [[nodiscard]] log::CrashFileSystem& system() noexcept { return *files_; }

 private:
  const log::TemporaryDirectory home_;
  const std::shared_ptr<log::CrashFileSystem> files_ = std::make_shared<log::CrashFileSystem>();
  const std::unique_ptr<rocksdb::Env> env_ = log::make_crash_env(files_);
  std::unique_ptr<CrashFiles> snapshots_;
};

}  // namespace cadastre::coord::replicated
