// Loop: a group that does no more here (L-20). Its applier has given up, or this node was removed: nothing
// is taken or executed any more, and whoever waits is told. A leader's engine runs on until another node leads, for an
// election timeout at most; the other groups do not notice.

#include <string>
#include <utility>

#include "log/loop.h"

namespace cadastre::log {

void Loop::heed_halt(GroupLog& group, base::Elapsed now) {
  if (group.ended() || !group.applier.halted()) return;
  tell_ended(group, group.applier.progress().halted);
  retreat(group, now);
  finish_halt(group);
}

// By the log thread's own decision, and at once.
void Loop::end_group(GroupLog& group, const std::string& reason) {
  group.applier.end(reason);
  tell_ended(group, reason);
  stop_engine(group);
}

void Loop::tell_ended(GroupLog& group, const std::string& reason) {
  group.halted_why = reason;
  group.members_shown.reset();
  notices_.halted(group.id, reason);
  for (Done& done : group.queue.close()) {
    group.metrics.record(ProposeError::kStopped, 1);
    done(base::fail(ProposeError::kStopped, reason));
  }
  for (EntryWaiters& waiters : group.waiters.take_all()) {
    group.metrics.record(ProposeError::kOutcomeUnknown, waiters.done.size());
    for (Done& done : waiters.done)
      done(base::fail(ProposeError::kOutcomeUnknown, reason));
  }
  for (ReadRounds::Reader& reader : group.reads.take_all())
    reader.done(base::fail(ReadError::kStopped, reason));
  if (auto waiter = std::exchange(group.conf_waiter, std::nullopt))
    waiter->done(base::fail(ConfError::kOutcomeUnknown, reason));
  publish(group);
}

// Once nobody is about to take over from here.
void Loop::finish_halt(GroupLog& group) {
  if (!group.ended() || group.halted || group.transfer) return;
  stop_engine(group);
}

void Loop::stop_engine(GroupLog& group) {
  group.halted = true;
  if (auto transfer = std::exchange(group.transfer, std::nullopt))
    transfer->done(base::fail(TransferError::kStopped, group.halted_why));
  publish(group);
}

}  // namespace cadastre::log
