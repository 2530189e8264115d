#include "log/host.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "log/local/local_engine.h"
#include "log/opening.h"
#include "log/raft/open_raft_engine.h"

namespace cadastre::log {

base::Result<std::unique_ptr<Host>, OpenError> Host::open(const HostParts& parts) {
  LogStorage::Recovered recovered = CAD_TRY(parts.storage.recover());
  if (Snapshotter* const snapshotter = parts.replication.snapshotter; snapshotter != nullptr) {
    std::vector<CheckpointName> wanted;
    for (const GroupImage& image : recovered.groups) {
      if (image.installing)
        wanted.push_back({image.group, image.installing->source, image.installing->checkpoint});
    }
    snapshotter->sweep(wanted);
  }
  return std::unique_ptr<Host>(new Host(parts, std::move(recovered)));
}

Host::Host(const HostParts& parts, LogStorage::Recovered recovered)
    : parts_(parts),
      images_(std::move(recovered.groups)),
      intake_(parts.runner),
      attention_(parts.runner),
      writer_(parts.runner),
      reader_(parts.runner),
      loop_({.intake = intake_,
             .attention = attention_,
             .inbound = inbound_,
             .writer = writer_,
             .reader = reader_,
             .runner = parts.runner,
             .clock = parts.clock,
             .storage = parts.storage,
             .metrics = metrics_,
             .settings = parts_.settings,
             .self = parts.replication.self,
             .run = parts.replication.run,
             .transport = parts.replication.transport,
             .cluster = parts.replication.cluster,
             .snapshotter = parts.replication.snapshotter,
             .boot_clock = parts.settings.raft.lease_reads ? parts.replication.boot_clock : nullptr,
             .membership = parts.replication.membership,
             .logger = parts.logger},
            recovered.last_set) {}

Host::~Host() {
  loop_.abandon();
  const base::MutexLock lock(mutex_);
  for (auto& [id, opened] : groups_) {
    for (Done& done : opened.log->queue.close())
      done(base::fail(ProposeError::kOutcomeUnknown, "the process is going down"));
    for (EntryWaiters& waiters : opened.log->waiters.take_all()) {
      for (Done& done : waiters.done)
        done(base::fail(ProposeError::kOutcomeUnknown, "the process is going down"));
    }
    opened.log->applier.abandon();
  }
}

std::vector<GroupId> Host::stored_groups() const {
  std::vector<GroupId> ids;
  for (const GroupImage& image : images_)
    ids.push_back(image.group);
  return ids;
}

// What the disk has of the group; of a new one, what it begins with.
base::Result<GroupImage, OpenError> Host::image_of(const GroupOptions& options) const {
  const auto found = std::ranges::find(images_, options.group, &GroupImage::group);
  if (found == images_.end()) {
    return options.replicated ? newborn_image(options.group, options.replicated->founders)
                              : local_image(options.group);
  }
  const bool replicated = found->engine == EngineKind::kRaft;
  if (replicated == options.replicated.has_value()) return *found;
  return base::fail(OpenError::kForeign,
                    fmt::format("group {} is {}", options.group.value(),
                                replicated ? "replicated: open it with its peers"
                                           : "not replicated: convert it first"));
}

base::Result<std::unique_ptr<Engine>, OpenError> Host::open_engine(const GroupImage& image,
                                                                   const GroupOptions& options) {
  if (!options.replicated) return std::make_unique<LocalEngine>(image);
  return open_raft_engine({.image = image,
                           .self = parts_.replication.self,
                           .applied = options.machine.applied().index,
                           .seed = options.replicated->seed,
                           .settings = parts_.settings.raft,
                           .storage = parts_.storage,
                           .runner = parts_.runner,
                           .logger = parts_.logger,
                           .sync_reads = &metrics_.sync_reads,
                           .crashes = parts_.crashes});
}

base::Result<Group*, OpenError> Host::open_group(const GroupOptions& options) {
  if (options.replicated && std::ranges::count(parts_.quarantined, options.group) > 0) {
    return base::fail(OpenError::kDamaged,
                      quarantine_reason(options.group, parts_.replication.self));
  }
  GroupImage image = CAD_TRY(image_of(options));
  CAD_TRY(complete_install(image, options.machine, parts_.replication.snapshotter));
  CAD_TRY(prepare(image, options.machine, parts_.storage));
  auto engine = CAD_TRY(open_engine(image, options));

  Opened opened;
  const ApplierParts parts{.group = options.group,
                           .machine = options.machine,
                           .runner = parts_.runner,
                           .attention = attention_,
                           .clock = parts_.clock,
                           .listener = options.listener};
  opened.log =
      std::make_unique<GroupLog>(image, std::move(engine), parts, intake_, parts_.settings);
  if (image.installing) opened.log->install = Install{*image.installing, Install::Step::kClearing};
  const bool is_new =
      std::ranges::find(images_, options.group, &GroupImage::group) == images_.end();
  if (is_new) opened.log->created = image.engine;
  if (options.replicated && has_left(image, parts_.replication.self)) {
    opened.log->applier.end(
        fmt::format("node {} was removed from group {} and does not come back: archive the "
                    "directory, and join with an empty one and a new raft_id",
                    parts_.replication.self.value(), options.group.value()));
  }
  const base::BootClock* const boot = parts_.replication.boot_clock;
  if (options.replicated && boot != nullptr && parts_.settings.raft.lease_reads)
    opened.log->lease = std::make_unique<GroupLease>(lease_length(parts_.settings.raft), *boot);
  if (options.replicated) opened.log->show_membership();
  opened.face = std::make_unique<Group>(*opened.log, loop_, parts_.clock);
  GroupLog& log = *opened.log;
  Group* face = opened.face.get();
  {
    const base::MutexLock lock(mutex_);
    CAD_CHECK(groups_.size() < kGroupsMax, "a node has at most 4,096 groups");
    const bool added = groups_.try_emplace(options.group, std::move(opened)).second;
    CAD_CHECK(added, "a group is opened once");
  }
  loop_.attach(log);
  return face;
}

void Host::on_frames(NodeId from, std::vector<Frame> frames) {
  const std::size_t dropped = inbound_.push(from, std::move(frames));
  metrics_.frames_dropped.fetch_add(dropped, std::memory_order_relaxed);
  parts_.runner.help_log();
}

void Host::on_unreachable(NodeId to) {
  inbound_.unreachable(to);
  parts_.runner.wake_log();
}

void Host::on_snapshot_report(NodeId from, GroupId group, const SnapshotReport& report) {
  loop_.snapshot_reported(from, group, report);
}

bool Host::run_reader() {
  const auto task = reader_.take();
  if (!task) return false;
  const Reader::Request& request = task->request;
  reader_.finish({request, parts_.storage.read(request.group, request.incarnation, request.low,
                                               request.high, task->bytes_max)});
  return true;
}

bool Host::run_writer() {
  const auto set = begin_write();
  if (!set) return false;
  finish_write(parts_.storage.write(*set));
  return true;
}

GroupLog* Host::find(GroupId group) const {
  const base::MutexLock lock(mutex_);
  const auto found = groups_.find(group);
  return found == groups_.end() ? nullptr : found->second.log.get();
}

bool Host::run_applier(GroupId group) {
  if (dead()) return false;
  GroupLog* log = find(group);
  return log != nullptr && log->applier.run();
}

bool Host::drained() const {
  if (dead()) return true;
  if (!loop_.drained()) return false;
  const base::MutexLock lock(mutex_);
  return std::ranges::all_of(groups_,
                             [](const auto& group) { return group.second.log->applier.idle(); });
}

}  // namespace cadastre::log
