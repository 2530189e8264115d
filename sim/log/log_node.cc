#include "sim/log/log_node.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace cadastre::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr log::ClusterId kCluster{1};
constexpr nanoseconds kStepDelayMost = microseconds(40);
constexpr nanoseconds kSyncLeast = microseconds(150);
constexpr nanoseconds kSyncMost = microseconds(2000);
constexpr std::uint64_t kLongSyncIn = 200;  // One in so many takes up to kLongSyncMost.
constexpr nanoseconds kLongSyncMost = milliseconds(80);

LogReply reply_of(std::uint64_t number, const log::Answer& answer) {
  if (answer) return {number, LogOutcome::kOk, decode_result(answer->result)};
  switch (answer.error().code) {
    case log::ProposeError::kNotLeader:
    case log::ProposeError::kOverloaded:
    case log::ProposeError::kTooLarge:
    case log::ProposeError::kStopped:
    case log::ProposeError::kSuperseded: return {number, LogOutcome::kRefused, std::nullopt};
    case log::ProposeError::kOutcomeUnknown: break;
  }
  return {number, LogOutcome::kUnknown, std::nullopt};
}

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
  storage_ = std::make_unique<node::MemoryStorage>(
      disk_, log::NodeIdentity{kCluster, log::NodeId{options_.id.value()}});
  if (!open_host()) return;
  world_.network.attach(options_.id, *this);
  for (auto& [id, hosted] : groups_)
    open_group(hosted, id);
}

bool LogNode::open_host() {
  if (replicated()) {
    if (const auto found = storage_->recover()) {
      world_.oracle.restarted(options_.id, *storage_, *found);
      for (const log::GroupImage& image : found->groups)
        groups_.at(image.group).synced = image.last.index;
    }
  }
  const log::HostReplication replication{
      .self = log::NodeId{options_.id.value()}, .run = counters_.starts, .transport = this};
  auto opened = log::Host::open({*storage_, *this, clock_, options_.settings, replication});
  if (!opened) {
    if (!flipped_) violate("the log does not open: " + opened.error().detail);
    if (flipped_) ++counters_.flips_found;
    lost_ = true;
    return false;
  }
  if (flipped_) violate("a turned bit was not noticed");
  host_ = std::move(*opened);
  return true;
}

void LogNode::open_group(HostedGroup& hosted, log::GroupId id) {
  hosted.machine = std::make_unique<RegisterMachine>(hosted.disk);
  world_.digests.restored({history_group(id), options_.id},
                          checkers::LogIndex{hosted.machine->applied().index.value()},
                          checkers::Digest{hosted.machine->state().digest});
  log::GroupOptions options{.group = id, .machine = *hosted.machine};
  if (replicated()) {
    options.replicated = log::ReplicaOptions{.founders = {}, .seed = options_.seed};
    for (std::uint64_t voter = 1; voter <= options_.voters; ++voter)
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

void LogNode::check_start(HostedGroup& hosted, log::GroupId id) {
  const RegisterState& state = hosted.machine->state();
  for (const auto& [number, index] : hosted.answered) {
    if (!replicated() && !state.answers.contains(number)) {
      violate(fmt::format("group {} lost command {} of entry {}, which was answered", id.value(),
                          number, index.value()));
    }
  }
  world_.digests.restored({history_group(id), options_.id},
                          checkers::LogIndex{state.applied.index.value()},
                          checkers::Digest{state.digest});
  hosted.reported = state.applied.index;
  hosted.synced = std::max(hosted.synced, state.applied.index);
}

void LogNode::crash(std::uint64_t unsynced_per_mille) {
  if (!up()) return;
  ++counters_.crashes;
  dying_ = true;
  world_.scheduler.crash(options_.id);
  world_.network.detach(options_.id);
  counters_.truncations += host_->metrics().truncations.load();
  host_.reset();
  storage_.reset();
  for (auto& [id, hosted] : groups_) {
    hosted.face = nullptr;
    hosted.machine.reset();
  }
  disk_.crash(disk_.unsynced_bytes() * unsynced_per_mille / 1000);
}

void LogNode::flip_bit(std::uint64_t luck) {
  // Not in the last set: one that rots before the next is written looks torn, to every reader.
  const std::size_t safe = disk_.bytes().size() / 2;
  if (up() || lost_ || safe == 0) return;
  disk_.flip_bit(luck % (safe * 8));
  flipped_ = true;
}

void LogNode::flush(std::uint64_t group) {
  const auto found = groups_.find(log::GroupId{group});
  if (up() && found != groups_.end() && found->second.machine)
    found->second.machine->request_flush();
}

void LogNode::wake_log() {
  if (dying_ || world_.scheduler.pending(log_task_)) return;
  log_task_ = world_.scheduler.after(options_.id, jitter(kStepDelayMost), [this] { run_log(); });
}

void LogNode::run_log() {
  world_.scheduler.cancel(timer_);
  const auto again = host_->run_log();
  if (dying_) return;
  if (again) {
    const nanoseconds left = std::max(*again - clock_.elapsed(), nanoseconds(1));
    timer_ = world_.scheduler.at(options_.id, clock_.due_in(left), [this] { wake_log(); });
  }
  for (auto& [id, hosted] : groups_)
    check(hosted, id);
}

void LogNode::wake_writer() {
  if (dying_ || world_.scheduler.pending(writer_task_)) return;
  writer_task_ =
      world_.scheduler.after(options_.id, jitter(kStepDelayMost), [this] { begin_write(); });
}

void LogNode::begin_write() {
  auto set = host_->begin_write();
  if (!set) return;
  ++counters_.sets;
  storage_->append(*set);
  nanoseconds lasts_for = kSyncLeast + jitter(kSyncMost - kSyncLeast);
  if (random_.below(kLongSyncIn) == 0) lasts_for = jitter(kLongSyncMost);
  if (slow_sync_) lasts_for = *std::exchange(slow_sync_, std::nullopt);
  world_.scheduler.after(options_.id, lasts_for,
                         [this, written = std::move(*set)] { finish_write(written); });
}

void LogNode::finish_write(const log::WriteSet& set) {
  if (failed_sync_down_) {
    host_->finish_write(base::fail(log::WriteError::kFailed, "the sync failed"));
    return;
  }
  storage_->sync();
  for (const log::GroupWrite& write : set.groups)
    groups_.at(write.group).synced = write.last.index;
  if (replicated()) world_.oracle.synced(options_.id, set);
  host_->finish_write({});
}

void LogNode::fail_stop(std::string_view reason) {
  if (!failed_sync_down_) return violate(fmt::format("it stopped itself: {}", reason));
  const nanoseconds down = *std::exchange(failed_sync_down_, std::nullopt);
  // After this step: the host is still on the stack. Nobody knows what the disk has of the set.
  const std::uint64_t kept = random_.below(1001);
  world_.scheduler.after(kWorld, nanoseconds(0), [this, kept, down] {
    crash(kept);
    world_.scheduler.after(kWorld, down, [this] {
      if (!up()) start();
    });
  });
}

void LogNode::wake_applier(log::GroupId group) {
  TaskId& task = applier_tasks_[group];
  if (dying_ || world_.scheduler.pending(task)) return;
  task = world_.scheduler.after(options_.id, jitter(kStepDelayMost),
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

void LogNode::check(HostedGroup& hosted, log::GroupId id) {
  if (hosted.face == nullptr) return;
  const log::GroupStatus status = hosted.face->status();
  // The board is as old as the last pass, what the applier says is newer: the two are not compared.
  const bool ordered = status.truncated <= status.durable && status.durable <= status.applied &&
                       status.committed <= status.last && status.persisted <= status.last;
  if (!ordered) {
    violate(fmt::format("group {} is out of order: truncated {}, durable {}, applied {}, last {}",
                        id.value(), status.truncated.value(), status.durable.value(),
                        status.applied.value(), status.last.value()));
  }
  if (replicated() && status.leader.value() == options_.id.value())
    world_.oracle.leads(options_.id, id, status.term);
  if (!status.halted.empty())
    violate(fmt::format("group {} halted: {}", id.value(), status.halted));
}

void LogNode::on_frame(const StreamId& stream, base::Bytes frame) {
  if (!is_peer(stream.link.from)) return serve(stream.link.from, decode_request(frame));
  host_->on_frames(log::NodeId{stream.link.from.value()}, decode_frames(frame));
}

void LogNode::on_reset(const StreamId& stream) {
  if (up() && is_peer(stream.link.to)) host_->on_unreachable(log::NodeId{stream.link.to.value()});
}

void LogNode::send(log::NodeId to, log::Lane lane, std::vector<log::Frame> frames) {
  for (const log::Frame& frame : frames)
    world_.oracle.sends(options_.id, frame);
  const Lane by = lane == log::Lane::kBulk ? Lane::kBulk : Lane::kControl;
  world_.network.send({{options_.id, NodeId{to.value()}}, by}, encode_frames(frames));
}

void LogNode::serve(NodeId client, const LogRequest& request) {
  const auto found = groups_.find(log::GroupId{request.group});
  CAD_CHECK(found != groups_.end(), "clients know the groups");
  HostedGroup& hosted = found->second;
  if (hosted.face == nullptr)
    return reply(client, {request.number, LogOutcome::kRefused, std::nullopt});
  if (request.kind == checkers::OpKind::kRead) {
    const auto mode = request.anywhere ? log::ReadMode::kFollower : log::ReadMode::kLinearizable;
    hosted.face->read_barrier(
        mode, [this, client, request, &hosted](const log::ReadAnswer& answer) {
          if (dying_) return;
          if (!answer) return reply(client, {request.number, LogOutcome::kRefused, std::nullopt});
          reply(client, {request.number, LogOutcome::kOk, hosted.machine->read(request.key)});
        });
    return;
  }
  const base::Bytes command = encode(RegisterCommand{request.number, request.kind, request.key,
                                                     request.expected, request.argument});
  std::array proposals{log::Proposal{
      command, [this, client, request, &hosted](const log::Answer& answer) {
        if (dying_) return;
        if (answer) {
          hosted.answered[request.number] = answer->at.index;
          if (replicated())
            world_.oracle.answered(options_.id, log::GroupId{request.group}, answer->at);
          ++counters_.executed;
          if (answer->at.index > hosted.synced)
            violate("a command was answered before its sync returned");
        }
        reply(client, reply_of(request.number, answer));
      }}};
  hosted.face->propose(proposals, log::Class::kUser);
}

void LogNode::reply(NodeId client, const LogReply& reply) {
  world_.network.send({{options_.id, client}, Lane::kControl}, encode(reply));
}

}  // namespace cadastre::sim
