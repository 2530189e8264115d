// LogNode: a simulated process with the real log in it: Host, Group, Applier and an engine, on a disk of
// bytes, a clock that may be wrong, and a network to its clients and, if its groups are replicated, to the
// other voters.
//
// It is the log's Runner: what production does on threads are tasks of the scheduler here, each a little
// later than it was woken, by chance. A sync takes time, may hang and may fail. Disks outlive processes:
// crash() leaves what the disk model leaves, start() makes a new process of it.
//
// After each step it checks, and tells the world of:
//   order            truncated <= durable <= applied; committed and persisted <= last
//   nothing unsynced what was answered or executed lies in the synced part of the disk
//   agreement        an index has one digest, whatever crashed in between
//   nothing lost     after a start, whatever was answered before is there (of a local group)
//   the promises of replicated groups, by RaftOracle

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "log/host.h"
#include "log/transport.h"
#include "node/memory_log.h"
#include "sim/checkers/digest_agreement.h"
#include "sim/clock/node_clock.h"
#include "sim/log/messages.h"
#include "sim/log/raft_oracle.h"
#include "sim/log/register_machine.h"
#include "sim/network/network.h"
#include "sim/schedule/scheduler.h"

namespace cadastre::sim {

// Where a node reports, and what it shares with the others.
struct LogWorldParts {
  Scheduler& scheduler;
  Network& network;
  checkers::DigestAgreement& digests;
  RaftOracle& oracle;
  std::vector<std::string>& violations;
};

class LogNode final : public log::Runner, public FrameSink, public log::Transport {
 public:
  struct Options {
    NodeId id;
    std::uint64_t seed = 0;
    std::uint64_t groups = 1;
    std::uint64_t voters = 0;  // Nodes 1 to so many; 0: every node has groups of its own.
    log::Settings settings;
  };
  LogNode(const LogWorldParts& world, const Options& options);
  ~LogNode() override;

  void start();
  void crash(std::uint64_t unsynced_per_mille);
  [[nodiscard]] bool up() const noexcept { return host_ != nullptr; }
  // Its log was damaged, and it said so: it stays down.
  [[nodiscard]] bool lost() const noexcept { return lost_; }

  void slow_next_sync(std::chrono::nanoseconds lasts) { slow_sync_ = lasts; }
  // The process ends by its own hand, and is back after `down`.
  void fail_next_sync(std::chrono::nanoseconds down) { failed_sync_down_ = down; }
  // What was to go wrong does not.
  void forget_faults() noexcept {
    slow_sync_.reset();
    failed_sync_down_.reset();
  }
  void flip_bit(std::uint64_t luck);
  void flush(std::uint64_t group);
  [[nodiscard]] NodeClock& clock() noexcept { return clock_; }

  struct Counters {
    std::uint64_t starts = 0, crashes = 0, sets = 0, executed = 0, truncations = 0, flips_found = 0;
  };
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

  // log::Runner
  void wake_log() override;
  void wake_writer() override;
  void wake_applier(log::GroupId group) override;
  void fail_stop(std::string_view reason) override;

  // FrameSink
  void on_frame(const StreamId& stream, base::Bytes frame) override;
  void on_reset(const StreamId& stream) override;

  // log::Transport
  void send(log::NodeId to, log::Lane lane, std::vector<log::Frame> frames) override;

 private:
  struct HostedGroup {
    StateDisk disk;
    std::unique_ptr<RegisterMachine> machine;
    log::Group* face = nullptr;
    log::Index synced;                             // The last entry in the synced part of the disk.
    std::map<std::uint64_t, log::Index> answered;  // Commands whose senders were told "done".
    log::Index reported;                           // Up to here digests were reported.
  };

  void run_log();
  void begin_write();
  void finish_write(const log::WriteSet& set);
  void run_applier(log::GroupId group);
  void serve(NodeId client, const LogRequest& request);
  void reply(NodeId client, const LogReply& reply);
  void check(HostedGroup& hosted, log::GroupId id);
  void check_start(HostedGroup& hosted, log::GroupId id);
  [[nodiscard]] bool replicated() const noexcept { return options_.voters != 0; }
  [[nodiscard]] bool is_peer(NodeId node) const noexcept { return node.value() <= options_.voters; }
  [[nodiscard]] bool open_host();
  void open_group(HostedGroup& hosted, log::GroupId id);
  void violate(std::string what);
  // Local logs of different nodes have nothing to do with each other.
  [[nodiscard]] checkers::GroupId history_group(log::GroupId group) const;
  [[nodiscard]] std::chrono::nanoseconds jitter(std::chrono::nanoseconds most);

  const LogWorldParts world_;
  const Options options_;
  base::SeededRandom random_;
  NodeClock clock_;
  node::MemoryDisk disk_;
  std::map<log::GroupId, HostedGroup> groups_;
  Counters counters_;
  std::optional<std::chrono::nanoseconds> slow_sync_;
  std::optional<std::chrono::nanoseconds> failed_sync_down_;
  bool flipped_ = false;
  bool lost_ = false;

  // Of the process that runs now.
  std::unique_ptr<node::MemoryStorage> storage_;
  std::unique_ptr<log::Host> host_;
  bool dying_ = false;  // Its callbacks go nowhere.
  TaskId log_task_;
  TaskId timer_;
  TaskId writer_task_;
  std::map<log::GroupId, TaskId> applier_tasks_;
};

}  // namespace cadastre::sim
