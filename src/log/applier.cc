#include "log/applier.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace cadastre::log {

Applier::Applier(const ApplierParts& parts, CommandQueue& queue, GroupMetrics& metrics)
    : parts_(parts),
      queue_(queue),
      metrics_(metrics),
      applied_index_(parts.machine.applied().index.value()),
      progress_{parts.machine.applied(), parts.machine.durable(), {}} {}

// A look that waits serves whoever wants another one: a state machine that hangs is not asked for more and more (L-8).
bool Applier::joins_last_poll(const ApplyWork& work) {
  const auto* poll = std::get_if<DurablePoll>(&work);
  if (poll == nullptr || work_.empty()) return false;
  auto* last = std::get_if<DurablePoll>(&work_.back());
  if (last == nullptr) return false;
  last->flush = last->flush || poll->flush;
  return true;
}

bool Applier::push_quietly(std::vector<ApplyWork> work) {
  if (work.empty()) return false;
  const base::MutexLock lock(mutex_);
  for (ApplyWork& one : work) {
    if (joins_last_poll(one)) continue;
    if (const auto* item = std::get_if<ApplyItem>(&one)) {
      ++backlog_.entries;
      backlog_.bytes += item->entry.body.size();
    }
    work_.push_back(std::move(one));
  }
  return true;
}

void Applier::push(std::vector<ApplyWork> work) {
  if (push_quietly(std::move(work))) parts_.runner.wake_applier(parts_.group);
}

bool Applier::stops_before_change() {
  const base::MutexLock lock(mutex_);
  if (stopped_ || work_.empty() || halted()) return false;
  const auto* item = std::get_if<ApplyItem>(&work_.front());
  if (item == nullptr || item->entry.type != EntryType::kConfChange) return false;
  if (item->entry.at.index <= change_durable_) return false;
  conf_ = item->entry;
  stopped_ = true;
  return true;
}

std::vector<ApplyWork> Applier::take_some() {
  const base::MutexLock lock(mutex_);
  std::vector<ApplyWork> taken;
  std::size_t bytes = 0;
  while (!stopped_ && !work_.empty() && taken.size() < kRoundEntriesMax) {
    const auto* item = std::get_if<ApplyItem>(&work_.front());
    const bool reader = std::holds_alternative<ReadBarrier>(work_.front());
    const bool other =
        !taken.empty() && reader != std::holds_alternative<ReadBarrier>(taken.front());
    const bool alone = !reader && (item == nullptr || item->entry.type == EntryType::kConfChange);
    if (other || (alone && !taken.empty())) break;  // The round ends before it.
    if (item != nullptr) bytes += item->entry.body.size();
    if (bytes > kRoundBytesMax && !taken.empty()) break;
    if (item != nullptr) {
      --backlog_.entries;
      backlog_.bytes -= item->entry.body.size();
    }
    taken.push_back(std::move(work_.front()));
    work_.pop_front();
    if (alone) break;
  }
  running_ = !taken.empty();
  return taken;
}

bool Applier::run() {
  if (stops_before_change()) {
    parts_.attention.raise(parts_.group);
    return false;
  }
  std::vector<ApplyWork> taken = take_some();
  if (taken.empty()) return false;
  if (halted()) {
    const std::string reason = progress().halted;
    for (ApplyWork& work : taken)
      give_up(work, reason);
    for (auto& [index, done] : std::exchange(reads_, {}))
      done(base::fail(ReadError::kStopped, reason));
    tell_lost();
  } else if (std::holds_alternative<ApplyItem>(taken.front())) {
    run_entries(taken);
  } else if (std::holds_alternative<ReadBarrier>(taken.front())) {
    run_readers(taken);
  } else {
    run_marker(taken.front());
  }
  const base::MutexLock lock(mutex_);
  running_ = false;
  return !stopped_ && !work_.empty();
}

void Applier::run_entries(std::vector<ApplyWork>& items) {
  std::vector<const Entry*> entries;
  entries.reserve(items.size());
  for (const ApplyWork& work : items)
    entries.push_back(&std::get<ApplyItem>(work).entry);
  const bool changes = entries.front()->type == EntryType::kConfChange;
  if (const auto applied = round_.run(parts_.machine, entries); !applied) {
    halt(applied.error().detail, items);
    return;
  }
  publish();
  answer(items);
  answer_reads();
  if (changes) parts_.attention.raise(parts_.group);  // The engine waits for it.
}

std::optional<Entry> Applier::take_conf() {
  const base::MutexLock lock(mutex_);
  return std::exchange(conf_, std::nullopt);
}

void Applier::go_on(Index change) {
  {
    const base::MutexLock lock(mutex_);
    change_durable_ = change;
    stopped_ = false;
  }
  parts_.runner.wake_applier(parts_.group);
}

Applier::Backlog Applier::backlog() const {
  const base::MutexLock lock(mutex_);
  return backlog_;
}

void Applier::answer(std::vector<ApplyWork>& items) {
  CommandQueue::Amount settled;
  for (const ApplyWork& work : items) {
    const CommandQueue::Amount one = amount_of(std::get<ApplyItem>(work).waiters);
    settled.commands += one.commands;
    settled.bytes += one.bytes;
    settled.entries += one.entries;
  }
  // Before anyone is told, so that whoever comes back at once finds the room.
  queue_.settled(settled);
  metrics_.applied.fetch_add(settled.commands, std::memory_order_relaxed);
  const base::Elapsed now = parts_.clock.elapsed();
  auto result = round_.results().begin();
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto& item = std::get<ApplyItem>(items[i]);
    for (EntryWaiters& waiters : item.superseded)
      refuse(waiters, ProposeError::kSuperseded, "another leader's entry took its place");
    if (item.acquires) {
      led_ = item.entry.at.term;
      if (parts_.listener != nullptr)
        parts_.listener->acquired(item.entry.at.term, item.entry.at.index);
      parts_.attention.raise(parts_.group);  // Readers may wait for it (L-81).
    }
    if (item.waiters.done.empty()) {  // Of another node, or of an earlier run.
      result += static_cast<std::ptrdiff_t>(round_.commands_of(i));
      continue;
    }
    metrics_.apply_ns.record(static_cast<std::uint64_t>((now - item.committed).count()));
    for (Done& done : item.waiters.done)
      done(Applied{item.entry.at, std::move(*result++)});
  }
}

void Applier::answer_reads() {
  const Index applied = parts_.machine.applied().index;
  while (!reads_.empty() && reads_.begin()->first <= applied) {
    ReadDone done = std::move(reads_.begin()->second);
    reads_.erase(reads_.begin());
    done(ReadPoint{applied});
  }
}

// Together: those who are answered come back together, and are one pass of the log thread.
void Applier::run_readers(std::vector<ApplyWork>& readers) {
  for (ApplyWork& work : readers) {
    auto& reader = std::get<ReadBarrier>(work);
    reads_.emplace(reader.index, std::move(reader.done));
  }
  answer_reads();
}

void Applier::run_marker(ApplyWork& work) {
  if (auto* marker = std::get_if<CheckpointMarker>(&work)) {
    auto made = parts_.machine.checkpoint(marker->to);
    publish();
    marker->done(std::move(made));
  } else if (auto* question = std::get_if<CheckMarker>(&work)) {
    question->done(parts_.machine.check(question->staged));
  } else if (auto* switching = std::get_if<InstallMarker>(&work)) {
    install(*switching);
  } else if (auto* poll = std::get_if<DurablePoll>(&work)) {
    if (poll->flush) parts_.machine.request_flush();
    publish();
  } else if (const auto* lost = std::get_if<LeadershipLost>(&work)) {
    if (led_ == lost->term) tell_lost();
  }
}

void Applier::install(InstallMarker& marker) {
  const auto installed = parts_.machine.install(marker.from);
  std::vector<ApplyWork> none;
  if (!installed) return halt("a snapshot was not installed: " + installed.error().detail, none);
  CAD_CHECK(parts_.machine.applied() == marker.from.manifest.at, "a state is where it was put");
  publish();
  marker.done();
  answer_reads();
}

void Applier::publish() {
  Progress progress{parts_.machine.applied(), parts_.machine.durable(), {}};
  const base::MutexLock lock(mutex_);
  CAD_CHECK(progress.durable.index <= progress.applied.index, "what is durable was applied");
  CAD_CHECK(progress.durable.index >= progress_.durable.index, "what is durable stays durable");
  applied_index_.store(progress.applied.index.value());
  progress.halted = std::move(progress_.halted);  // end() may have come meanwhile.
  progress_ = std::move(progress);
}

void Applier::end(const std::string& reason) {
  {
    const base::MutexLock lock(mutex_);
    progress_.halted = reason;
    halted_.store(
        true);  // Before the applier is let go: it must not stop before a change again, nor run this round.
    work_.emplace_back(DurablePoll{});  // So that there is a round.
    stopped_ = false;
  }
  parts_.runner.wake_applier(parts_.group);
}

void Applier::halt(std::string reason, std::vector<ApplyWork>& items) {
  if (reason.empty()) reason = "its state machine failed and gave no reason";
  {
    const base::MutexLock lock(mutex_);
    progress_.halted = reason;
  }
  halted_.store(true);
  for (Done& done : queue_.close())
    done(base::fail(ProposeError::kStopped, reason));
  for (ApplyWork& work : items)
    give_up(work, reason);
  for (auto& [index, done] : reads_)
    done(base::fail(ReadError::kStopped, reason));
  reads_.clear();
  tell_lost();
  parts_.attention.raise(parts_.group);
}

void Applier::tell_lost() {
  const auto term = std::exchange(led_, std::nullopt);
  if (term && parts_.listener != nullptr) parts_.listener->lost(*term);
}

void Applier::refuse(EntryWaiters& waiters, ProposeError code, const std::string& detail) {
  metrics_.record(code, waiters.done.size());
  queue_.settled(amount_of(waiters));
  for (Done& done : waiters.done)
    done(base::fail(code, detail));
  waiters.done.clear();
}

void Applier::give_up(ApplyWork& work, const std::string& detail) {
  if (auto* item = std::get_if<ApplyItem>(&work)) {
    refuse(item->waiters, ProposeError::kOutcomeUnknown, detail);
    for (EntryWaiters& waiters : item->superseded)
      refuse(waiters, ProposeError::kSuperseded, "another leader's entry took its place");
  } else if (auto* barrier = std::get_if<ReadBarrier>(&work)) {
    barrier->done(base::fail(ReadError::kStopped, detail));
  } else if (auto* marker = std::get_if<CheckpointMarker>(&work)) {
    marker->done(base::fail(CheckpointError::kStopped, detail));
  } else if (auto* question = std::get_if<CheckMarker>(&work)) {
    question->done(base::fail(InstallError::kStorage, detail));
  }
}

Applier::Progress Applier::progress() const {
  const base::MutexLock lock(mutex_);
  return progress_;
}

bool Applier::idle() const {
  const base::MutexLock lock(mutex_);
  return work_.empty() && !running_;
}

void Applier::abandon() {
  std::deque<ApplyWork> left;
  {
    const base::MutexLock lock(mutex_);
    left.swap(work_);
  }
  for (ApplyWork& work : left)
    give_up(work, "the process is going down");
  for (auto& [index, done] : reads_)
    done(base::fail(ReadError::kStopped, "the process is going down"));
  reads_.clear();
}

}  // namespace cadastre::log
