// Applier: executes a group's committed entries in rounds and answers who waits for them (1.6).
//
// The log thread pushes; the group's applier runs, one call at a time. A round is at most
// kRoundEntriesMax entries or kRoundBytesMax. Answers are given after the round's effects are visible,
// outside all locks. When an entry cannot be executed the group halts: nothing is executed from then on,
// waiters learn that they do not know, whoever was told of leadership learns that it is over, and the other groups go on
// (L-20).
//
// An entry that changes the membership is a round of its own, and the applier stops before it until the log
// thread has made the change durable (L-19, L-55). Before and not behind: a state that had the entry could be flushed
// first, and after a crash nobody would hand the change out again.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "log/attention.h"
#include "log/command_queue.h"
#include "log/entry.h"
#include "log/group_status.h"
#include "log/metrics.h"
#include "log/propose.h"
#include "log/round.h"
#include "log/runner.h"
#include "log/state_machine.h"
#include "log/waiters.h"

namespace cadastre::log {

// One committed entry, who waits for it, and who waited for another one in its place.
struct ApplyItem {
  Entry entry;
  EntryWaiters waiters;
  std::vector<EntryWaiters> superseded;
  base::Elapsed committed{};
  bool acquires = false;  // It opened the term in which this node leads.
};
struct ReadBarrier {
  Index index;
  ReadDone done;
};
using CheckpointDone = std::move_only_function<void(base::Result<Position, CheckpointError>)>;
struct CheckpointMarker {
  CheckpointTarget to;
  CheckpointDone done;
};
struct CheckMarker {  // Would the state machine take it?
  StagedCheckpoint staged;
  std::move_only_function<void(base::Result<void, InstallError>)> done;
};
struct InstallMarker {
  StagedCheckpoint from;
  std::move_only_function<void()>
      done;  // The state machine has switched; not called if the group halts.
};
struct DurablePoll {  // Look at the state machine, and ask it to flush if told to.
  bool flush = false;
};
struct LeadershipLost {
  Term term;
};
using ApplyWork = std::variant<ApplyItem,
                               ReadBarrier,
                               CheckpointMarker,
                               CheckMarker,
                               InstallMarker,
                               DurablePoll,
                               LeadershipLost>;

// What an applier borrows from around its group.
struct ApplierParts {
  GroupId group;
  StateMachine& machine;
  Runner& runner;
  Attention& attention;
  const base::Clock& clock;
  LeadershipListener* listener = nullptr;
};

class Applier {
 public:
  Applier(const ApplierParts& parts, CommandQueue& queue, GroupMetrics& metrics);

  // Log thread; readers' barriers from any. The second one leaves it to the caller to wake the applier, if it
  // says true.
  void push(std::vector<ApplyWork> work) CAD_EXCLUDES(mutex_);
  [[nodiscard]] bool push_quietly(std::vector<ApplyWork> work) CAD_EXCLUDES(mutex_);

  // The group's applier: one round, or one marker, or readers who came together. True: there is more to do.
  bool run() CAD_EXCLUDES(mutex_);

  // Log thread: the change of membership that the applier stopped before, once; and on with it, since it is durable.
  [[nodiscard]] std::optional<Entry> take_conf() CAD_EXCLUDES(mutex_);
  void go_on(Index change) CAD_EXCLUDES(mutex_);
  // Log thread: nothing is executed any more, and whoever waits is told by the next round.
  void end(const std::string& reason) CAD_EXCLUDES(mutex_);
  // Committed entries that wait.
  struct Backlog {
    std::size_t entries = 0;
    std::size_t bytes = 0;
  };
  [[nodiscard]] Backlog backlog() const CAD_EXCLUDES(mutex_);

  // Any thread.
  struct Progress {
    Position applied;
    Position durable;
    std::string halted;  // Empty: it runs.
  };
  [[nodiscard]] Progress progress() const CAD_EXCLUDES(mutex_);
  [[nodiscard]] Index applied() const noexcept { return Index{applied_index_.load()}; }
  [[nodiscard]] bool halted() const noexcept { return halted_.load(); }
  [[nodiscard]] bool idle() const CAD_EXCLUDES(mutex_);

  // Nothing runs any more: everyone who still waits learns that the outcome is unknown.
  void abandon() CAD_EXCLUDES(mutex_);

 private:
  [[nodiscard]] bool joins_last_poll(const ApplyWork& work) CAD_REQUIRES(mutex_);
  [[nodiscard]] bool stops_before_change() CAD_EXCLUDES(mutex_);
  [[nodiscard]] std::vector<ApplyWork> take_some() CAD_EXCLUDES(mutex_);
  void run_entries(std::vector<ApplyWork>& items);
  void run_readers(std::vector<ApplyWork>& readers);
  void run_marker(ApplyWork& work);
  void install(InstallMarker& marker);
  void halt(std::string reason, std::vector<ApplyWork>& items);
  void tell_lost();
  void answer(std::vector<ApplyWork>& items);
  void answer_reads();
  void refuse(EntryWaiters& waiters, ProposeError code, const std::string& detail);
  void give_up(ApplyWork& work, const std::string& detail);
  void publish() CAD_EXCLUDES(mutex_);

  const ApplierParts parts_;
  CommandQueue& queue_;
  GroupMetrics& metrics_;
  std::atomic<std::uint64_t> applied_index_;
  std::atomic<bool> halted_{false};

  // The applier's own.
  std::optional<Term> led_;  // The term that `acquired` was told of, and `lost` not yet (L-94).
  Round round_;
  std::multimap<Index, ReadDone> reads_;  // Wait for more to be applied.

  mutable base::Mutex mutex_;
  std::deque<ApplyWork> work_ CAD_GUARDED_BY(mutex_);
  Backlog backlog_ CAD_GUARDED_BY(mutex_);
  std::optional<Entry> conf_ CAD_GUARDED_BY(mutex_);
  bool stopped_ CAD_GUARDED_BY(mutex_) = false;  // Before a change of membership.
  Index change_durable_ CAD_GUARDED_BY(mutex_);  // The last one that was gone on with.
  bool running_ CAD_GUARDED_BY(mutex_) = false;
  Progress progress_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::log
