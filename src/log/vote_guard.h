// VoteGuard: whom a voter may help (L-61, 8.3).
//
// For the length of its promise after a leader was heard, requests for votes and pre-votes of any term are
// dropped, unless a transfer forces them: raft-rs refuses only those of a higher term, and a delayed
// rejection can raise the voter's own term first. For one election timeout after the process began all of
// them are dropped: a promise of the process before may still hold.
//
// Pure: time is an argument. Belongs to the log thread.

#pragma once

#include <optional>

#include "base/clock.h"
#include "log/replica.h"
#include "log/settings.h"

namespace cadastre::log {

class VoteGuard {
 public:
  VoteGuard(const RaftSettings& settings, base::Elapsed began) noexcept
      : promise_(settings.promise()), quiet_until_(began + settings.election_timeout()) {}

  [[nodiscard]] bool drops(const MessageHead& head, base::Elapsed now) const noexcept {
    if (head.kind != MessageKind::kVoteRequest) return false;
    if (now < quiet_until_) return true;
    return !head.forced && heard_ && now - *heard_ < promise_;
  }
  // A message is stepped by a node of this term.
  void stepped(const MessageHead& head, Term term, base::Elapsed now) noexcept {
    const bool of_leader = head.kind == MessageKind::kAppend ||
                           head.kind == MessageKind::kHeartbeat ||
                           head.kind == MessageKind::kSnapshot;
    if (of_leader && head.term >= term) heard_ = now;
  }

 private:
  base::Elapsed promise_;
  base::Elapsed quiet_until_;
  std::optional<base::Elapsed> heard_;
};

}  // namespace cadastre::log
