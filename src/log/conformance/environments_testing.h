// The environments that the engine suite runs in.

#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "log/conformance/engine_suite_testing.h"
#include "log/conformance/storage_suite_testing.h"
#include "log/storage/directory_testing.h"
#include "log/storage/memory_storage.h"
#include "log/storage/rocks_storage.h"

namespace cadastre::log::conformance {

class MemoryEngineDisk final : public EngineDisk {
 public:
  [[nodiscard]] base::Result<std::unique_ptr<LogStorage>, OpenError> open() override {
    return std::make_unique<MemoryStorage>(disk_, kIdentity);
  }
  void append(LogStorage& storage, const WriteSet& set) override {
    static_cast<MemoryStorage&>(storage).append(set);
  }
  [[nodiscard]] WriteResult sync(LogStorage& storage, const WriteSet&) override {
    static_cast<MemoryStorage&>(storage).sync();
    return {};
  }
  void crash(Unsynced unsynced) override {
    const std::size_t bytes = disk_.unsynced_bytes();
    switch (unsynced) {
      case Unsynced::kDropped: return disk_.crash(0);
      case Unsynced::kCut: return disk_.crash(bytes / 2);
      case Unsynced::kKept: return disk_.crash(bytes);
    }
  }
  [[nodiscard]] std::vector<Unsynced> fates() const override {
    return {Unsynced::kDropped, Unsynced::kCut, Unsynced::kKept};
  }

 private:
  MemoryDisk disk_;
};

class RocksEngineDisk final : public EngineDisk {
 public:
  [[nodiscard]] base::Result<std::unique_ptr<LogStorage>, OpenError> open() override {
    RocksOptions options;
    options.directory = scratch_.path() / "log";
    options.identity = kIdentity;
    return CAD_TRY(RocksStorage::open(options));
  }
  void append(LogStorage&, const WriteSet&) override {}
  [[nodiscard]] WriteResult sync(LogStorage& storage, const WriteSet& set) override {
    return storage.write(set);
  }
  void crash(Unsynced) override {}
  [[nodiscard]] std::vector<Unsynced> fates() const override { return {Unsynced::kDropped}; }

 private:
  ScratchDirectory scratch_{Medium::kMemory};
};

[[nodiscard]] inline base::Result<Group*, OpenError> open_local(Host& host,
                                                                const GroupOptions& options) {
  return host.open_group(options);
}

[[nodiscard]] inline GroupWrite first_local_write(GroupId group, Body body) {
  GroupWrite write;
  write.group = group;
  write.incarnation = Incarnation{1};
  write.created = EngineKind::kLocal;
  write.last = {Term{1}, Index{1}};
  write.entries.push_back({write.last, EntryType::kNormal, std::move(body)});
  write.state = HardState{.term = Term{1}, .vote = {}, .commit = {}};
  return write;
}

[[nodiscard]] inline Environment local_on_memory() {
  return {"local_on_memory", [] { return std::make_unique<MemoryEngineDisk>(); }, open_local,
          first_local_write};
}
[[nodiscard]] inline Environment local_on_rocks() {
  return {"local_on_rocks", [] { return std::make_unique<RocksEngineDisk>(); }, open_local,
          first_local_write};
}

}  // namespace cadastre::log::conformance
