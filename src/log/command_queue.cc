#include "log/command_queue.h"

#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/crc32c.h"

namespace cadastre::log {
namespace {

// Whether so much more fits: one command, if nothing is there, whatever it has.
bool fits(CommandQueue::Amount there, CommandQueue::Amount more, std::size_t most) noexcept {
  if (there.bytes == 0 && more.commands == 1) return true;
  return more.bytes <= most && there.bytes <= most - more.bytes;
}

}  // namespace

base::Result<void, ProposeError> CommandQueue::admit(Amount amount, Class cls) const {
  if (closed_) return base::fail(ProposeError::kStopped, "the group is closing or has halted here");
  if (cls == Class::kUser && !users_refused_.empty())
    return base::fail(ProposeError::kOverloaded, users_refused_);
  const bool system = cls == Class::kSystem;
  const std::size_t more_commands = system ? kSystemCommandsMax : 0;
  const std::size_t more_bytes = system ? kSystemBytesMax : 0;
  const bool room = queued_.commands + amount.commands <= kQueueCommandsMax + more_commands &&
                    fits(queued_, amount, kQueueBytesMax + more_bytes);
  if (!room) return base::fail(ProposeError::kOverloaded, "the group's queue is full");
  const bool applied =
      unapplied_.commands + amount.commands <= kUnappliedCommandsMax + more_commands &&
      unapplied_.entries < kApplyQueueEntriesMax + more_commands &&
      fits(unapplied_, amount, kUnappliedBytesMax + more_bytes);
  if (!applied) return base::fail(ProposeError::kOverloaded, "too much waits to be applied");
  return {};
}

CommandQueue::OpenBatch& CommandQueue::batch_for(std::size_t command_bytes,
                                                 Term term,
                                                 base::Elapsed now) {
  const bool joins = !batches_.empty() && term == kAnyTerm && batches_.back().term == kAnyTerm &&
                     batches_.back().body.count() < kBatchCommandsMax &&
                     batches_.back().body.bytes_with(command_bytes) <= kBatchBytes;
  if (!joins) {
    OpenBatch& opened = batches_.emplace_back();
    opened.term = term;
    opened.opened = now;
    ++unapplied_.entries;
  }
  return batches_.back();
}

base::Result<void, ProposeError> CommandQueue::push(const Submission& submission,
                                                    base::Elapsed now) {
  CAD_CHECK(!submission.proposals.empty(), "a submission has a command");
  CAD_CHECK(submission.term == kAnyTerm || submission.proposals.size() == 1,
            "one command at a time is fenced by a term");
  constexpr std::size_t kSumsMax = 64;  // Made before the lock is taken.
  if (submission.proposals.size() > kQueueCommandsMax) {
    return base::fail(ProposeError::kTooLarge,
                      fmt::format("a submission has at most {} commands", kQueueCommandsMax));
  }
  Amount amount{.commands = submission.proposals.size()};
  for (const Proposal& proposal : submission.proposals) {
    if (proposal.command.size() > kCommandBytesMax) {
      return base::fail(ProposeError::kTooLarge,
                        fmt::format("a command has at most {} bytes", kCommandBytesMax));
    }
    amount.bytes += proposal.command.size();
  }
  if (amount.commands > 1 && amount.bytes > kQueueBytesMax) {
    return base::fail(
        ProposeError::kTooLarge,
        fmt::format("several commands together have at most {} bytes: submit them one by one",
                    kQueueBytesMax));
  }
  std::array<std::uint32_t, kSumsMax> few;
  std::vector<std::uint32_t> many;
  std::span<std::uint32_t> sums{few};
  if (amount.commands > kSumsMax) {
    many.resize(amount.commands);
    sums = many;
  }
  for (std::size_t i = 0; i < amount.commands; ++i)
    sums[i] = base::crc32c(submission.proposals[i].command);

  {
    const base::MutexLock lock(mutex_);
    CAD_TRY(admit(amount, submission.cls));
    const bool was_empty = batches_.empty();
    for (std::size_t i = 0; i < amount.commands; ++i) {
      Proposal& proposal = submission.proposals[i];
      OpenBatch& batch = batch_for(proposal.command.size(), submission.term, now);
      batch.body.add({proposal.command, sums[i]});
      batch.waiters.push_back(std::move(proposal.done));
    }
    queued_.commands += amount.commands;
    queued_.bytes += amount.bytes;
    unapplied_.commands += amount.commands;
    unapplied_.bytes += amount.bytes;
    intake_.add(amount.commands);
    if (was_empty) intake_.announce(group_);
  }
  intake_.wake_if_due();
  return {};
}

std::vector<Batch> CommandQueue::take(std::uint64_t hint_ms, std::size_t bytes_max) {
  std::vector<OpenBatch> taken;
  std::size_t commands = 0;
  {
    const base::MutexLock lock(mutex_);
    std::size_t bytes = 0;
    while (!batches_.empty() && taken.size() < kPassBatchesMax) {
      const OpenBatch& oldest = batches_.front();
      const std::size_t command_bytes =
          oldest.body.body_bytes() - kBodyHeaderBytes - oldest.body.count() * kBodySlotBytes;
      if (!taken.empty() && bytes + command_bytes > bytes_max) break;
      bytes += command_bytes;
      commands += oldest.body.count();
      taken.push_back(std::move(batches_.front()));
      batches_.pop_front();
    }
    queued_.commands -= commands;
    queued_.bytes -= bytes;
    if (!batches_.empty()) intake_.announce(group_);  // The rest comes with the next pass.
  }
  intake_.taken(commands);
  std::vector<Batch> batches;
  batches.reserve(taken.size());
  for (OpenBatch& open : taken)
    batches.push_back({open.body.close(hint_ms), std::move(open.waiters), open.term, open.opened});
  return batches;
}

void CommandQueue::settled(Amount amount) {
  const base::MutexLock lock(mutex_);
  CAD_CHECK(unapplied_.commands >= amount.commands && unapplied_.bytes >= amount.bytes &&
                unapplied_.entries >= amount.entries,
            "settled once each");
  unapplied_.commands -= amount.commands;
  unapplied_.bytes -= amount.bytes;
  unapplied_.entries -= amount.entries;
}

std::vector<Done> CommandQueue::close() {
  std::vector<Done> waiting;
  const base::MutexLock lock(mutex_);
  closed_ = true;
  for (OpenBatch& batch : batches_)
    std::ranges::move(batch.waiters, std::back_inserter(waiting));
  const std::size_t unqueued = batches_.size();
  batches_.clear();
  intake_.taken(queued_.commands);
  unapplied_.commands -= queued_.commands;
  unapplied_.bytes -= queued_.bytes;
  unapplied_.entries -= unqueued;
  queued_ = {};
  return waiting;
}

CommandQueue::Load CommandQueue::load() const {
  const base::MutexLock lock(mutex_);
  return {queued_, unapplied_};
}

void CommandQueue::refuse_users(std::string reason) {
  const base::MutexLock lock(mutex_);
  users_refused_ = std::move(reason);
}

}  // namespace cadastre::log
