// Host: the log of a node. It owns the groups, the loop and the writer's side, on a storage and a runner
// that it is given.
//
//   auto host = CAD_TRY(Host::open({storage, runner, clock}));
//   Group& orders = *CAD_TRY(host->open_group({.group = GroupId{7}, .machine = machine}));
//   …                                    // the runner calls run_log, run_writer, run_reader, run_applier
//   host->stop();                        // then until drained() the same
//
// Threads: run_log on one thread at a time, run_writer on one, run_reader on one, run_applier on one for each group; the
// rest from any. Destroying a host answers whoever still waits with kOutcomeUnknown; nothing runs then.

#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/boot_clock.h"
#include "base/clock.h"
#include "base/logger.h"
#include "base/mutex.h"
#include "base/result.h"
#include "log/attention.h"
#include "log/crash_notes.h"
#include "log/disk_space.h"
#include "log/group.h"
#include "log/group_log.h"
#include "log/inbound.h"
#include "log/intake.h"
#include "log/loop.h"
#include "log/metrics.h"
#include "log/reader.h"
#include "log/runner.h"
#include "log/settings.h"
#include "log/snapshotter.h"
#include "log/state_machine.h"
#include "log/storage.h"
#include "log/transport.h"
#include "log/writer.h"

namespace cadastre::log {

// What a node needs for replicated groups.
struct HostReplication {
  NodeId self;
  std::uint64_t run = 0;           // Another one for each process of the node (L-79).
  Transport* transport = nullptr;  // Outlives the host.
  ClusterId cluster = {};
  Snapshotter* snapshotter = nullptr;  // The same. Without one nobody is fed by a snapshot.
  const base::BootClock* boot_clock =
      nullptr;                               // Of leases (8.3), the same; nothing: none are held.
  MembershipListener* membership = nullptr;  // The same.
};

struct HostParts {
  LogStorage& storage;
  Runner& runner;
  const base::Clock& clock;
  Settings settings = {};
  HostReplication replication = {};
  const base::Logger* logger = nullptr;
  CrashListener* crashes = nullptr;       // Outlives the host.
  std::vector<GroupId> quarantined = {};  // Replicated groups that are not opened (L-36).
};

struct ReplicaOptions {
  std::vector<NodeId>
      founders;            // The first voters of a group that is new; none: it joins one (L-85).
  std::uint64_t seed = 0;  // Of election timeouts.
};

struct GroupOptions {
  GroupId group;
  StateMachine& machine;                                    // Outlives the host.
  LeadershipListener* listener = nullptr;                   // The same.
  std::optional<ReplicaOptions> replicated = std::nullopt;  // Nothing: on this disk alone.
};

class Host final : public TransportSink {
 public:
  // Recovers the storage.
  [[nodiscard]] static base::Result<std::unique_ptr<Host>, OpenError> open(const HostParts& parts);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host() override;

  // Checks the log against the state (L-53), replays what the state lacks on this thread, then opens the
  // group: a local one in a new term, a replicated one as a follower, one that this node was removed from
  // halted (L-90). Each group once. The group lives as long as the host.
  [[nodiscard]] base::Result<Group*, OpenError> open_group(const GroupOptions& options)
      CAD_EXCLUDES(mutex_);

  // The groups that the storage has, opened or not.
  [[nodiscard]] std::vector<GroupId> stored_groups() const;

  // One pass. When to call again though nobody wakes the log thread.
  [[nodiscard]] std::optional<base::Elapsed> run_log() { return loop_.pass(); }

  // Writes the set that waits, if one does. False: none does.
  bool run_writer();
  // The same in two halves, for whoever decides when a sync ends.
  [[nodiscard]] std::optional<WriteSet> begin_write() { return writer_.take(); }
  void finish_write(WriteResult result) { writer_.finish(std::move(result)); }

  // Reads old entries that a peer waits for, if one does. False: none does.
  bool run_reader();

  // One round of the group's applier. True: there is more to do.
  bool run_applier(GroupId group) CAD_EXCLUDES(mutex_);

  // TransportSink: frames for run_log.
  void on_frames(NodeId from, std::vector<Frame> frames) override;
  void on_unreachable(NodeId to) override;
  void on_snapshot_report(NodeId from, GroupId group, const SnapshotReport& report) override;
  // A peer says that this node has no business in the group by that configuration: if it is a later one than is known
  // here, the node was removed, and the group ends here (L-90). Any thread.
  void not_wanted(const NotWanted& told) { loop_.not_wanted(told); }

  // How much room the disk has, as whoever looks at it finds (disk_space.h).
  void set_space(Space space) { loop_.set_space(space); }

  // Refuses new commands, finishes those under way.
  void stop() { loop_.stop(); }
  [[nodiscard]] bool drained() const CAD_EXCLUDES(mutex_);
  // The disk failed, and fail_stop() returned.
  [[nodiscard]] bool dead() const noexcept { return loop_.dead(); }

  [[nodiscard]] const NodeMetrics& metrics() const noexcept { return metrics_; }
  // Frames of peers that wait for the log thread.
  [[nodiscard]] std::size_t inbound_bytes() const { return inbound_.bytes(); }

 private:
  Host(const HostParts& parts, LogStorage::Recovered recovered);

  [[nodiscard]] base::Result<GroupImage, OpenError> image_of(const GroupOptions& options) const;
  [[nodiscard]] base::Result<std::unique_ptr<Engine>, OpenError> open_engine(
      const GroupImage& image, const GroupOptions& options);
  [[nodiscard]] GroupLog* find(GroupId group) const CAD_EXCLUDES(mutex_);

  const HostParts parts_;
  const std::vector<GroupImage> images_;
  NodeMetrics metrics_;
  Intake intake_;
  Attention attention_;
  Inbound inbound_;
  Writer writer_;
  Reader reader_;

  struct Opened {
    std::unique_ptr<GroupLog> log;
    std::unique_ptr<Group> face;
  };
  mutable base::Mutex mutex_;
  std::map<GroupId, Opened> groups_ CAD_GUARDED_BY(mutex_);

  Loop loop_;  // Borrows from what stands above.
};

}  // namespace cadastre::log
