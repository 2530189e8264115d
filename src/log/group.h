// Group: the thread-safe face of one group. Nothing here blocks, and every callback is called exactly
// once.
//
//   group.propose(std::array{Proposal{command, [](Answer answer) { … }}}, Class::kUser);

#pragma once

#include <cstddef>
#include <span>

#include "base/clock.h"
#include "log/applier.h"
#include "log/command_queue.h"
#include "log/group_log.h"
#include "log/group_status.h"
#include "log/loop.h"
#include "log/metrics.h"
#include "log/propose.h"
#include "log/types.h"

namespace cadastre::log {

// How full the queues of a group are (1.3); each looked at by itself.
struct GroupQueues {
  CommandQueue::Load commands;
  Applier::Backlog apply;   // Committed entries that wait for the applier.
  std::size_t readers = 0;  // Barriers that were not answered yet.
};

class Group {
 public:
  // Borrows all three; they outlive it.
  Group(GroupLog& log, Loop& loop, const base::Clock& clock) noexcept
      : log_(log), loop_(loop), clock_(clock) {}

  [[nodiscard]] GroupId id() const noexcept { return log_.id; }

  // All of them enter the queue as neighbours, or none does. Takes the callbacks.
  void propose(std::span<Proposal> proposals, Class cls);
  // Refused with kNotLeader unless the entry gets exactly this term (L-17).
  void propose_if_term(Term term, Proposal proposal);

  // Answered when everything that was completed before the call is visible here.
  void read_barrier(ReadMode mode, ReadDone done);
  // After the reader took its snapshot: whether it may be served. No: its lease ended, so ask again.
  [[nodiscard]] bool still_holds(const ReadPoint& at) const noexcept;

  // Answered when the change is applied here and durable; leader only.
  void change_membership(MembershipChange change, ConfDone done);
  // Answered when this node leads no more; proposals are refused meanwhile (L-92).
  void transfer_leadership(NodeId to, TransferOptions options, TransferDone done);

  // Files with exactly what is applied at some moment after the call.
  void checkpoint(CheckpointTarget to, CheckpointDone done);

  [[nodiscard]] GroupStatus status() const;
  // Answered by the log thread's next pass.
  void inspect(DetailDone done);
  // What is synced from `from` on, at most `count` and kEntriesListedMax entries, fewer if they are large. Reads the
  // disk: not for threads that must not wait. kGone: the log has no such entry.
  [[nodiscard]] base::Result<std::vector<EntryFacts>, LogReadError> list_entries(
      Index from, std::size_t count) const;
  [[nodiscard]] GroupQueues queues() const;
  [[nodiscard]] const GroupMetrics& metrics() const noexcept { return log_.metrics; }

 private:
  void submit(const CommandQueue::Submission& submission);
  void read_by_lease(ReadDone done);

  GroupLog& log_;
  Loop& loop_;
  const base::Clock& clock_;
};

}  // namespace cadastre::log
