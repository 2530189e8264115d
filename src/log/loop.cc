#include "log/loop.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace cadastre::log {
namespace {

std::uint64_t nanoseconds(base::Elapsed time) noexcept {
  return static_cast<std::uint64_t>(std::max(time, base::Elapsed{}).count());
}

}  // namespace

Loop::Loop(const LoopParts& parts, SetNumber last_set)
    : parts_(parts),
      next_set_(SetNumber{last_set.value() + 1}),
      house_kept_(parts.clock.elapsed()) {}

std::optional<base::Elapsed> Loop::pass() {
  if (dead()) return std::nullopt;
  const base::Elapsed now = parts_.clock.elapsed();
  parts_.metrics.passes.fetch_add(1, std::memory_order_relaxed);
  take_requests();
  finish_set(now);
  if (dead()) return std::nullopt;
  keep_house(now);
  close_batches(now);
  take_outputs(now);
  hand_over(now);
  note_drained();
  parts_.metrics.pass_ns.record(nanoseconds(parts_.clock.elapsed() - now));
  return next_call(now);
}

void Loop::attach(GroupLog& group) {
  {
    const base::MutexLock lock(mutex_);
    requests_.attach.push_back(&group);
  }
  parts_.runner.wake_log();
}

void Loop::read_barrier(GroupLog& group, ReadDone done) {
  if (group.readers.fetch_add(1) >= kReadBarriersMax) {
    group.readers.fetch_sub(1);
    return done(base::fail(ReadError::kOverloaded, "too many readers wait"));
  }
  {
    const base::MutexLock lock(mutex_);
    requests_.reads.emplace_back(&group,
                                 [&group, told = std::move(done)](ReadAnswer answer) mutable {
                                   group.readers.fetch_sub(1);
                                   told(std::move(answer));
                                 });
  }
  parts_.runner.wake_log();
}

void Loop::checkpoint(GroupLog& group, CheckpointMarker marker) {
  {
    const base::MutexLock lock(mutex_);
    requests_.checkpoints.emplace_back(&group, std::move(marker));
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
  for (auto& [group, done] : requests.reads)
    done(base::fail(ReadError::kStopped, reason));
  for (auto& [sequence, read] : std::exchange(reads_, {}))
    read.second(base::fail(ReadError::kStopped, reason));
  for (auto& [group, marker] : requests.checkpoints)
    marker.done(base::fail(CheckpointError::kStopped, reason));
}

void Loop::take_requests() {
  Requests requests;
  {
    const base::MutexLock lock(mutex_);
    requests = std::exchange(requests_, {});
  }
  for (GroupLog* group : requests.attach) {
    groups_.emplace(group->id, group);
    with_output_.push_back(group);
  }
  for (auto& [group, done] : requests.reads) {
    group->metrics.read_barriers.fetch_add(1, std::memory_order_relaxed);
    if (group->halted || stopping_) {
      done(base::fail(ReadError::kStopped, "the group is closing or has halted here"));
      continue;
    }
    group->engine->read_index({next_read_});
    reads_.emplace(next_read_++, std::make_pair(group, std::move(done)));
    with_output_.push_back(group);
  }
  for (auto& [group, marker] : requests.checkpoints) {
    std::vector<ApplyWork> work;
    work.emplace_back(std::move(marker));
    group->applier.push(std::move(work));
  }
  if (!requests.stop || stopping_) return;
  stopping_ = true;
  for (const auto& [id, group] : groups_) {
    for (Done& done : group->queue.close()) {
      group->metrics.record(ProposeError::kStopped, 1);
      done(base::fail(ProposeError::kStopped, "the node is stopping"));
    }
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
  for (const auto& [group, output] : in_disk_->outputs) {
    group->engine->on_persisted(output);
    group->metrics.write_ns.record(nanoseconds(now - in_disk_->handed_over));
    with_output_.push_back(group);
  }
  handover_.set_done(in_disk_->commands, now);
  in_disk_.reset();
}

void Loop::keep_house(base::Elapsed now) {
  watch_sync(now);
  if (now - house_kept_ < parts_.settings.housekeeping_every) return;
  house_kept_ = now;
  GroupLog* oldest = nullptr;  // The group whose state holds most of the log back.
  for (const auto& [id, group] : groups_) {
    keep_group(*group, now);
    if (oldest == nullptr || group->retention.bytes() > oldest->retention.bytes()) oldest = group;
  }
  if (oldest == nullptr || parts_.storage.usage().disk_bytes <= parts_.settings.log_bytes_max)
    return;
  std::vector<ApplyWork> work;
  work.emplace_back(DurablePoll{.flush = true});
  oldest->applier.push(std::move(work));
}

void Loop::keep_group(GroupLog& group, base::Elapsed now) {
  if (group.applier.halted() && !group.halted) halt(group);
  if (group.halted) return;
  note_applied(group);
  const Applier::Progress progress = group.applier.progress();
  const Retention::Progress positions{progress.applied, progress.durable};
  if (const auto upto = group.retention.truncation(positions, now)) truncate(group, *upto, now);
  group.queue.refuse_users(group.retention.bytes() > kGroupLogBytesHard
                               ? "the group's log is too large: its state has to be flushed"
                               : std::string());
  const bool flush = group.retention.wants_flush(positions, now);
  if (progress.durable.index < progress.applied.index) {
    std::vector<ApplyWork> work;
    work.emplace_back(DurablePoll{.flush = flush});
    group.applier.push(std::move(work));
  }
  publish(group);
}

void Loop::truncate(GroupLog& group, Position upto, base::Elapsed now) {
  GroupWrite& write = write_of(group);
  // The set may wait for a slow one and be truncated further meanwhile: it erases from where the disk begins.
  if (!write.truncated) write.truncated_before = group.retention.truncated();
  write.truncated = upto;
  write.last = group.last;
  group.retention.truncated(upto.index, now);
  group.engine->on_truncated(upto);
  parts_.metrics.truncations.fetch_add(1, std::memory_order_relaxed);
}

void Loop::watch_sync(base::Elapsed now) {
  if (!in_disk_) return;
  const base::Elapsed age = now - in_disk_->handed_over;
  if (age >= kSyncLate && !std::exchange(in_disk_->reported_late, true))
    parts_.metrics.late_syncs.fetch_add(1, std::memory_order_relaxed);
  if (age < kSyncHung) return;
  dead_.store(true);
  parts_.runner.fail_stop("the disk has not answered a sync for 30 s");
}

void Loop::note_applied(GroupLog& group) {
  const Index applied = group.applier.applied();
  if (applied <= group.applied) return;
  group.applied = applied;
  group.engine->on_applied(applied);
}

void Loop::close_batches(base::Elapsed now) {
  std::ranges::copy(parts_.intake.take_groups(), std::back_inserter(with_commands_));
  if (with_commands_.empty() || in_disk_ || handover_.waits(parts_.intake.queued(), now)) return;
  // What take() leaves behind announces itself again.
  for (const GroupId id : std::exchange(with_commands_, {})) {
    const auto found = groups_.find(id);
    if (found == groups_.end()) {
      with_commands_.push_back(id);  // Not attached yet.
    } else {
      propose(*found->second, now);
    }
  }
}

void Loop::propose(GroupLog& group, base::Elapsed now) {
  const auto wall = parts_.clock.now().time_since_epoch();
  const auto hint = std::chrono::duration_cast<std::chrono::milliseconds>(wall).count();
  std::vector<Batch> batches = group.queue.take(static_cast<std::uint64_t>(hint));
  // Neighbours that may go in any term enter the engine in one call (L-11); a fenced one alone (L-17).
  std::vector<Batch> run;
  for (Batch& batch : batches) {
    if (!run.empty() && (batch.term != kAnyTerm || run.back().term != kAnyTerm))
      propose_run(group, run, now);
    run.push_back(std::move(batch));
  }
  if (!run.empty()) propose_run(group, run, now);
  with_output_.push_back(&group);
}

void Loop::propose_run(GroupLog& group, std::vector<Batch>& run, base::Elapsed now) {
  std::vector<Body> bodies;
  bodies.reserve(run.size());
  for (const Batch& batch : run)
    bodies.push_back(batch.body);
  const auto first = group.engine->propose(run.front().term, bodies);
  std::uint64_t place = 0;
  for (Batch& batch : run) {
    const std::size_t commands = batch.waiters.size();
    const std::size_t bytes = batch.body.size() - kBodyHeaderBytes - commands * kBodySlotBytes;
    group.metrics.queue_ns.record(nanoseconds(now - batch.opened));
    group.metrics.batch_commands.record(commands);
    if (first) {
      group.waiters.add({first->term, first->index + place++}, {std::move(batch.waiters), bytes});
      filling_notes_.commands += commands;
      continue;
    }
    group.metrics.record(first.error().code, commands);
    group.queue.settled(commands, bytes);
    for (Done& done : batch.waiters)
      done(std::unexpected(first.error()));
  }
  run.clear();
}

void Loop::take_outputs(base::Elapsed now) {
  std::vector<GroupLog*> later;
  for (GroupLog* group : std::exchange(with_output_, {})) {
    if (filling_.bytes >= kSetBytesMax) {
      later.push_back(group);
      continue;
    }
    if (group->applier.halted() && !group->halted) halt(*group);
    while (!group->halted && group->engine->has_output())
      take_output(*group, now);
    note_applied(*group);
    publish(*group);
  }
  std::ranges::copy(later, std::back_inserter(with_output_));
  if (!to_wake_.empty()) parts_.runner.wake_appliers(to_wake_);
  to_wake_.clear();
}

void Loop::take_output(GroupLog& group, base::Elapsed now) {
  Output output = group.engine->take_output();
  if (output.must_sync()) {
    fill_set(group, output);
    filling_notes_.outputs.emplace_back(&group, output.number);
  }
  std::vector<ApplyWork> work;
  work.reserve(output.committed.size() + output.reads.size());
  const EngineStatus status = group.engine->status();
  for (Entry& entry : output.committed) {
    Waiters::Settled settled = group.waiters.settle(entry.at);
    const bool acquires = status.role == Role::kLeader && entry.at.index == status.term_start;
    work.emplace_back(ApplyItem{std::move(entry), std::move(settled.applied),
                                std::move(settled.superseded), now, acquires});
  }
  for (const ReadState& read : output.reads) {
    const auto found = reads_.find(read.context.sequence);
    if (found == reads_.end()) continue;
    work.emplace_back(ReadBarrier{read.index, std::move(found->second.second)});
    reads_.erase(found);
  }
  if (group.applier.push_quietly(std::move(work))) to_wake_.push_back(group.id);
}

GroupWrite& Loop::write_of(GroupLog& group) {
  const auto found = std::ranges::find(filling_.groups, group.id, &GroupWrite::group);
  if (found != filling_.groups.end()) return *found;
  GroupWrite& write = filling_.groups.emplace_back();
  write.group = group.id;
  write.incarnation = group.incarnation;
  write.created = std::exchange(group.created, std::nullopt);
  write.last_before = group.last.index;
  return write;
}

void Loop::fill_set(GroupLog& group, Output& output) {
  GroupWrite& write = write_of(group);
  if (output.state) write.state = output.state;
  for (Entry& entry : output.entries) {
    const bool follows =
        write.entries.empty() || entry.at.index == write.entries.back().at.index + 1;
    CAD_CHECK(follows, "an engine appends without gaps");
    group.last = entry.at;
    group.retention.appended(entry.at.index, entry.body.size());
    filling_.bytes += entry.body.size();
    write.entries.push_back(std::move(entry));
  }
  write.last = group.last;
}

void Loop::hand_over(base::Elapsed now) {
  if (filling_.empty() || in_disk_) return;
  filling_.number = next_set_;
  next_set_ = SetNumber{next_set_.value() + 1};
  parts_.metrics.set_bytes.record(filling_.bytes);
  parts_.metrics.set_groups.record(filling_.groups.size());
  parts_.metrics.set_commands.record(filling_notes_.commands);
  handover_.leaves(filling_notes_.commands);
  in_disk_ = std::exchange(filling_notes_, {});
  in_disk_->handed_over = now;
  parts_.writer.hand_over(std::exchange(filling_, {}));
}

void Loop::publish(GroupLog& group) {
  const EngineStatus engine = group.engine->status();
  group.board.publish({.role = engine.role,
                       .term = engine.term,
                       .term_start = engine.term_start,
                       .last = engine.last,
                       .persisted = engine.persisted,
                       .committed = engine.committed,
                       .applied = {},
                       .durable = {},
                       .truncated = group.retention.truncated(),
                       .log_bytes = group.retention.bytes(),
                       .halted = {}});
}

void Loop::halt(GroupLog& group) {
  group.halted = true;
  for (EntryWaiters& waiters : group.waiters.take_all()) {
    group.metrics.record(ProposeError::kOutcomeUnknown, waiters.done.size());
    for (Done& done : waiters.done)
      done(base::fail(ProposeError::kOutcomeUnknown, "the group has halted here"));
  }
  for (auto read = reads_.begin(); read != reads_.end();) {
    if (read->second.first != &group) {
      ++read;
      continue;
    }
    read->second.second(base::fail(ReadError::kStopped, "the group has halted here"));
    read = reads_.erase(read);
  }
  publish(group);
}

void Loop::note_drained() {
  if (!stopping_ || drained()) return;
  const bool busy = in_disk_ || !filling_.empty() || !with_output_.empty() || !reads_.empty();
  if (busy) return;
  for (const auto& [id, group] : groups_) {
    if (!group->halted && !group->waiters.empty()) return;
  }
  drained_.store(true);
}

std::optional<base::Elapsed> Loop::next_call(base::Elapsed now) {
  if (!with_output_.empty() && !in_disk_) return now;
  const base::Elapsed house = house_kept_ + parts_.settings.housekeeping_every;
  const bool waits = !in_disk_ && handover_.waits(parts_.intake.queued(), now);
  if (waits && !with_commands_.empty())
    parts_.metrics.handover_waits.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t wake_at = in_disk_ ? Intake::kNever : (waits ? handover_.expected() : 1);
  if (parts_.intake.arm(wake_at)) return now;
  return waits ? std::min(handover_.until(), house) : house;
}

}  // namespace cadastre::log
