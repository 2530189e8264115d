#include "log/group.h"

#include <utility>

namespace cadastre::log {

void Group::submit(const CommandQueue::Submission& submission) {
  const auto accepted = log_.queue.push(submission, clock_.elapsed());
  if (accepted) return;
  log_.metrics.record(accepted.error().code, submission.proposals.size());
  if (submission.cls == Class::kSystem && accepted.error().code == ProposeError::kOverloaded)
    log_.metrics.system_refused.fetch_add(submission.proposals.size(), std::memory_order_relaxed);
  for (Proposal& proposal : submission.proposals)
    proposal.done(std::unexpected(accepted.error()));
}

void Group::propose(std::span<Proposal> proposals, Class cls) {
  if (proposals.empty()) return;
  submit({.proposals = proposals, .cls = cls});
}

void Group::propose_if_term(Term term, Proposal proposal) {
  submit({.proposals = {&proposal, 1}, .cls = Class::kSystem, .term = term});
}

void Group::read_barrier(ReadMode mode, ReadDone done) {
  if (mode == ReadMode::kLeaseIfValid) return read_by_lease(std::move(done));
  loop_.read_barrier(log_, mode, std::move(done));
}

void Group::read_by_lease(ReadDone done) {
  const auto grant = log_.lease ? log_.lease->board.grant() : std::nullopt;
  if (!grant) return loop_.read_barrier(log_, ReadMode::kLinearizable, std::move(done));
  // What is applied may be less than what a follower has served already (8.3).
  const Index applied = log_.applier.applied();
  if (applied >= grant->committed) {
    log_.metrics.record(ReadMode::kLeaseIfValid);
    return done(ReadPoint{applied, grant->token});
  }
  loop_.await_applied(
      log_, grant->committed,
      [this, token = grant->token, told = std::move(done)](ReadAnswer answer) mutable {
        if (!answer) return told(std::move(answer));
        if (!log_.lease->board.holds(token))
          return loop_.read_barrier(log_, ReadMode::kLinearizable, std::move(told));
        log_.metrics.record(ReadMode::kLeaseIfValid);
        told(ReadPoint{answer->applied, token});
      });
}

bool Group::still_holds(const ReadPoint& at) const noexcept {
  return !at.lease || log_.lease->board.holds(*at.lease);
}

void Group::change_membership(MembershipChange change, ConfDone done) {
  loop_.change_membership(log_, std::move(change), std::move(done));
}

void Group::transfer_leadership(NodeId to, TransferOptions options, TransferDone done) {
  loop_.transfer(log_, {to, options, std::move(done)});
}

void Group::checkpoint(CheckpointTarget to, CheckpointDone done) {
  loop_.checkpoint(log_, {std::move(to), std::move(done)});
}

void Group::inspect(DetailDone done) {
  loop_.inspect(log_, std::move(done));
}

base::Result<std::vector<EntryFacts>, LogReadError> Group::list_entries(Index from,
                                                                        std::size_t count) const {
  return loop_.list_entries(log_, from, count);
}

GroupStatus Group::status() const {
  GroupStatus status = log_.board.read();
  Applier::Progress progress = log_.applier.progress();
  status.applied = progress.applied.index;
  status.durable = progress.durable.index;
  if (!progress.halted.empty()) status.halted = std::move(progress.halted);
  if (status.role == Role::kLeader && status.applied < status.term_start)
    status.role = Role::kFollower;
  if (!status.halted.empty()) status.role = Role::kHalted;
  status.lease_valid = log_.lease && log_.lease->board.grant().has_value();
  return status;
}

GroupQueues Group::queues() const {
  return {log_.queue.load(), log_.applier.backlog(), log_.readers.load()};
}

}  // namespace cadastre::log
