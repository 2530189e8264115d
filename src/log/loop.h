// Loop: the log thread's pass over all groups of a node (spec section 5).
//
//   set done        -> engines learn what is persisted; held messages leave
//   applied         -> engines learn what is applied; changes of membership take effect
//   snapshots       -> checkpoints made, staged, checked, switched to and reported go on (loop_snapshots.cc)
//   old entries     -> engines, for slow peers
//   timers          -> one tick, retention, late syncs
//   frames of peers -> vote guard, filters -> engines
//   readers         -> rounds -> engines
//   command queues  -> batches -> engines, when the writer is free and the handover rule says so
//   outputs         -> messages, filling set; committed entries and reads -> appliers
//   filling set     -> writer
//
// Nothing is acknowledged, and nothing is executed, before the set that holds it is synced. No step
// blocks. pass() belongs to the log thread; the rest is safe from any.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/boot_clock.h"
#include "base/clock.h"
#include "base/logger.h"
#include "base/mutex.h"
#include "log/attention.h"
#include "log/disk_space.h"
#include "log/filling_set.h"
#include "log/gathering.h"
#include "log/group_detail.h"
#include "log/group_log.h"
#include "log/handover.h"
#include "log/inbound.h"
#include "log/intake.h"
#include "log/membership.h"
#include "log/metrics.h"
#include "log/notices.h"
#include "log/old_entries.h"
#include "log/peers.h"
#include "log/reader.h"
#include "log/runner.h"
#include "log/settings.h"
#include "log/snapshot_mail.h"
#include "log/snapshotter.h"
#include "log/storage.h"
#include "log/sync_age.h"
#include "log/transport.h"
#include "log/writer.h"

namespace cadastre::log {

struct LoopParts {
  Intake& intake;
  Attention& attention;
  Inbound& inbound;
  Writer& writer;
  Reader& reader;
  Runner& runner;
  const base::Clock& clock;
  LogStorage& storage;
  NodeMetrics& metrics;
  const Settings& settings;
  NodeId self;
  std::uint64_t run = 0;  // Another one for each process of the node.
  Transport* transport = nullptr;
  ClusterId cluster = {};
  Snapshotter* snapshotter = nullptr;
  const base::BootClock* boot_clock = nullptr;  // Nothing: no leases.
  MembershipListener* membership = nullptr;
  const base::Logger* logger = nullptr;
};

struct TransferOptions {
  bool force = false;  // Though the receiver is behind.
};

class Loop {
 public:
  Loop(const LoopParts& parts, SetNumber last_set);
  ~Loop() { mail_->close(); }

  // One turn. When to call again though nobody wakes us; nothing: only when woken.
  [[nodiscard]] std::optional<base::Elapsed> pass() CAD_EXCLUDES(mutex_);

  // Requests, taken up by the next pass.
  void attach(GroupLog& group) CAD_EXCLUDES(mutex_);
  void read_barrier(GroupLog& group, ReadMode mode, ReadDone done) CAD_EXCLUDES(mutex_);
  // Answered by the group's applier, once so much is applied.
  void await_applied(GroupLog& group, Index index, ReadDone done);
  void checkpoint(GroupLog& group, CheckpointMarker marker) CAD_EXCLUDES(mutex_);
  void change_membership(GroupLog& group, MembershipChange change, ConfDone done)
      CAD_EXCLUDES(mutex_);
  struct TransferRequest {
    NodeId to;
    TransferOptions options;
    TransferDone done;
  };
  void transfer(GroupLog& group, TransferRequest request) CAD_EXCLUDES(mutex_);
  void inspect(GroupLog& group, DetailDone done) CAD_EXCLUDES(mutex_);
  void set_space(Space space);  // Heeded by the next pass.
  void snapshot_reported(NodeId from, GroupId group, const SnapshotReport& report);
  // Whether this node was removed is decided by the log thread (L-90).
  void not_wanted(const NotWanted& told) CAD_EXCLUDES(mutex_);
  void stop() CAD_EXCLUDES(mutex_);  // Refuses what comes, finishes what is under way.

  // Any thread: entries of the log from `from` on, at most `count`, as far as they are synced.
  [[nodiscard]] base::Result<std::vector<EntryFacts>, LogReadError> list_entries(
      const GroupLog& group, Index from, std::size_t count) const;

  // Nothing runs any more: whoever waits for what no applier has yet learns that it is over.
  void abandon() CAD_EXCLUDES(mutex_);

  // After stop(): nothing is in the disk, in an engine or in an applier any more.
  [[nodiscard]] bool drained() const noexcept { return drained_.load(); }
  // The disk failed: nothing is done any more.
  [[nodiscard]] bool dead() const noexcept { return dead_.load(); }

 private:
  struct Membership {
    GroupLog* group;
    MembershipChange change;
    ConfDone done;
  };
  struct Requests {
    std::vector<GroupLog*> attach;
    std::vector<std::pair<GroupLog*, ReadRounds::Reader>> reads;
    std::vector<std::pair<GroupLog*, CheckpointMarker>> checkpoints;
    std::vector<Membership> memberships;
    std::vector<std::pair<GroupLog*, TransferRequest>> transfers;
    std::vector<NotWanted> not_wanted;
    std::vector<std::pair<GroupLog*, DetailDone>> inspections;
    bool stop = false;
  };
  struct InDisk {  // What the set in the writer holds.
    std::vector<std::pair<GroupLog*, OutputNumber>> outputs;
    std::vector<GroupLog*> confs;     // Whose configuration changes with it.
    std::vector<GroupLog*> installs;  // Whose install goes on after it.
    std::uint64_t commands = 0;
    std::uint64_t to_answer = 0;  // Of these, the ones that are answered by the sync alone.
    base::Elapsed handed_over{};
    SyncAge age{base::Elapsed{}};
    bool reported_late = false;
  };

  // loop.cc: requests, sets, batches.
  // Nothing: it waits for the next pass. Else it comes back: kRequestsMax wait already.
  template <class T>
  [[nodiscard]] std::optional<T> ask(std::vector<T> Requests::* list, T request)
      CAD_EXCLUDES(mutex_);
  void take_requests(base::Elapsed now) CAD_EXCLUDES(mutex_);
  void take_reads(std::vector<std::pair<GroupLog*, ReadRounds::Reader>> reads);
  void begin_stop();
  void finish_set(base::Elapsed now);
  void release(GroupLog& group, Held::Released released);
  void watch_sync(base::Elapsed now);
  void close_batches(base::Elapsed now);
  [[nodiscard]] bool waits_for_commit(const GroupLog& group, base::Elapsed now) const;
  void propose(GroupLog& group, base::Elapsed now);
  void propose_run(GroupLog& group, std::vector<Batch>& run, base::Elapsed now);
  void hand_over(base::Elapsed now);
  void note_drained();
  [[nodiscard]] std::optional<base::Elapsed> next_call(base::Elapsed now);

  // loop_outputs.cc: what engines ask for.
  void touch(GroupLog& group);  // Its engine may have an output.
  void begin_reads(base::Elapsed now);
  void begin_reads(GroupLog& group, base::Elapsed now);
  void take_outputs(base::Elapsed now);
  void take_output(GroupLog& group, base::Elapsed now);
  void serve_wants(GroupLog& group, base::Elapsed now);
  void note_applied(GroupLog& group);
  void publish(GroupLog& group);
  void note_leader(GroupLog& group, const EngineStatus& status);
  void tell_role(GroupLog& group, const EngineStatus& status);
  void tend_lease(GroupLog& group, const EngineStatus& status);
  void keep_house(base::Elapsed now);
  void keep_caches();
  [[nodiscard]] GroupLog* holds_most_back();
  void keep_group(GroupLog& group, base::Elapsed now);
  [[nodiscard]] bool grew_large(GroupLog& group, const Applier::Progress& progress);

  // loop_replicas.cc: ticks, frames, leadership.
  void tick(base::Elapsed now);
  void tick(GroupLog& group, base::Elapsed now);
  void receive();
  void follow_leadership(GroupLog& group, const EngineStatus& status, base::Elapsed now);
  void heed_appliers(base::Elapsed now);

  // loop_members.cc: membership, transfer.
  [[nodiscard]] bool watch_members(GroupLog& group, base::Elapsed now);
  void show_members(GroupLog& group,
                    std::span<const PeerProgress> progress,
                    const EngineStatus& status,
                    base::Elapsed now);
  void leave_joint(GroupLog& group);
  void begin_conf(GroupLog& group, const Entry& entry);
  void finish_conf(GroupLog& group);
  void settle_conf_waiter(GroupLog& group, const Entry& entry);
  void propose_conf(Membership& request, base::Elapsed now);
  [[nodiscard]] MembershipView view_of(GroupLog& group, base::Elapsed now) const;
  void hand_over_first(Membership& request, const MembershipView& view, base::Elapsed now);
  void begin_transfer(GroupLog& group, TransferRequest& request, base::Elapsed now);
  void leave_group(GroupLog& group);
  void take_not_wanted(const NotWanted& told);

  // loop_halt.cc: a group that does no more here.
  void heed_halt(GroupLog& group, base::Elapsed now);
  void end_group(GroupLog& group, const std::string& reason);
  void tell_ended(GroupLog& group, const std::string& reason);
  void finish_halt(GroupLog& group);
  void stop_engine(GroupLog& group);

  // loop_detail.cc: looks into a group.
  [[nodiscard]] GroupDetail detail_of(GroupLog& group) const;

  // loop_retreat.cc: a node whose disk is in trouble.
  void heed_space();
  void retreat(base::Elapsed now);
  void retreat(GroupLog& group, base::Elapsed now);
  [[nodiscard]] std::string users_refused(const GroupLog& group) const;

  // loop_snapshots.cc: snapshots, old entries, and what is kept for peers.
  void heed_reader(base::Elapsed now);
  void heed_snapshots(base::Elapsed now);
  void pursue_offer(GroupLog& group, base::Elapsed now);
  void make_checkpoint(GroupLog& group);
  void on_made(SnapshotMail::Made letter, base::Elapsed now);
  void on_reported(const SnapshotMail::Reported& letter, base::Elapsed now);
  void keep_offer(GroupLog& group, base::Elapsed now);
  void give_up_fetch(GroupLog& group, NodeId peer);
  void hold_snapshot(GroupLog& group, const Frame& frame, base::Elapsed now);
  void stage(GroupLog& group);
  void on_staged(SnapshotMail::Staged letter);
  void on_checked(const SnapshotMail::Checked& letter, base::Elapsed now);
  void step_held(GroupLog& group, base::Elapsed now);
  void settle_held(GroupLog& group);
  void end_held(GroupLog& group, SnapshotFate fate);
  void report(const GroupLog& group, NodeId source, const SnapshotReport& report);
  [[nodiscard]] bool begin_install(GroupLog& group, const Snapshot& snapshot);
  void skip_waiters(GroupLog& group, Index upto);
  void go_on_installing(GroupLog& group, base::Elapsed now);
  void clear_install(GroupLog& group);
  void finish_install(GroupLog& group, base::Elapsed now);
  [[nodiscard]] Index truncation_limit(GroupLog& group, base::Elapsed now);

  const LoopParts parts_;
  const std::shared_ptr<SnapshotMail> mail_;
  std::atomic<Space> space_{Space::kPlenty};
  Space space_heeded_ = Space::kPlenty;
  std::atomic<bool> drained_{false};
  std::atomic<bool> dead_{false};

  std::map<GroupId, GroupLog*> groups_;
  std::vector<GroupLog*> replicated_;    // Some of them.
  std::vector<GroupLog*> with_output_;   // Engines that were touched in this pass, each once,
  std::vector<GroupLog*> with_readers_;  // and those who have readers.
  std::vector<GroupId> to_wake_;         // Appliers that got work in this pass.
  std::vector<GroupId> with_commands_;   // Queues that are not empty.
  std::uint64_t next_read_ = 1;
  std::uint64_t next_checkpoint_ = 1;
  std::size_t checkpoints_making_ = 0;
  Peers peers_;
  Notices notices_;
  Handover handover_;
  Intake reads_;       // Readers in requests_.
  Gathering readers_;  // Those whom rounds have answered.
  OldEntries old_entries_;
  FillingSet filling_;
  InDisk filling_notes_;
  std::optional<InDisk> in_disk_;
  SetNumber next_set_;
  base::Elapsed house_kept_{};
  base::Elapsed last_pass_{};
  base::Elapsed last_took_{};
  std::size_t last_frames_ = 0;
  std::optional<base::Elapsed> booted_;  // The boot clock as this pass began.
  bool more_frames_ = false;
  bool stopping_ = false;

  base::Mutex mutex_;
  Requests requests_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::log
