// Handover: when a set goes to the writer.
//
// A set that leaves with the first of the callers that were just answered makes the others wait for a whole sync: half
// the disk is lost. So the next one leaves when as many commands wait as were answered, or soon after (gathering.h).
//
// Callers of a replicated group are answered when a quorum has their entry. A command that came before that waits for that
// commit, at most kCommitWaitMax after the sync, and is joined by those whom it answers: two half sets on their way cost
// a node twice what a whole one does, and bring nobody an earlier answer. That holds for small sets, whose price is the
// sync: above kWaitsForCommitBytesMax nothing waits.
//
// Pure: time is an argument.

#pragma once

#include <cstdint>

#include "base/clock.h"
#include "log/gathering.h"
#include "log/limits.h"

namespace cadastre::log {

class Handover {
 public:
  // The disk has a set; the callers of so many of its commands are being answered.
  void set_done(std::uint64_t commands, base::Elapsed now) noexcept {
    callers_.answered(commands, now);
    commit_until_ = now + kCommitWaitMax;
  }
  // A quorum has so many commands; their callers are being answered.
  void committed(std::uint64_t commands, base::Elapsed now) noexcept {
    callers_.answered(commands, now);
  }
  // A set with so many commands leaves.
  void leaves(std::uint64_t commands) noexcept { callers_.begins(commands); }

  [[nodiscard]] bool waits(std::uint64_t queued, base::Elapsed now) const noexcept {
    return callers_.waits(queued, now);
  }
  [[nodiscard]] std::uint64_t expected() const noexcept { return callers_.expected(); }
  [[nodiscard]] base::Elapsed until() const noexcept { return callers_.until(); }

  // Whether commands still wait for the commit of those before them.
  [[nodiscard]] bool waits_for_commit(base::Elapsed now) const noexcept {
    return now < commit_until_;
  }
  [[nodiscard]] base::Elapsed commit_until() const noexcept { return commit_until_; }

 private:
  Gathering callers_;
  base::Elapsed commit_until_{};
};

}  // namespace cadastre::log
