// CrashNode: a node's log with eight groups on files that crash, driven step by step, and everything that
// its callers were told. Each start checks what is there against that:
//
//   kept      what an earlier start had found is there, with everything that was answered (L-2)
//   order     nothing is there twice, nothing that was not proposed, nothing out of order (L-4, L-5)
//   sets      a round of commands, one set over all groups, is there in all of them or in none (R17)
//   digests   the states are what an independent replay of the log makes of what they had flushed (L-25)
//   terms     every group opens in the term after the log's last, the same for all (L-22)
//
// One thread, apart from RocksDB's own.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <rocksdb/env.h>

#include "base/clock.h"
#include "base/result.h"
#include "log/host.h"
#include "log/ledger_testing.h"
#include "log/steps_testing.h"
#include "log/storage/rocks_storage.h"
#include "tests/log/crash_file_system.h"
#include "tests/log/raw_log.h"

namespace cadastre::log {

class CrashNode {
 public:
  static constexpr std::size_t kGroups = 8;
  // Smaller than the commands of two rounds of large ones: tables are written while the node works.
  static constexpr std::size_t kMemtableBytes = 64 * kKiB;

  CrashNode() = default;
  CrashNode(const CrashNode&) = delete;
  CrashNode& operator=(const CrashNode&) = delete;
  // Another machine with the same files and states. The original has ended.
  explicit CrashNode(const std::unique_ptr<CrashNode>& original);
  ~CrashNode() { end_process(); }

  [[nodiscard]] CrashFileSystem& files() noexcept { return *files_; }
  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }

  [[nodiscard]] base::Result<std::unique_ptr<RocksStorage>, OpenError> open_storage() const;
  // A process starts and opens all groups. False: it ended at once, which only a crash or a fault of
  // the files excuses.
  [[nodiscard]] bool start();
  [[nodiscard]] bool alive() const { return host_ != nullptr && runner_->failed.empty(); }

  // As many commands of `bytes` bytes for each group, in one set; runs until nothing has work.
  void round(std::size_t bytes, std::size_t commands = 1);
  // So many entries for the first group alone, many in a set, all of them answered.
  void grow(std::size_t entries);
  // Every `step`-th state is flushed.
  void flush_states(std::size_t step);
  // Time goes on until the loop has asked for what is durable and truncated what it can.
  void keep_house();

  // Everything that was proposed in this life has been answered with its execution.
  [[nodiscard]] bool all_answered() const;
  [[nodiscard]] std::uint64_t sets() const { return host_->metrics().set_groups.read().count(); }
  [[nodiscard]] std::uint64_t truncations() const { return host_->metrics().truncations.load(); }
  [[nodiscard]] const std::string& failed() const { return runner_->failed; }

  // The process ends as it stands; the machine goes on. States lose what they have not flushed.
  void end_process();
  // The machine ends, too, and comes up with what the policy leaves.
  void crash(const CrashPolicy& policy);

 private:
  struct Member {
    GroupId id;
    LedgerDisk disk;
    std::unique_ptr<LedgerMachine> machine;
    Group* group = nullptr;
    std::vector<std::string> kept;      // Found by the last start.
    std::vector<std::string> proposed;  // Since then, in order.
    std::size_t answered = 0;           // So many of them, from the front.
  };

  [[nodiscard]] bool open_all();
  void propose(Member& member, std::size_t bytes);
  void note_answer(Member& member, const Answer& answer);
  [[nodiscard]] LedgerState replayed(const Member& member, const GroupImage& image);
  // Compares what is there with what was told, and makes it what is kept. Commands of this life found.
  [[nodiscard]] std::size_t check_commands(Member& member);
  void settle();

  const TemporaryDirectory home_;
  const std::string directory_ = home_ / "log";
  const std::shared_ptr<CrashFileSystem> files_ = std::make_shared<CrashFileSystem>();
  const std::unique_ptr<rocksdb::Env> env_ = make_crash_env(files_);
  base::ManualClock clock_;
  std::array<Member, kGroups> members_;
  std::uint64_t commands_ = 0;  // Proposed in all lives.
  Term term_;                   // Of the last start that was led.
  std::unique_ptr<StepRunner> runner_;
  std::unique_ptr<RocksStorage> storage_;
  std::unique_ptr<Host> host_;
};

}  // namespace cadastre::log
