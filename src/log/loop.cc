#include "log/loop.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "log/request_limits.h"

namespace cadastre::log {
namespace {

std::uint64_t nanoseconds(base::Elapsed time) noexcept {
  return static_cast<std::uint64_t>(std::max(time, base::Elapsed{}).count());
}

constexpr const char* kManyWait = "too many such requests wait: try again later";

// A reader who counts until it is answered; nothing: there are too many, and it was told.
std::optional<ReadDone> count_reader(GroupLog& group, ReadDone done) {
  if (group.readers.fetch_add(1) >= kReadBarriersMax) {
    group.readers.fetch_sub(1);
    done(base::fail(ReadError::kOverloaded, "too many readers wait"));
    return std::nullopt;
  }
  return [&group, told = std::move(done)](ReadAnswer answer) mutable {
    group.readers.fetch_sub(1);
    told(std::move(answer));
  };
}

}  // namespace

Loop::Loop(const LoopParts& parts, SetNumber last_set)
    : parts_(parts),
      mail_(std::make_shared<SnapshotMail>(parts.runner)),
      peers_(parts.self, parts.transport, parts.settings.raft, parts.metrics),
      notices_(parts.logger, parts.clock, parts.self),
      reads_(parts.runner),
      next_set_(SetNumber{last_set.value() + 1}),
      house_kept_(parts.clock.elapsed()),
      last_pass_(house_kept_) {}

std::optional<base::Elapsed> Loop::pass() {
  if (dead()) return std::nullopt;
  const base::Elapsed now = parts_.clock.elapsed();
  parts_.metrics.passes.fetch_add(1, std::memory_order_relaxed);
  if (parts_.boot_clock != nullptr) booted_ = parts_.boot_clock->read();
  take_requests(now);
  finish_set(now);
  if (dead()) return std::nullopt;
  heed_appliers(now);
  heed_snapshots(now);
  heed_reader(now);
  keep_house(now);
  tick(now);
  receive();
  begin_reads(now);
  close_batches(now);
  take_outputs(now);
  hand_over(now);
  peers_.flush();
  note_drained();
  last_took_ = parts_.clock.elapsed() - now;
  parts_.metrics.pass_ns.record(nanoseconds(last_took_));
  return next_call(now);
}

void Loop::attach(GroupLog& group) {
  {
    const base::MutexLock lock(mutex_);
    requests_.attach.push_back(&group);
  }
  parts_.runner.wake_log();
}

void Loop::read_barrier(GroupLog& group, ReadMode mode, ReadDone done) {
  auto counted = count_reader(group, std::move(done));
  if (!counted) return;
  ReadRounds::Reader reader{
      .mode = mode, .done = std::move(*counted), .came = parts_.clock.elapsed()};
  {
    const base::MutexLock lock(mutex_);
    requests_.reads.emplace_back(&group, std::move(reader));
    reads_.add(1);
  }
  reads_.wake_if_due();
}

void Loop::await_applied(GroupLog& group, Index index, ReadDone done) {
  auto counted = count_reader(group, std::move(done));
  if (!counted) return;
  std::vector<ApplyWork> work;
  work.emplace_back(ReadBarrier{index, std::move(*counted)});
  group.applier.push(std::move(work));
}

template <class T>
std::optional<T> Loop::ask(std::vector<T> Requests::* list, T request) {
  {
    const base::MutexLock lock(mutex_);
    std::vector<T>& waiting = requests_.*list;
    if (waiting.size() >= kRequestsMax) return request;
    waiting.push_back(std::move(request));
  }
  parts_.runner.wake_log();
  return std::nullopt;
}

void Loop::checkpoint(GroupLog& group, CheckpointMarker marker) {
  auto refused = ask(&Requests::checkpoints, std::pair{&group, std::move(marker)});
  if (refused) refused->second.done(base::fail(CheckpointError::kBusy, kManyWait));
}

void Loop::change_membership(GroupLog& group, MembershipChange change, ConfDone done) {
  auto refused =
      ask(&Requests::memberships, Membership{&group, std::move(change), std::move(done)});
  if (refused) refused->done(base::fail(ConfError::kBusy, kManyWait));
}

void Loop::transfer(GroupLog& group, TransferRequest request) {
  auto refused = ask(&Requests::transfers, std::pair{&group, std::move(request)});
  if (refused) refused->second.done(base::fail(TransferError::kBusy, kManyWait));
}

void Loop::not_wanted(const NotWanted& told) {
  {
    const base::MutexLock lock(mutex_);
    if (requests_.not_wanted.size() < kNotWantedMax) requests_.not_wanted.push_back(told);
  }
  parts_.runner.wake_log();
}

void Loop::stop() {
  {
    const base::MutexLock lock(mutex_);
    requests_.stop = true;
  }
  parts_.runner.wake_log();
}

void Loop::abandon() {
  Requests requests;
  {
    const base::MutexLock lock(mutex_);
    requests = std::exchange(requests_, {});
  }
  const std::string reason = "the process is going down";
  for (auto& [group, reader] : requests.reads)
    reader.done(base::fail(ReadError::kStopped, reason));
  for (auto& [group, marker] : requests.checkpoints)
    marker.done(base::fail(CheckpointError::kStopped, reason));
  for (Membership& request : requests.memberships)
    request.done(base::fail(ConfError::kStopped, reason));
  for (auto& [group, request] : requests.transfers)
    request.done(base::fail(TransferError::kStopped, reason));
  for (auto& [group, done] : requests.inspections)
    done(std::nullopt);
  for (const auto& [id, group] : groups_) {
    for (ReadRounds::Reader& reader : group->reads.take_all())
      reader.done(base::fail(ReadError::kStopped, reason));
    if (auto waiter = std::exchange(group->conf_waiter, std::nullopt))
      waiter->done(base::fail(ConfError::kOutcomeUnknown, reason));
    if (auto transfer = std::exchange(group->transfer, std::nullopt))
      transfer->done(base::fail(TransferError::kStopped, reason));
  }
}

void Loop::take_requests(base::Elapsed now) {
  Requests requests;
  const bool readers_wait = !stopping_ && readers_.waits(reads_.queued(), now);
  {
    const base::MutexLock lock(mutex_);
    requests = std::exchange(requests_, {});
    if (readers_wait) std::swap(requests.reads, requests_.reads);
  }
  for (GroupLog* group : requests.attach) {
    groups_.emplace(group->id, group);
    if (group->engine->replica() != nullptr) {
      group->guard.emplace(parts_.settings.raft, now);
      replicated_.push_back(group);
      if (group->install) clear_install(*group);
      if (group->lease) notices_.lease_on(group->id, lease_length(parts_.settings.raft));
    }
    touch(*group);
  }
  take_reads(std::move(requests.reads));
  for (auto& [group, marker] : requests.checkpoints) {
    std::vector<ApplyWork> work;
    work.emplace_back(std::move(marker));
    group->applier.push(std::move(work));
  }
  for (Membership& request : requests.memberships)
    propose_conf(request, now);
  for (auto& [group, request] : requests.transfers)
    begin_transfer(*group, request, now);
  for (const NotWanted& told : requests.not_wanted)
    take_not_wanted(told);
  for (auto& [group, done] : requests.inspections)
    done(detail_of(*group));
  if (requests.stop && !stopping_) begin_stop();
}

void Loop::take_reads(std::vector<std::pair<GroupLog*, ReadRounds::Reader>> reads) {
  if (reads.empty()) return;
  reads_.taken(reads.size());
  readers_.begins(reads.size());
  for (auto& [group, reader] : reads) {
    group->metrics.record(reader.mode);
    if (group->ended() || stopping_) {
      reader.done(base::fail(ReadError::kStopped, "the group is closing or has halted here"));
      continue;
    }
    if (!std::exchange(group->has_readers, true)) with_readers_.push_back(group);
    group->reads.add(std::move(reader));
  }
}

void Loop::begin_stop() {
  stopping_ = true;
  for (const auto& [id, group] : groups_) {
    for (Done& done : group->queue.close()) {
      group->metrics.record(ProposeError::kStopped, 1);
      done(base::fail(ProposeError::kStopped, "the node is stopping"));
    }
    touch(*group);  // Its lease ends.
  }
}

void Loop::finish_set(base::Elapsed now) {
  const auto finished = parts_.writer.take_finished();
  if (!finished) return;
  CAD_CHECK(in_disk_.has_value(), "only a set that was handed over is finished");
  if (!*finished) {
    dead_.store(true);
    parts_.runner.fail_stop(
        fmt::format("the log could not be written: {}", finished->error().detail));
    return;
  }
  parts_.metrics.sync_ns.record(nanoseconds(now - in_disk_->handed_over));
  if (in_disk_->reported_late) notices_.sync_ended(now - in_disk_->handed_over);
  for (const auto& [group, output] : in_disk_->outputs) {
    release(*group, group->held.persisted(output));
    group->metrics.write_ns.record(nanoseconds(now - in_disk_->handed_over));
    touch(*group);
  }
  for (GroupLog* group : in_disk_->confs)
    finish_conf(*group);
  for (GroupLog* group : in_disk_->installs)
    go_on_installing(*group, now);
  handover_.set_done(in_disk_->to_answer, now);
  in_disk_.reset();
}

void Loop::release(GroupLog& group, Held::Released released) {
  if (released.upto == OutputNumber{0}) return;
  group.engine->on_persisted(released.upto);
  peers_.send(group, std::move(released.messages));
}

void Loop::watch_sync(base::Elapsed now) {
  if (!in_disk_) return;
  in_disk_->age.look(now);
  if (in_disk_->age.late() && !std::exchange(in_disk_->reported_late, true)) {
    parts_.metrics.late_syncs.fetch_add(1, std::memory_order_relaxed);
    notices_.sync_late(in_disk_->age.watched());
  }
  if (!in_disk_->age.hung()) return;
  dead_.store(true);
  parts_.runner.fail_stop("the disk has not answered a sync for 30 s");
}

void Loop::close_batches(base::Elapsed now) {
  std::ranges::copy(parts_.intake.take_groups(), std::back_inserter(with_commands_));
  if (with_commands_.empty() || in_disk_ || handover_.waits(parts_.intake.queued(), now)) return;
  // What take() leaves behind announces itself again.
  for (const GroupId id : std::exchange(with_commands_, {})) {
    const auto found = groups_.find(id);
    if (found == groups_.end() || waits_for_commit(*found->second, now)) {
      with_commands_.push_back(id);  // Not attached yet, or about to be joined by others.
    } else {
      propose(*found->second, now);
    }
  }
}

bool Loop::waits_for_commit(const GroupLog& group, base::Elapsed now) const {
  if (group.engine->replica() == nullptr || group.waiters.empty()) return false;
  return handover_.waits_for_commit(now) &&
         group.queue.load().queued.bytes <= kWaitsForCommitBytesMax;
}

void Loop::propose(GroupLog& group, base::Elapsed now) {
  const auto wall = parts_.clock.now().time_since_epoch();
  const auto hint = std::chrono::duration_cast<std::chrono::milliseconds>(wall).count();
  const bool replicated = group.engine->replica() != nullptr;
  std::vector<Batch> batches = group.queue.take(
      static_cast<std::uint64_t>(hint), replicated ? kReplicatedPassBytesMax : kPassBytesMax);
  // Neighbours that may go in any term enter the engine in one call (L-11); a fenced one alone (L-17).
  std::vector<Batch> run;
  for (Batch& batch : batches) {
    if (!run.empty() && (batch.term != kAnyTerm || run.back().term != kAnyTerm))
      propose_run(group, run, now);
    run.push_back(std::move(batch));
  }
  if (!run.empty()) propose_run(group, run, now);
  touch(group);
}

void Loop::propose_run(GroupLog& group, std::vector<Batch>& run, base::Elapsed now) {
  std::vector<Body> bodies;
  bodies.reserve(run.size());
  for (const Batch& batch : run)
    bodies.push_back(batch.body);
  const auto first = group.engine->propose(run.front().term, bodies);
  if (first) old_entries_.busy(now);
  if (first && group.lease) group.lease->lease.proposed(first->index, booted_);
  std::uint64_t place = 0;
  for (Batch& batch : run) {
    const std::size_t commands = batch.waiters.size();
    const std::size_t bytes = batch.body.size() - kBodyHeaderBytes - commands * kBodySlotBytes;
    group.metrics.queue_ns.record(nanoseconds(now - batch.opened));
    group.metrics.batch_commands.record(commands);
    if (first) {
      group.waiters.add({first->term, first->index + place++},
                        {std::move(batch.waiters), bytes, now});
      filling_notes_.commands += commands;
      if (group.engine->replica() == nullptr) filling_notes_.to_answer += commands;
      continue;
    }
    group.metrics.record(first.error().code, commands);
    group.queue.settled({.commands = commands, .bytes = bytes, .entries = 1});
    for (Done& done : batch.waiters)
      done(std::unexpected(first.error()));
  }
  run.clear();
}

void Loop::hand_over(base::Elapsed now) {
  if (filling_.empty() || in_disk_) return;
  WriteSet set = filling_.take(next_set_);
  next_set_ = SetNumber{next_set_.value() + 1};
  parts_.metrics.set_bytes.record(set.bytes);
  parts_.metrics.set_groups.record(set.groups.size());
  parts_.metrics.set_commands.record(filling_notes_.commands);
  handover_.leaves(filling_notes_.commands);
  in_disk_ = std::exchange(filling_notes_, {});
  in_disk_->handed_over = now;
  in_disk_->age = SyncAge(now);
  parts_.writer.hand_over(std::move(set));
}

void Loop::note_drained() {
  if (!stopping_ || drained()) return;
  if (in_disk_ || !filling_.empty() || !with_output_.empty() || !with_readers_.empty()) return;
  for (const auto& [id, group] : groups_) {
    if (!group->halted && !group->waiters.empty()) return;
  }
  drained_.store(true);
}

std::optional<base::Elapsed> Loop::next_call(base::Elapsed now) {
  if (more_frames_ || (!with_output_.empty() && !in_disk_)) return now;
  base::Elapsed timer = house_kept_ + parts_.settings.housekeeping_every;
  if (!replicated_.empty()) timer = std::min(timer, peers_.next_tick());
  if (const auto due = old_entries_.next_due()) timer = std::min(timer, *due);
  const bool readers_wait = readers_.waits(reads_.queued(), now);
  if (readers_wait) timer = std::min(timer, readers_.until());
  if (reads_.arm(readers_wait ? readers_.expected() : 1)) return now;
  const std::uint64_t queued = parts_.intake.queued();
  const bool waits = !in_disk_ && handover_.waits(queued, now);
  if (waits && !with_commands_.empty())
    parts_.metrics.handover_waits.fetch_add(1, std::memory_order_relaxed);
  if (waits) timer = std::min(timer, handover_.until());
  // Those who wait for a commit are woken by it; commands of other groups need not wait for it.
  const bool commit_waits = !in_disk_ && !with_commands_.empty() && handover_.waits_for_commit(now);
  if (commit_waits) timer = std::min(timer, handover_.commit_until());
  const std::uint64_t wake_at = waits ? handover_.expected() : (commit_waits ? queued + 1 : 1);
  if (parts_.intake.arm(in_disk_ ? Intake::kNever : wake_at)) return now;
  return timer;
}

}  // namespace cadastre::log
