// Loop: the log thread's pass over all groups of a node (spec section 5).
//
//   set done        -> engines learn what is persisted; held messages leave
//   applied         -> engines learn what is applied; changes of membership take effect
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
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "log/attention.h"
#include "log/filling_set.h"
#include "log/group_log.h"
#include "log/handover.h"
#include "log/inbound.h"
#include "log/intake.h"
#include "log/metrics.h"
#include "log/peers.h"
#include "log/runner.h"
#include "log/settings.h"
#include "log/storage.h"
#include "log/transport.h"
#include "log/writer.h"

namespace cadastre::log {

struct LoopParts {
  Intake& intake;
  Attention& attention;
  Inbound& inbound;
  Writer& writer;
  Runner& runner;
  const base::Clock& clock;
  LogStorage& storage;
  NodeMetrics& metrics;
  const Settings& settings;
  NodeId self;
  std::uint64_t run = 0;  // Another one for each process of the node.
  Transport* transport = nullptr;
};

// A change of membership as its caller asks for it.
struct MembershipChange {
  ConfChange change;
  Index expected_conf_index;  // Of the configuration that the caller saw.
};

struct TransferOptions {
  bool force = false;  // Though the receiver is behind.
};

class Loop {
 public:
  Loop(const LoopParts& parts, SetNumber last_set);

  // One turn. When to call again though nobody wakes us; nothing: only when woken.
  [[nodiscard]] std::optional<base::Elapsed> pass() CAD_EXCLUDES(mutex_);

  // Requests, taken up by the next pass.
  void attach(GroupLog& group) CAD_EXCLUDES(mutex_);
  void read_barrier(GroupLog& group, ReadMode mode, ReadDone done) CAD_EXCLUDES(mutex_);
  void checkpoint(GroupLog& group, CheckpointMarker marker) CAD_EXCLUDES(mutex_);
  void change_membership(GroupLog& group, MembershipChange change, ConfDone done)
      CAD_EXCLUDES(mutex_);
  struct TransferRequest {
    NodeId to;
    TransferOptions options;
    TransferDone done;
  };
  void transfer(GroupLog& group, TransferRequest request) CAD_EXCLUDES(mutex_);
  void stop() CAD_EXCLUDES(mutex_);  // Refuses what comes, finishes what is under way.

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
    bool stop = false;
  };
  struct InDisk {  // What the set in the writer holds.
    std::vector<std::pair<GroupLog*, OutputNumber>> outputs;
    std::vector<GroupLog*> confs;  // Whose configuration changes with it.
    std::uint64_t commands = 0;
    base::Elapsed handed_over{};
    bool reported_late = false;
  };

  // loop.cc: requests, sets, batches.
  void take_requests(base::Elapsed now) CAD_EXCLUDES(mutex_);
  void take_reads(Requests& requests);
  void begin_stop();
  void finish_set(base::Elapsed now);
  void release(GroupLog& group, Held::Released released);
  void watch_sync(base::Elapsed now);
  void close_batches(base::Elapsed now);
  void propose(GroupLog& group, base::Elapsed now);
  void propose_run(GroupLog& group, std::vector<Batch>& run, base::Elapsed now);
  void hand_over(base::Elapsed now);
  void note_drained();
  [[nodiscard]] std::optional<base::Elapsed> next_call(base::Elapsed now);

  // loop_outputs.cc: what engines ask for.
  void begin_reads(base::Elapsed now);
  void begin_reads(GroupLog& group, base::Elapsed now);
  void take_outputs(base::Elapsed now);
  void take_output(GroupLog& group, base::Elapsed now);
  void serve_wants(GroupLog& group);
  void note_applied(GroupLog& group);
  void publish(GroupLog& group);
  void halt(GroupLog& group, const std::string& reason);
  void keep_house(base::Elapsed now);
  void keep_group(GroupLog& group, base::Elapsed now);
  [[nodiscard]] bool may_truncate(GroupLog& group, Index upto) const;

  // loop_replicas.cc: ticks, frames, leadership, membership.
  void tick(base::Elapsed now);
  void tick(GroupLog& group, base::Elapsed now);
  void leave_joint(GroupLog& group);
  void receive(base::Elapsed now);
  void follow_leadership(GroupLog& group, const EngineStatus& status, base::Elapsed now);
  void heed_appliers();
  void begin_conf(GroupLog& group, const Entry& entry);
  void finish_conf(GroupLog& group);
  void settle_conf_waiter(GroupLog& group, const Entry& entry);
  void propose_conf(Membership& request);
  void begin_transfer(GroupLog& group, TransferRequest& request, base::Elapsed now);

  const LoopParts parts_;
  std::atomic<bool> drained_{false};
  std::atomic<bool> dead_{false};

  std::map<GroupId, GroupLog*> groups_;
  std::vector<GroupLog*> replicated_;   // Some of them.
  std::vector<GroupLog*> with_output_;  // Engines that were touched in this pass.
  std::vector<GroupLog*> with_readers_;
  std::vector<GroupId> to_wake_;        // Appliers that got work in this pass.
  std::vector<GroupId> with_commands_;  // Queues that are not empty.
  std::uint64_t next_read_ = 1;
  Peers peers_;
  Handover handover_;
  FillingSet filling_;
  InDisk filling_notes_;
  std::optional<InDisk> in_disk_;
  SetNumber next_set_;
  base::Elapsed house_kept_{};
  base::Elapsed last_pass_{};
  bool more_frames_ = false;
  bool stopping_ = false;

  base::Mutex mutex_;
  Requests requests_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::log
