// Loop: what people see who look into a group. Asked for rarely, and made by the log thread in its next pass:
// nothing is kept ready for it.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "log/loop.h"

namespace cadastre::log {

void Loop::inspect(GroupLog& group, DetailDone done) {
  {
    const base::MutexLock lock(mutex_);
    if (requests_.inspections.size() < kInspectionsMax)
      requests_.inspections.emplace_back(&group, std::exchange(done, nullptr));
  }
  if (done) return done(std::nullopt);
  parts_.runner.wake_log();
}

GroupDetail Loop::detail_of(GroupLog& group) const {
  const CommandQueue::Load load = group.queue.load();
  const Applier::Backlog backlog = group.applier.backlog();
  Replica* const replica = group.engine->replica();
  GroupDetail detail{.confs = group.confs,
                     .queued_commands = load.queued.commands,
                     .queued_bytes = load.queued.bytes,
                     .unapplied_commands = load.unapplied.commands,
                     .apply_entries = backlog.entries,
                     .apply_bytes = backlog.bytes,
                     .held_outputs = group.held.outputs(),
                     .held_messages = group.held.messages(),
                     .waiting_entries = group.waiters.entries(),
                     .readers = group.readers.load(),
                     .read_rounds = group.reads.rounds(),
                     .outcome_waits = group.outcome_waits.size(),
                     .conf_waits = group.conf_waiter.has_value(),
                     .conf_in_disk = group.conf_in_disk.has_value(),
                     .transfer = group.transfer.has_value(),
                     .installing = group.install.has_value()};
  if (replica == nullptr) return detail;
  detail.cache_bytes = replica->cache_bytes();
  if (group.leading != Term{0}) detail.progress = replica->progress();
  return detail;
}

base::Result<std::vector<EntryFacts>, LogReadError> Loop::list_entries(const GroupLog& group,
                                                                       Index from,
                                                                       std::size_t count) const {
  const GroupStatus status = group.board.read();
  if (from <= status.truncated || from > status.persisted)
    return base::fail(LogReadError::kGone, "the log has entries " +
                                               to_string(status.truncated + 1) + " to " +
                                               to_string(status.persisted));
  const std::size_t wanted = std::clamp<std::size_t>(count, 1, kEntriesListedMax);
  const Index high = std::min(status.persisted, from + (wanted - 1));
  const auto entries = parts_.storage.read(group.id, group.incarnation, from, high, kReadBytesMax);
  if (!entries) {
    // Whoever finds it: the log is the memory of votes (L-48).
    if (entries.error().code != LogReadError::kGone)
      parts_.runner.fail_stop("the log could not be read: " + entries.error().detail);
    return std::unexpected(entries.error());
  }
  std::vector<EntryFacts> facts;
  facts.reserve(entries->size());
  for (const Entry& entry : *entries)
    facts.push_back({entry.at, entry.type, entry.body.size()});
  return facts;
}

}  // namespace cadastre::log
