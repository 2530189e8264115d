#include "sim/log/log_node.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "log/conf_context.h"
#include "sim/log/membership_churn.h"

namespace cadastre::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr nanoseconds kSyncLeast = microseconds(150);
constexpr nanoseconds kSyncMost = microseconds(2000);
constexpr std::uint64_t kLongSyncIn = 200;  // One in so many takes up to kLongSyncMost.
constexpr nanoseconds kLongSyncMost = milliseconds(80);
// About how long it takes to fetch the rest of a snapshot, and to install it: two syncs and the switch between them.
constexpr nanoseconds kFetchingMost = milliseconds(100);
constexpr nanoseconds kSwitchMost = milliseconds(20);
constexpr nanoseconds kInstallingMost = 2 * kSyncMost + kSwitchMost;

}  // namespace

LogNode::LogNode(const LogWorldParts& world, const Options& options)
    : world_(world),
      options_(options),
      random_(options.seed),
      clock_(world.scheduler, {.wall = base::Instant(std::chrono::seconds(1'700'000'000))}) {
  for (std::uint64_t group = 0; group < options.groups; ++group)
    groups_[log::GroupId{group}];
}

LogNode::~LogNode() {
  dying_ = true;
  if (up()) world_.network.detach(options_.id);
}

nanoseconds LogNode::jitter(nanoseconds most) {
  return nanoseconds(random_.below(static_cast<std::uint64_t>(most.count()) + 1));
}

checkers::GroupId LogNode::history_group(log::GroupId group) const {
  return checkers::GroupId{(replicated() ? 0 : options_.id.value()) * 1'000 + group.value()};
}

void LogNode::violate(std::string what) {
  world_.violations.push_back(fmt::format("{:.6f} s, node {}: {}",
                                          in_seconds(world_.scheduler.now().time_since_epoch()),
                                          options_.id.value(), what));
}

void LogNode::start() {
  CAD_CHECK(!up(), "one process at a time");
  if (lost_) return;
  ++counters_.starts;
  dying_ = false;
  passed_ = false;
  storage_ = std::make_unique<node::MemoryStorage>(
      disk_, log::NodeIdentity{kCluster, log::NodeId{options_.id.value()}});
  release_ghosts();
  admission_.emplace(server::PeerIdentity{kCluster, log::NodeId{options_.id.value()}});
  not_here_.emplace(log::kNotHereEvery, log::kNotHereKeptMax);
  if (!open_host()) return;
  world_.network.attach(options_.id, *this);
  for (auto& [id, hosted] : groups_)
    open_group(hosted, id);
}

void LogNode::note_recovered(const log::LogStorage::Recovered& found) {
  world_.oracle.restarted(options_.id, *storage_, found);
  for (const log::GroupImage& image : found.groups) {
    HostedGroup& hosted = groups_.at(image.group);
    hosted.synced = image.last.index;
    hosted.begins = image.truncated.index;
    hosted.switches = false;
    hosted.installing.reset();
    if (image.installing && hosted.disk.flushed.applied.index < image.installing->at.index)
      hosted.installing = image.installing->at.index;
  }
}

void LogNode::make_carrier() {
  carrier_ = std::make_unique<CheckpointCarrier>(CheckpointCarrier::Parts{
      .self = options_.id,
      .scheduler = world_.scheduler,
      .shelf = shelf_,
      .clock = clock_,
      .random = random_,
      .ask = [this](NodeId to,
                    const PieceRequest& request) { post(to, Lane::kBulk, encode(request)); },
      .answer =
          [this](NodeId to, const PieceAnswer& answer) {
            post(to, Lane::kBulk, encode(answer));
          }});
}

bool LogNode::open_host() {
  if (replicated()) {
    if (const auto found = storage_->recover()) note_recovered(*found);
    make_carrier();
  }
  const log::HostReplication replication{.self = log::NodeId{options_.id.value()},
                                         .run = counters_.starts,
                                         .transport = this,
                                         .cluster = kCluster,
                                         .snapshotter = carrier_.get(),
                                         .boot_clock = &boot_clock_,
                                         .membership = this};
  auto opened = log::Host::open({*storage_, *this, clock_, options_.settings, replication});
  if (!opened) {
    if (!flipped_) violate("the log does not open: " + opened.error().detail);
    if (flipped_) ++counters_.flips_found;
    lost_ = true;
    return false;
  }
  if (flipped_) violate("a turned bit was not noticed");
  host_ = std::move(*opened);
  host_->set_space(space_);
  return true;
}

void LogNode::open_group(HostedGroup& hosted, log::GroupId id) {
  hosted.machine = std::make_unique<RegisterMachine>(hosted.disk, shelf_);
  world_.digests.restored({history_group(id), options_.id},
                          checkers::LogIndex{hosted.machine->applied().index.value()},
                          checkers::Digest{hosted.machine->state().digest});
  log::GroupOptions options{.group = id, .machine = *hosted.machine};
  if (replicated()) {
    options.replicated = log::ReplicaOptions{.founders = {}, .seed = options_.seed};
    const bool joins = options_.id.value() > options_.founders;
    for (std::uint64_t voter = 1; voter <= options_.founders && !joins; ++voter)
      options.replicated->founders.emplace_back(voter);
  }
  auto group = host_->open_group(options);
  if (!group) {
    violate(fmt::format("group {} does not open: {}", id.value(), group.error().detail));
    return;
  }
  hosted.face = *group;
  check_start(hosted, id);
}

void LogNode::crash(std::uint64_t unsynced_per_mille) {
  if (!up()) return;
  ++counters_.crashes;
  dying_ = true;
  world_.scheduler.crash(options_.id);
  world_.network.detach(options_.id);
  count_process();
  host_.reset();
  if (const std::size_t left = ledger_.clear(); left > 0)
    violate(fmt::format("{} callbacks ended with the process and were not called", left));
  carrier_.reset();
  storage_.reset();
  for (auto& [id, hosted] : groups_) {
    hosted.face = nullptr;
    hosted.machine.reset();
    hosted.conf.reset();
    hosted.context = {};
  }
  disk_.crash(disk_.unsynced_bytes() * unsynced_per_mille / 1000);
  shelf_.crash([&] { return random_.below(2) == 0; });
}

void LogNode::count_process() {
  const log::NodeMetrics& metrics = host_->metrics();
  counters_.truncations += metrics.truncations.load();
  counters_.appends_refused += metrics.appends_refused.load();
  counters_.late_syncs += metrics.late_syncs.load();
  counters_.snapshots_made += metrics.snapshots_made.load();
  counters_.snapshots_sent += metrics.snapshots_sent.load();
  counters_.snapshots_installed += metrics.snapshots_installed.load();
  counters_.snapshots_failed += metrics.snapshots_failed.load();
  if (carrier_) counters_.stagings_cut += carrier_->staging();
}

void LogNode::slow_next_files(nanoseconds lasts) {
  if (carrier_) carrier_->slow_next(lasts);
}

void LogNode::fail_next_files() {
  if (carrier_) carrier_->fail_next();
}

void LogNode::forget_faults() {
  slow_sync_.reset();
  failure_.reset();
  set_space(log::Space::kPlenty);
  crash_fed_.reset();
  if (carrier_) carrier_->forget_faults();
}

void LogNode::set_space(log::Space space) {
  const bool was_low = std::exchange(space_, space) != log::Space::kPlenty;
  if (host_) host_->set_space(space);
  if (!was_low && space != log::Space::kPlenty) {
    for (std::uint64_t group = 0; group < options_.groups; ++group) {
      if (leads(group)) led_when_low_.insert(group);
    }
  }
  if (space != log::Space::kPlenty) return;
  for (const std::uint64_t group : std::exchange(led_when_low_, {}))
    counters_.retreats += up() && !leads(group) ? 1 : 0;
}

void LogNode::flip_bit(std::uint64_t luck) {
  // Not in the last set: one that rots before the next is written looks torn, to every reader. Nor in what the crash cut
  // short, which is thrown away and may be most of a young disk.
  const std::size_t safe =
      std::min(disk_.bytes().size() / 2, log::MemoryStorage::whole_bytes(disk_.bytes()));
  if (up() || lost_ || safe == 0) return;
  disk_.flip_bit(luck % (safe * 8));
  flipped_ = true;
}

void LogNode::flush(std::uint64_t group) {
  const auto found = groups_.find(log::GroupId{group});
  if (up() && found != groups_.end() && found->second.machine)
    found->second.machine->request_flush();
}

std::optional<log::GroupStatus> LogNode::status_of(std::uint64_t group) const {
  const auto found = groups_.find(log::GroupId{group});
  if (found == groups_.end() || found->second.face == nullptr) return std::nullopt;
  return found->second.face->status();
}

bool LogNode::leads(std::uint64_t group) const {
  const auto status = status_of(group);
  return status && status->role == log::Role::kLeader;
}

std::vector<log::NodeId> LogNode::strangers_of(const log::ConfRecord& record) const {
  const log::ConfContext context = log::context_of(record);
  std::vector<log::NodeId> strangers;
  for (std::uint64_t id = options_.founders + 1; id <= options_.joiners; ++id) {
    const log::NodeId node{id};
    if (!record.conf.has(node) && !context.has_left(node)) strangers.push_back(node);
  }
  return strangers;
}

void LogNode::on_membership(log::GroupId group,
                            const std::shared_ptr<const log::ConfRecord>& conf) {
  groups_.at(group).conf = conf;
  groups_.at(group).context = log::context_of(*conf);
}

void LogNode::transfer(std::uint64_t group, NodeId to) {
  groups_.at(log::GroupId{group})
      .face->transfer_leadership(
          log::NodeId{to.value()}, {},
          counted(log::GroupId{group}, CompletionKind::kTransfer,
                  [this](const auto& moved) { counters_.transfers += moved.has_value() ? 1 : 0; }));
}

void LogNode::change_membership(std::uint64_t group, std::uint64_t luck) {
  const log::GroupStatus status = groups_.at(log::GroupId{group}).face->status();
  auto change = next_change(status.conf->conf, log::NodeId{options_.id.value()},
                            strangers_of(*status.conf), luck, options_.voters_min);
  if (!change) return;
  // Forced: whoever is asked to vote may be behind, and those who remain may be away.
  ask_change(group, {.steps = std::move(change->steps),
                     .expected_conf_index = status.conf->index,
                     .force = true});
}

void LogNode::ask_change(std::uint64_t group, log::MembershipChange change) {
  for (const log::ConfStep& step : change.steps)
    change.addresses.push_back({step.node, {fmt::format("node{}:1", step.node.value()), ""}});
  groups_.at(log::GroupId{group})
      .face->change_membership(
          std::move(change),
          counted(log::GroupId{group}, CompletionKind::kChange, [this](const auto& changed) {
            counters_.changes += changed.has_value() ? 1 : 0;
          }));
}

void LogNode::wake_log() {
  if (dying_ || world_.scheduler.pending(log_task_)) return;
  log_task_ = world_.scheduler.after(options_.id, jitter(kStepDelayMost), [this] { run_log(); });
}

void LogNode::run_log() {
  world_.scheduler.cancel(timer_);
  const auto again = host_->run_log();
  if (dying_) return;
  passed_ = true;
  if (again) {
    const nanoseconds left = std::max(*again - clock_.elapsed(), nanoseconds(1));
    timer_ = world_.scheduler.at(options_.id, clock_.due_in(left), [this] { wake_log(); });
  }
  for (auto& [id, hosted] : groups_)
    check(hosted, id);
  if (host_->inbound_bytes() > log::kInboundBytesMax) violate("too many frames of peers wait");
}

void LogNode::wake_writer() {
  if (dying_ || world_.scheduler.pending(writer_task_)) return;
  writer_task_ =
      world_.scheduler.after(options_.id, jitter(kStepDelayMost), [this] { begin_write(); });
}

void LogNode::wake_reader() {
  if (dying_ || world_.scheduler.pending(reader_task_)) return;
  reader_task_ = world_.scheduler.after(options_.id, jitter(kStepDelayMost), [this] {
    if (host_->run_reader()) wake_reader();
  });
}

void LogNode::begin_write() {
  auto set = host_->begin_write();
  if (!set) return;
  ++counters_.sets;
  if (set->bytes > log::kSetBytesHard) violate("a set is too large");
  storage_->append(*set);
  for (const log::GroupWrite& write : set->groups) {
    if (write.installs) on_fed(Fed::kInstalling);
  }
  nanoseconds lasts_for = kSyncLeast + jitter(kSyncMost - kSyncLeast);
  if (random_.below(kLongSyncIn) == 0) lasts_for = jitter(kLongSyncMost);
  if (slow_sync_) lasts_for = *std::exchange(slow_sync_, std::nullopt);
  world_.scheduler.after(options_.id, lasts_for,
                         [this, written = std::move(*set)] { finish_write(written); });
}

void LogNode::finish_write(const log::WriteSet& set) {
  if (failure_) {
    host_->finish_write(base::fail(failure_->error, "the sync failed"));
    return;
  }
  storage_->sync();
  for (const log::GroupWrite& write : set.groups) {
    if (write.created == log::EngineKind::kTombstone) continue;  // Of a log that stays as it is.
    groups_.at(write.group).synced = write.last.index;
    groups_.at(write.group).switches = write.installs.has_value();
  }
  if (replicated()) world_.oracle.synced(options_.id, set);
  host_->finish_write({});
}

void LogNode::fail_stop(std::string_view reason) {
  if (!failure_) return violate(fmt::format("it stopped itself: {}", reason));
  const auto [error, down] = *std::exchange(failure_, std::nullopt);
  if (error == log::WriteError::kDiskFull) {
    ++counters_.full_ends;
    space_ = log::Space::kPlenty;
  }
  // After this step: the host is still on the stack.
  crash_soon(nanoseconds(0), down);
}

// Nobody knows what the disk has of the set that is being written.
void LogNode::crash_soon(nanoseconds after, nanoseconds down) {
  const std::uint64_t kept =
      std::array<std::uint64_t, 3>{0, 1000, random_.below(1001)}[random_.below(3)];
  world_.scheduler.after(kWorld, after, [this, kept, down] {
    crash(kept);
    world_.scheduler.after(kWorld, down, [this] {
      if (!up()) start();
    });
  });
}

void LogNode::on_fed(Fed step) {
  if (!crash_fed_ || crash_fed_->when != step) return;
  const nanoseconds down = std::exchange(crash_fed_, std::nullopt)->down;
  crash_soon(jitter(step == Fed::kFetching ? kFetchingMost : kInstallingMost), down);
}

void LogNode::wake_applier(log::GroupId group) {
  TaskId& task = applier_tasks_[group];
  if (dying_ || world_.scheduler.pending(task)) return;
  const bool switches = std::exchange(groups_.at(group).switches, false);
  task = world_.scheduler.after(options_.id, jitter(switches ? kSwitchMost : kStepDelayMost),
                                [this, group] { run_applier(group); });
}

void LogNode::run_applier(log::GroupId group) {
  const bool more = host_->run_applier(group);
  if (dying_) return;
  HostedGroup& hosted = groups_.at(group);
  check(hosted, group);
  const log::Index applied = hosted.machine->applied().index;
  if (applied > hosted.synced) {
    violate(fmt::format("group {} executed entry {}, the disk has {}", group.value(),
                        applied.value(), hosted.synced.value()));
  }
  if (applied >
      hosted.reported) {  // A round is one step of the state: its last index stands for it.
    const checkers::Replica replica{history_group(group), options_.id};
    world_.digests.restored(replica, checkers::LogIndex{applied.value()},
                            checkers::Digest{hosted.machine->state().digest});
    hosted.reported = applied;
    if (replicated()) world_.oracle.executed(options_.id, group, hosted.machine->applied());
  }
  if (more) wake_applier(group);
}

}  // namespace cadastre::sim
