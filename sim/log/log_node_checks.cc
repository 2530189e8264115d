// LogNode, third part: what it checks of itself after each step.

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "log/limits.h"
#include "sim/log/log_node.h"

namespace cadastre::sim {
namespace {

std::string_view name_of(CompletionKind kind) noexcept {
  switch (kind) {
    case CompletionKind::kCommand: return "command";
    case CompletionKind::kBarrier: return "read barrier";
    case CompletionKind::kChange: return "change of membership";
    case CompletionKind::kTransfer: return "transfer";
  }
  return "callback";
}

// A bound in bytes admits one command if nothing else is there.
bool within(const log::CommandQueue::Amount& amount, const log::CommandQueue::Amount& most) {
  return amount.commands <= most.commands && (amount.bytes <= most.bytes || amount.commands == 1);
}

bool within_limits(const log::GroupQueues& queues) {
  constexpr log::CommandQueue::Amount kQueued{
      log::kQueueCommandsMax + log::kSystemCommandsMax,
      log::kQueueBytesMax + log::kSystemBytesMax,
  };
  constexpr log::CommandQueue::Amount kUnapplied{
      log::kUnappliedCommandsMax + log::kSystemCommandsMax,
      log::kUnappliedBytesMax + log::kSystemBytesMax,
  };
  return within(queues.commands.queued, kQueued) && within(queues.commands.unapplied, kUnapplied) &&
         queues.apply.entries <= log::kApplyQueueEntriesMax &&
         queues.apply.bytes <= log::kApplyQueueBytesMax && queues.readers <= log::kReadBarriersMax;
}

std::string to_text(const log::GroupQueues& queues) {
  return fmt::format("{} commands queued, {} not applied, {} entries to apply, {} readers",
                     queues.commands.queued.commands, queues.commands.unapplied.commands,
                     queues.apply.entries, queues.readers);
}

bool is_empty(const log::GroupQueues& queues) {
  return queues.commands.queued.commands == 0 && queues.commands.queued.bytes == 0 &&
         queues.commands.unapplied.commands == 0 && queues.commands.unapplied.bytes == 0 &&
         queues.apply.entries == 0 && queues.apply.bytes == 0 && queues.readers == 0;
}

}  // namespace

void LogNode::check_start(HostedGroup& hosted, log::GroupId id) {
  const RegisterState& state = hosted.machine->state();
  for (const auto& [number, index] : hosted.answered) {
    if (!replicated() && !state.answers.contains(number)) {
      violate(fmt::format("group {} lost command {} of entry {}, which was answered", id.value(),
                          number, index.value()));
    }
  }
  if (hosted.begins > hosted.machine->durable().index) {
    violate(fmt::format("group {} opened with a log that begins at {} and a state at {}",
                        id.value(), hosted.begins.value(), state.applied.index.value()));
  }
  if (hosted.installing) ++counters_.installs_resumed;
  world_.digests.restored({history_group(id), options_.id},
                          checkers::LogIndex{state.applied.index.value()},
                          checkers::Digest{state.digest});
  hosted.reported = state.applied.index;
  hosted.synced = std::max(hosted.synced, state.applied.index);
}

void LogNode::check(HostedGroup& hosted, log::GroupId id) {
  if (hosted.face == nullptr || !passed_) return;
  const log::GroupStatus status = hosted.face->status();
  // Within the four steps of an install the log begins at the snapshot before the state does, or before the engine
  // has heard that it is persisted.
  const bool installing = carrier_ && carrier_->holds(id, status.truncated);
  const bool begins = status.truncated <= status.durable || installing;
  const log::Index persisted =
      installing ? std::max(status.persisted, status.truncated) : status.persisted;
  const log::Index safe = std::min(status.committed, persisted);
  const bool ordered = begins && status.durable <= status.applied && status.applied <= safe &&
                       std::max(status.committed, status.persisted) <= status.last;
  if (!ordered) {
    violate(fmt::format(
        "group {} is out of order: truncated {}, durable {}, applied {}, committed {}, "
        "persisted {}, last {}",
        id.value(), status.truncated.value(), status.durable.value(), status.applied.value(),
        status.committed.value(), status.persisted.value(), status.last.value()));
  }
  if (replicated() && status.leader.value() == options_.id.value())
    world_.oracle.leads(options_.id, id, status.term);
  const bool removed = replicated() && world_.oracle.removed(options_.id, id);
  if (!status.halted.empty() && !removed)
    violate(fmt::format("group {} halted: {}", id.value(), status.halted));
  if (status.halted.empty()) check_queues(hosted, id);
}

void LogNode::check_queues(const HostedGroup& hosted, log::GroupId id) {
  const log::GroupQueues queues = hosted.face->queues();
  if (!within_limits(queues))
    violate(
        fmt::format("group {} has queues beyond their limits: {}", id.value(), to_text(queues)));
  const std::size_t commands = ledger_.count(id, CompletionKind::kCommand);
  const std::size_t readers = ledger_.count(id, CompletionKind::kBarrier);
  if (queues.commands.unapplied.commands == commands && queues.readers == readers) return;
  violate(fmt::format("group {} counts {}, and {} commands and {} readers are open", id.value(),
                      to_text(queues), commands, readers));
}

std::string LogNode::what_is_open() const {
  // A learner that was removed while it was away says nothing, so nobody tells it: its readers wait for an index that
  // never comes.
  const auto knows = [&](log::GroupId id) {
    return !replicated() || !world_.oracle.removed(options_.id, id);
  };
  const auto counts = [&](const CompletionLedger::Open& one) {
    return one.kind != CompletionKind::kBarrier || knows(one.group);
  };
  if (const auto oldest = ledger_.oldest(counts)) {
    return fmt::format("a {} of group {} at node {} is open since {:.6f} s", name_of(oldest->kind),
                       oldest->group.value(), options_.id.value(),
                       in_seconds(oldest->since.time_since_epoch()));
  }
  for (const auto& [id, hosted] : groups_) {
    if (hosted.face == nullptr || !hosted.face->status().halted.empty() || !knows(id)) continue;
    const log::GroupQueues queues = hosted.face->queues();
    if (!is_empty(queues)) {
      return fmt::format("group {} at node {} is not at rest: {}", id.value(), options_.id.value(),
                         to_text(queues));
    }
  }
  return {};
}

}  // namespace cadastre::sim
