// Loop: the log thread's pass over all groups of a node (spec section 5).
//
//   set done        -> engines learn what is persisted
//   applied         -> engines learn what is applied
//   timers          -> retention, late syncs
//   read barriers   -> engines
//   command queues  -> batches -> engines, when the writer is free and the handover rule says so
//   outputs         -> filling set; committed entries and reads -> appliers
//   filling set     -> writer
//
// Nothing is acknowledged, and nothing is executed, before the set that holds it is synced. No step
// blocks. pass() and attach() belong to the log thread; the rest is safe from any.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "log/group_log.h"
#include "log/handover.h"
#include "log/intake.h"
#include "log/metrics.h"
#include "log/runner.h"
#include "log/settings.h"
#include "log/storage.h"
#include "log/writer.h"

namespace cadastre::log {

struct LoopParts {
  Intake& intake;
  Writer& writer;
  Runner& runner;
  const base::Clock& clock;
  const LogStorage& storage;
  NodeMetrics& metrics;
  const Settings& settings;
};

class Loop {
 public:
  Loop(const LoopParts& parts, SetNumber last_set);

  // One turn. When to call again though nobody wakes us; nothing: only when woken.
  [[nodiscard]] std::optional<base::Elapsed> pass() CAD_EXCLUDES(mutex_);

  // Requests, taken up by the next pass.
  void attach(GroupLog& group) CAD_EXCLUDES(mutex_);
  void read_barrier(GroupLog& group, ReadDone done) CAD_EXCLUDES(mutex_);
  void checkpoint(GroupLog& group, CheckpointMarker marker) CAD_EXCLUDES(mutex_);
  void stop() CAD_EXCLUDES(mutex_);  // Refuses what comes, finishes what is under way.

  // Nothing runs any more: readers and checkpoints that no applier has yet learn that it is over.
  void abandon() CAD_EXCLUDES(mutex_);

  // After stop(): nothing is in the disk, in an engine or in an applier any more.
  [[nodiscard]] bool drained() const noexcept { return drained_.load(); }
  // The disk failed: nothing is done any more.
  [[nodiscard]] bool dead() const noexcept { return dead_.load(); }

 private:
  struct Requests {
    std::vector<GroupLog*> attach;
    std::vector<std::pair<GroupLog*, ReadDone>> reads;
    std::vector<std::pair<GroupLog*, CheckpointMarker>> checkpoints;
    bool stop = false;
  };
  struct InDisk {  // What the set in the writer holds.
    std::vector<std::pair<GroupLog*, OutputNumber>> outputs;
    std::uint64_t commands = 0;
    base::Elapsed handed_over{};
    bool reported_late = false;
  };

  void take_requests() CAD_EXCLUDES(mutex_);
  void finish_set(base::Elapsed now);
  void note_applied(GroupLog& group);
  void keep_house(base::Elapsed now);
  void keep_group(GroupLog& group, base::Elapsed now);
  void truncate(GroupLog& group, Position upto, base::Elapsed now);
  void watch_sync(base::Elapsed now);
  void close_batches(base::Elapsed now);
  void propose(GroupLog& group, base::Elapsed now);
  void propose_run(GroupLog& group, std::vector<Batch>& run, base::Elapsed now);
  void take_outputs(base::Elapsed now);
  void take_output(GroupLog& group, base::Elapsed now);
  void fill_set(GroupLog& group, Output& output);
  GroupWrite& write_of(GroupLog& group);
  void hand_over(base::Elapsed now);
  void publish(GroupLog& group);
  void halt(GroupLog& group);
  void note_drained();
  [[nodiscard]] std::optional<base::Elapsed> next_call(base::Elapsed now);

  const LoopParts parts_;
  std::atomic<bool> drained_{false};
  std::atomic<bool> dead_{false};

  std::map<GroupId, GroupLog*> groups_;
  std::vector<GroupLog*> with_output_;  // Engines that were touched in this pass.
  std::vector<GroupId> to_wake_;        // Appliers that got work in this pass.
  std::vector<GroupId> with_commands_;  // Queues that are not empty.
  std::map<std::uint64_t, std::pair<GroupLog*, ReadDone>> reads_;  // By their context.
  std::uint64_t next_read_ = 1;
  Handover handover_;
  WriteSet filling_;
  InDisk filling_notes_;
  std::optional<InDisk> in_disk_;
  SetNumber next_set_;
  base::Elapsed house_kept_{};
  bool stopping_ = false;

  base::Mutex mutex_;
  Requests requests_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::log
