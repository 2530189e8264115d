// LogNode: a simulated process with the real log in it: Host, Group, Applier and an engine, on a disk of
// bytes, a clock that may be wrong, and a network to its clients and, if its groups are replicated, to the
// other voters.
//
// It is the log's Runner: what production does on threads are tasks of the scheduler here, each a little
// later than it was woken, by chance. A sync takes time, may hang and may fail. Disks outlive processes:
// crash() leaves what the disk model leaves, start() makes a new process of it. Files of checkpoints travel between
// nodes by CheckpointCarrier. What nodes say to each other names the process that says it, and is admitted as
// production does: letters of a process that died come late, and are refused once its successor was heard.
//
// After each step it checks, and tells the world of:
//   order            truncated <= durable <= applied <= min(committed, persisted) <= last. While a snapshot is
//                    installed, the log may begin at it before the state does; not after a start
//   bounds           no queue of the log is longer than its limit, and what queues count is what is open
//   completions      each callback is called once, at the latest by the end of its process
//   nothing unsynced what was answered or executed lies in the synced part of the disk
//   agreement        an index has one digest, whatever crashed or was installed in between
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
#include <utility>
#include <vector>

#include "base/boot_clock.h"
#include "base/random.h"
#include "log/conf_context.h"
#include "log/host.h"
#include "log/peer_pacing.h"
#include "log/transport.h"
#include "node/memory_log.h"
#include "server/peer_admission.h"
#include "sim/checkers/digest_agreement.h"
#include "sim/clock/node_clock.h"
#include "sim/log/checkpoint_carrier.h"
#include "sim/log/completion_ledger.h"
#include "sim/log/messages.h"
#include "sim/log/piece_shelf.h"
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

class LogNode final : public log::Runner,
                      public FrameSink,
                      public log::Transport,
                      public log::MembershipListener {
 public:
  struct Options {
    NodeId id;
    std::uint64_t seed = 0;
    std::uint64_t groups = 1;
    std::uint64_t peers = 0;     // Nodes 1 to so many share groups; 0: every node has its own.
    std::uint64_t founders = 0;  // The first voters of shared groups,
    std::uint64_t joiners = 0;   // and the last node that may join them at any time.
    std::size_t voters_min = 2;  // That a change leaves.
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
  void fail_next_sync(std::chrono::nanoseconds down) {
    failure_ = {log::WriteError::kFailed, down};
  }
  // The same of the next write, since the disk is full; the next process has room.
  void fail_full(std::chrono::nanoseconds down) { failure_ = {log::WriteError::kDiskFull, down}; }
  // How much room its disk has, whatever process runs.
  void set_space(log::Space space);
  // The same of whatever it does next with files of checkpoints, if it runs.
  void slow_next_files(std::chrono::nanoseconds lasts);
  void fail_next_files();
  // It dies while it fetches the next snapshot, or while it installs it, and is back after `down`.
  enum class Fed : std::uint8_t {
    kFetching,
    kInstalling
  };
  void crash_when_fed(Fed when, std::chrono::nanoseconds down) { crash_fed_ = {when, down}; }
  // What was to go wrong does not.
  void forget_faults();
  void flip_bit(std::uint64_t luck);
  void flush(std::uint64_t group);

  // Nothing: it does not run, or the group is not open.
  [[nodiscard]] std::optional<log::GroupStatus> status_of(std::uint64_t group) const;
  // Of a replicated group: whether this node leads it, and what an operator asks of whoever does.
  [[nodiscard]] bool leads(std::uint64_t group) const;
  void transfer(std::uint64_t group, NodeId to);
  void change_membership(std::uint64_t group, std::uint64_t luck);
  void ask_change(std::uint64_t group, log::MembershipChange change);
  [[nodiscard]] NodeClock& clock() noexcept { return clock_; }
  // What was asked of it and is not answered, or still counted; empty: nothing.
  [[nodiscard]] std::string what_is_open() const;

  struct Counters {
    std::uint64_t starts = 0, crashes = 0, sets = 0, executed = 0, truncations = 0, flips_found = 0;
    std::uint64_t transfers = 0, changes = 0;           // That were asked for and done.
    std::uint64_t lease_reads = 0, lease_refusals = 0;  // By the reader's second look.
    std::uint64_t snapshots_made = 0, snapshots_sent = 0, snapshots_installed = 0;
    std::uint64_t snapshots_failed = 0;  // Not made, not staged, or given up.
    std::uint64_t stagings_cut = 0;      // By a crash of the receiver.
    std::uint64_t letters_refused = 0;   // Of a process whose successor was heard.
    std::uint64_t removals_told = 0;     // To nodes that did not know of theirs.
    std::uint64_t retreats = 0;          // Groups that it led when room ran low, and not any more.
    std::uint64_t full_ends = 0;         // Processes that a full disk ended.
    std::uint64_t appends_refused = 0, late_syncs = 0;  // As the log counts them.
    std::uint64_t installs_resumed = 0;  // By the process after the one that began them.
  };
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

  // log::Runner
  void wake_log() override;
  void wake_writer() override;
  void wake_reader() override;
  void wake_applier(log::GroupId group) override;
  void fail_stop(std::string_view reason) override;

  // FrameSink
  void on_frame(const StreamId& stream, base::Bytes frame) override;
  void on_reset(const StreamId& stream) override;

  // log::Transport
  void send(log::NodeId to, log::Lane lane, std::vector<log::Frame> frames) override;
  void send_snapshot_report(log::NodeId to,
                            log::GroupId group,
                            const log::SnapshotReport& report) override;
  void disconnect(log::NodeId peer) override;

  // log::MembershipListener
  void on_membership(log::GroupId group,
                     const std::shared_ptr<const log::ConfRecord>& conf) override;

 private:
  static constexpr log::ClusterId kCluster{1};
  static constexpr std::chrono::nanoseconds kStepDelayMost = std::chrono::microseconds(40);

  struct HostedGroup {
    StateDisk disk;
    std::unique_ptr<RegisterMachine> machine;
    log::Group* face = nullptr;
    log::Index synced;                             // The last entry in the synced part of the disk.
    std::map<std::uint64_t, log::Index> answered;  // Commands whose senders were told "done".
    log::Index reported;                           // Up to here digests were reported.
    bool switches = false;  // The applier is about to install a snapshot, which takes a while.
    std::shared_ptr<const log::ConfRecord> conf;  // In force, as the log last told,
    log::ConfContext context;                     // and what it says besides.
    log::Index begins;                            // Where the log began when the process started,
    std::optional<log::Index> installing;  // and the snapshot that its state was to switch to.
  };

  void run_log();
  void begin_write();
  void finish_write(const log::WriteSet& set);
  void run_applier(log::GroupId group);
  void serve(NodeId client, const LogRequest& request);
  void read(NodeId client, const LogRequest& request, log::ReadMode mode);
  void read_by_lease(NodeId client, const LogRequest& request, const log::ReadPoint& at);
  void reply(NodeId client, const LogReply& reply);
  void check(HostedGroup& hosted, log::GroupId id);
  void check_queues(const HostedGroup& hosted, log::GroupId id);
  void check_start(HostedGroup& hosted, log::GroupId id);
  [[nodiscard]] bool replicated() const noexcept { return options_.peers != 0; }
  [[nodiscard]] bool is_peer(NodeId node) const noexcept { return node.value() <= options_.peers; }
  void post(NodeId to, Lane lane, const base::Bytes& letter);
  void release_ghosts();
  void receive(NodeId from, base::ByteView bytes);
  void take_frames(NodeId from, std::vector<log::Frame> frames);
  void note_recovered(const log::LogStorage::Recovered& found);
  void make_carrier();
  void count_process();
  void on_fed(Fed step);
  void crash_soon(std::chrono::nanoseconds after, std::chrono::nanoseconds down);
  [[nodiscard]] std::vector<log::NodeId> strangers_of(const log::ConfRecord& record) const;
  [[nodiscard]] bool open_host();
  void open_group(HostedGroup& hosted, log::GroupId id);
  void violate(std::string what);
  // `call` as the log gets it: open until it is called, and without effect once the process is gone.
  template <class Call>
  [[nodiscard]] auto counted(log::GroupId group, CompletionKind kind, Call call) {
    const std::uint64_t number = ledger_.open({group, kind, world_.scheduler.now()});
    return [this, number, call = std::move(call)](const auto& answer) mutable {
      if (!ledger_.close(number)) violate("a callback was called twice");
      if (!dying_) call(answer);
    };
  }
  // Local logs of different nodes have nothing to do with each other.
  [[nodiscard]] checkers::GroupId history_group(log::GroupId group) const;
  [[nodiscard]] std::chrono::nanoseconds jitter(std::chrono::nanoseconds most);

  const LogWorldParts world_;
  const Options options_;
  base::SeededRandom random_;
  NodeClock clock_;
  base::DerivedBootClock boot_clock_{clock_};
  node::MemoryDisk disk_;
  PieceShelf shelf_;
  std::map<log::GroupId, HostedGroup> groups_;
  struct Ghost {
    Lane lane;
    base::Bytes letter;
  };
  std::map<NodeId, Ghost> ghosts_;  // The last letter to each peer, of whatever process.
  Counters counters_;
  std::optional<std::chrono::nanoseconds> slow_sync_;
  struct Failure {
    log::WriteError error;
    std::chrono::nanoseconds down;
  };
  std::optional<Failure> failure_;  // Of the next sync.
  log::Space space_ = log::Space::kPlenty;
  std::set<std::uint64_t> led_when_low_;
  struct CrashFed {
    Fed when;
    std::chrono::nanoseconds down;
  };
  std::optional<CrashFed> crash_fed_;
  bool flipped_ = false;
  bool lost_ = false;

  // Of the process that runs now.
  std::unique_ptr<node::MemoryStorage> storage_;
  std::optional<server::PeerAdmission> admission_;
  std::optional<log::Pacer<std::pair<log::NodeId, log::GroupId>>> not_here_;
  std::unique_ptr<CheckpointCarrier> carrier_;  // Of replicated groups.
  std::unique_ptr<log::Host> host_;
  bool dying_ = false;  // Its callbacks go nowhere.
  bool passed_ =
      false;  // The log thread had its first pass: what groups say of themselves is true.
  CompletionLedger ledger_;
  TaskId log_task_;
  TaskId timer_;
  TaskId writer_task_;
  TaskId reader_task_;
  std::map<log::GroupId, TaskId> applier_tasks_;
};

}  // namespace cadastre::sim
