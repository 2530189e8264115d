// ReplicatedNode: the replicated backend on one disk, process after process, driven by hand on one thread.
//
//   MemoryNodeDisk disk;
//   ReplicatedNode node(disk);
//   ASSERT_TRUE(node.start());
//   node.facade().checkpoint(…);
//   node.end();                    // as kill -9 does
//   ASSERT_TRUE(node.start());     // on what the disk has

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/logger.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/replicated/machine.h"
#include "coord/replicated/replicated_backend.h"
#include "coord/replicated/settings.h"
#include "coord/replicated/snapshot_store.h"
#include "coord/sync_over_async.h"
#include "log/host.h"
#include "log/steps_testing.h"
#include "log/storage.h"
#include "log/storage/memory_storage.h"

namespace cadastre::coord::replicated {

// What outlives processes.
class NodeDisk {
 public:
  NodeDisk() = default;
  NodeDisk(const NodeDisk&) = delete;
  NodeDisk& operator=(const NodeDisk&) = delete;
  virtual ~NodeDisk() = default;

  [[nodiscard]] virtual base::Result<std::unique_ptr<log::LogStorage>, log::OpenError>
  open_log() = 0;
  [[nodiscard]] virtual SnapshotFiles& files() = 0;
};

// Files as bytes; everything is durable at once.
class MemoryFiles final : public SnapshotFiles {
 public:
  base::Result<std::optional<base::Bytes>, FileError> read(std::string_view name) override {
    const auto found = content.find(name);
    return found == content.end() ? std::nullopt : std::optional(found->second);
  }
  base::Result<void, FileError> write_synced(std::string_view name, base::ByteView bytes) override {
    if (refuses) return base::fail(FileError::kFailed, "no space left");
    content.insert_or_assign(std::string(name), base::to_owned(bytes));
    return {};
  }
  base::Result<void, FileError> rename(std::string_view from, std::string_view to) override {
    auto file = content.extract(std::string(from));
    file.key() = to;
    content.erase(std::string(to));
    content.insert(std::move(file));
    return {};
  }
  base::Result<void, FileError> sync_names() override { return {}; }

  std::map<std::string, base::Bytes, std::less<>> content;
  bool refuses = false;  // A full disk.
};

class MemoryNodeDisk final : public NodeDisk {
 public:
  base::Result<std::unique_ptr<log::LogStorage>, log::OpenError> open_log() override {
    return std::make_unique<log::MemoryStorage>(
        log_disk, log::NodeIdentity{log::ClusterId{1}, log::NodeId{1}});
  }
  SnapshotFiles& files() override { return snapshots; }

  log::MemoryDisk log_disk;
  MemoryFiles snapshots;
};

class ReplicatedNode {
 public:
  explicit ReplicatedNode(NodeDisk& disk, const Settings& settings = {})
      : disk_(disk), settings_(settings) {}
  ~ReplicatedNode() { end(); }
  ReplicatedNode(const ReplicatedNode&) = delete;
  ReplicatedNode& operator=(const ReplicatedNode&) = delete;

  // False: error() says why.
  [[nodiscard]] bool start();
  void end();
  [[nodiscard]] bool alive() const { return backend_ != nullptr && runner_->failed.empty(); }
  [[nodiscard]] bool started() const { return machine_ != nullptr; }
  [[nodiscard]] const std::string& error() const { return error_; }

  [[nodiscard]] CoordinationFacade& facade() { return *facade_; }
  [[nodiscard]] ReplicatedBackend& async() { return *backend_; }
  [[nodiscard]] Machine& machine() { return *machine_; }
  [[nodiscard]] log::Group& group() { return *group_; }
  void settle() { runner_->settle(*host_); }
  // The applier is asked to flush, and does.
  void flush() { machine_->request_flush(); }
  // Time goes on until the log has asked what is durable and truncated what it can.
  void keep_house();

 private:
  // At once, on the caller.
  class Inline final : public Background {
   public:
    void run(std::move_only_function<void()> task) override { task(); }
  };
  class Silent final : public base::LogSink {
   public:
    void write(base::LogLevel /*level*/, std::string_view /*line*/) override {}
  };

  [[nodiscard]] bool failed(std::string why);

  NodeDisk& disk_;
  const Settings settings_;
  base::ManualClock clock_;
  Silent sink_;
  const base::Logger logger_{sink_, clock_, base::LogForm::kText};
  Inline background_;
  std::string error_;
  std::unique_ptr<SnapshotStore> store_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<log::StepRunner> runner_;
  std::unique_ptr<log::LogStorage> storage_;
  std::unique_ptr<log::Host> host_;
  log::Group* group_ = nullptr;
  std::unique_ptr<ReplicatedBackend> backend_;
  std::unique_ptr<SyncOverAsync> facade_;
};

// Everything that a node holds, as one value.
struct Everything {
  std::vector<ShardDump> shards;
  std::vector<RunRecord> runs;
  std::vector<memory::CooldownDump> cooldowns;

  friend bool operator==(const Everything&, const Everything&) = default;
};
[[nodiscard]] Everything everything_of(const memory::MemoryBackend& records);
[[nodiscard]] Everything everything_of(Machine& machine);

}  // namespace cadastre::coord::replicated
