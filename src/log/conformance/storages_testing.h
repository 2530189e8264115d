// The storages that the suites run on: frames in memory, and RocksDB in a directory of its own.

#pragma once

#include <filesystem>
#include <memory>
#include <utility>

#include "log/conformance/storage_suite_testing.h"
#include "log/storage/directory_testing.h"
#include "log/storage/memory_storage.h"
#include "log/storage/rocks_storage.h"

namespace cadastre::log::conformance {

class MemoryStorageDisk final : public StorageDisk {
 public:
  [[nodiscard]] base::Result<std::unique_ptr<LogStorage>, OpenError> open(
      NodeIdentity identity) override {
    return std::make_unique<MemoryStorage>(disk, identity);
  }

  MemoryDisk disk;
};

class RocksStorageDisk final : public StorageDisk {
 public:
  [[nodiscard]] base::Result<std::unique_ptr<LogStorage>, OpenError> open(
      NodeIdentity identity) override {
    RocksOptions options;
    options.directory = directory();
    options.identity = identity;
    return CAD_TRY(RocksStorage::open(options));
  }
  [[nodiscard]] std::filesystem::path directory() const { return scratch_.path() / "log"; }

 private:
  ScratchDirectory scratch_{Medium::kMemory};
};

[[nodiscard]] inline StorageFactory memory_storage() {
  return {"memory", [] {
            return std::make_unique<MemoryStorageDisk>();
          }};
}
[[nodiscard]] inline StorageFactory rocks_storage() {
  return {"rocks", [] {
            return std::make_unique<RocksStorageDisk>();
          }};
}

}  // namespace cadastre::log::conformance
