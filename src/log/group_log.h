// GroupLog: everything a node has of one group. Queue, applier and status are for many threads; engine,
// waiters, readers and positions are the log thread's own.

#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "log/applier.h"
#include "log/command_queue.h"
#include "log/conf_state.h"
#include "log/engine.h"
#include "log/group_status.h"
#include "log/held.h"
#include "log/lease_board.h"
#include "log/member_watch.h"
#include "log/metrics.h"
#include "log/read_rounds.h"
#include "log/replica.h"
#include "log/retention.h"
#include "log/settings.h"
#include "log/snapshot_hold.h"
#include "log/snapshot_offer.h"
#include "log/storage.h"
#include "log/term_runs.h"
#include "log/trailing.h"
#include "log/vote_guard.h"
#include "log/waiters.h"

namespace cadastre::log {

// What the log thread last said of a group; what its applier says is added by whoever reads it.
class StatusBoard {
 public:
  void publish(GroupStatus status) CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    status_ = std::move(status);
  }
  [[nodiscard]] GroupStatus read() const CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    return status_;
  }

 private:
  mutable base::Mutex mutex_;
  GroupStatus status_ CAD_GUARDED_BY(mutex_);
};

// Commands of a leader's term that ended wait for their outcome until then (1.5).
struct OutcomeWait {
  Term term;
  base::Elapsed until{};
};

// Who waits for a change of membership: until it is applied and durable.
using ConfDone = std::move_only_function<void(base::Result<ConfRecord, ConfError>)>;
struct ConfWaiter {
  Position at;
  ConfDone done;
};

// A change of membership that takes effect when its set is synced.
struct ConfInDisk {
  Position at;
};

// Who waits for leadership to move.
using TransferDone = std::move_only_function<void(base::Result<void, TransferError>)>;
struct Transfer {
  Term term;
  base::Elapsed until{};
  TransferDone done;
};

// A snapshot on its way into the state machine, by the four steps of 7.3.
struct Install {
  enum class Step : std::uint8_t {
    kRecording,  // The log begins anew at it, and the disk does not say so yet.
    kSwitching,  // The state machine has it to install.
    kClearing,   // It is installed, and the disk does not say so yet.
  };
  PendingInstall pending;
  Step step = Step::kRecording;
};

struct GroupLog {
  GroupLog(const GroupImage& image,
           std::unique_ptr<Engine> group_engine,
           const ApplierParts& parts,
           Intake& intake,
           const Settings& settings)
      : id(image.group),
        incarnation(image.incarnation),
        queue(image.group, intake),
        applier(parts, queue, metrics),
        engine(std::move(group_engine)),
        hard(image.state),
        commit_kept(image.state.commit),
        last(image.last),
        confs(image.confs),
        terms(image.truncated, image.terms),
        retention(settings.retention, {image.truncated.index, image.last.index, image.entry_bytes}),
        offer(settings.snapshots) {}

  // Before anyone sees the group: whoever opened it may ask who its members are at once.
  void show_membership() {
    conf_shown = std::make_shared<const ConfRecord>(confs.back());
    GroupStatus status;
    status.last = last.index;
    status.truncated = retention.truncated();
    status.conf = conf_shown;
    status.log_bytes = retention.bytes();
    board.publish(std::move(status));
  }

  // Log thread: nothing is taken or executed here any more.
  [[nodiscard]] bool ended() const noexcept { return !halted_why.empty(); }

  const GroupId id;
  const Incarnation incarnation;
  GroupMetrics metrics;
  CommandQueue queue;
  Applier applier;
  StatusBoard board;
  std::atomic<std::size_t> readers{0};  // Barriers that were not answered yet.
  std::unique_ptr<GroupLease> lease;    // Set before anyone sees the group; nothing: no leases.

  // The log thread's own.
  std::unique_ptr<Engine> engine;
  std::optional<EngineKind> created;  // To be written with the group's first set.
  bool touched = false;               // It is among those whose engine may have an output,
  bool has_readers = false;           // among those with readers.
  Waiters waiters;
  ReadRounds reads;
  Held held;
  HardState hard;                 // As the engine last said.
  Index commit_kept;              // The commit index in the newest record.
  Position last;                  // Of the log, with what is in the filling set.
  bool large_told = false;        // That its log is above the soft limit (L-47).
  std::vector<ConfRecord> confs;  // By index; the last one is in force, or will be with its set.
  TermRuns terms;                 // Of all entries in the log.
  std::shared_ptr<const ConfRecord> conf_shown;  // What the status says of it.
  Retention retention;
  Index applied;           // What the engine was told.
  Term led_in;             // The last term whose leader was seen here.
  std::string halted_why;  // Not empty: nothing is taken or executed here any more (L-20),
  bool halted = false;     // nor does the engine do anything.

  // Of a replicated group.
  std::size_t untaken_bytes =
      0;  // Of appends that came since the engine had no output: kUntakenBytesMax.
  std::optional<VoteGuard> guard;
  Term leading;                           // The term in which this node leads; 0: it does not.
  Term announced;                         // The last term whose leadership was announced.
  std::deque<OutcomeWait> outcome_waits;  // By deadline.
  std::optional<ConfWaiter> conf_waiter;
  std::optional<ConfInDisk> conf_in_disk;  // Until then the engine gives out nothing (L-55).
  std::optional<Transfer> transfer;
  Trailing trailing;
  SnapshotOffer offer;
  SnapshotHold hold;
  std::optional<Install> install;
  MemberWatch members;
  std::uint64_t ticks_led = 0;
  std::shared_ptr<const std::vector<MemberStatus>> members_shown;  // Of a leader.
  std::shared_ptr<const ConfRecord> conf_told;  // What the listener of membership knows.
  Role role_told = Role::kFollower;             // What the operator knows,
  NodeId leader_told;                           // and of whom.
};

}  // namespace cadastre::log
