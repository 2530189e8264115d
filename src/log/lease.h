// Lease: whether a leader may serve a read without asking anybody (8.3).
//
// A voter that heard its leader helps nobody else for its promise (VoteGuard), and campaigns itself no earlier
// (L-60). So when a quorum has answered something that was sent at t, nobody else can lead before t + promise
// by the clocks of these voters, and this node may serve until t + length by its own:
//
//   length = promise x (1 - 2 x drift) - margin, rounded down; 700 ms with the defaults
//
//   lead(term) ──► open ──────────────► a lease, while evidence is younger than length
//                  own entry applied        ▲ asked … answered: a round of readers came back
//                                           ▲ proposed … committed: an entry of this term, by counting
//   end: leadership, membership, a clock that failed or went back. Whatever was under way then proves nothing
//        any more, and whoever rests on the lease finds another generation.
//   forbid: a transfer was started; the term has no lease again. A timeout-now that comes late makes its
//        receiver campaign by force, which no promise stops.
//
// What it takes for granted: clocks of voters drift by at most kLeaseDriftPerMille, and time passes while a
// machine stands still. A hypervisor that stops a guest together with its clocks breaks it: the leader wakes up
// inside a lease that has ended. That is why leases are off unless an operator says otherwise.
//
// Pure: time is what look() was told. Belongs to the log thread; readers see a LeaseBoard.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

#include "base/clock.h"
#include "log/limits.h"
#include "log/settings.h"
#include "log/types.h"

namespace cadastre::log {

// Zero: the promise is too short for any.
[[nodiscard]] constexpr std::chrono::nanoseconds lease_length(
    const RaftSettings& settings) noexcept {
  const auto sure = settings.promise() / 1000 * (1000 - 2 * kLeaseDriftPerMille) - kLeaseMargin;
  return std::max(sure - sure % kLeaseStep, std::chrono::nanoseconds(0));
}

class Lease {
 public:
  explicit Lease(std::chrono::nanoseconds length) noexcept : length_(length) {}

  // The boot clock, before anything was sent in this pass; nothing: it failed.
  void look(std::optional<base::Elapsed> now) {
    if (!now || (now_ && *now < *now_)) end();
    now_ = now;
  }

  // This node leads in `term`; 0: it does not.
  void lead(Term term) {
    if (term == term_) return;
    end();
    term_ = term;
    open_ = false;
    forbidden_ = false;
  }
  // The entry that opened the term is applied here.
  void open() noexcept { open_ = term_ != Term{0}; }
  void forbid() {
    end();
    forbidden_ = true;
  }
  void end() {
    ++generation_;
    since_.reset();
    rounds_.clear();
    proposal_.reset();
  }

  // A round of readers begins; it came back.
  void asked(std::uint64_t round, std::optional<base::Elapsed> now) {
    look(now);
    if (!counts()) return;
    if (rounds_.size() == kReadRoundsMax) rounds_.erase(rounds_.begin());
    rounds_.emplace(round, *now_);
  }
  void answered(std::uint64_t round) {
    const auto found = rounds_.find(round);
    if (found == rounds_.end()) return;
    proven(found->second);
    rounds_.erase(found);
  }
  // An entry of this term was appended; so much is committed. One entry at a time is watched.
  void proposed(Index index, std::optional<base::Elapsed> now) {
    look(now);
    if (counts() && !proposal_) proposal_ = Proposal{index, *now_};
  }
  void committed(Index upto) {
    if (!proposal_ || proposal_->index > upto) return;
    proven(proposal_->sent);
    proposal_.reset();
  }

  // By the boot clock; nothing: there is no lease. Past its end it is still here, and no longer valid.
  struct Span {
    base::Elapsed since{};  // When the evidence was sent.
    base::Elapsed until{};
  };
  [[nodiscard]] std::optional<Span> span() const noexcept {
    if (!open_ || !since_) return std::nullopt;
    return Span{*since_, *since_ + length_};
  }
  // Another one from each end on.
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }
  [[nodiscard]] bool valid(base::Elapsed now) const noexcept {
    const auto held = span();
    return held && held->since <= now && now < held->until;
  }

 private:
  struct Proposal {
    Index index;
    base::Elapsed sent{};
  };

  [[nodiscard]] bool counts() const noexcept {
    return term_ != Term{0} && !forbidden_ && now_.has_value();
  }
  void proven(base::Elapsed sent) noexcept { since_ = since_ ? std::max(*since_, sent) : sent; }

  const std::chrono::nanoseconds length_;
  std::optional<base::Elapsed> now_;
  Term term_;
  bool open_ = false;
  bool forbidden_ = false;
  std::uint64_t generation_ = 1;
  std::optional<base::Elapsed> since_;             // Of the youngest evidence.
  std::map<std::uint64_t, base::Elapsed> rounds_;  // On their way, and when they began.
  std::optional<Proposal> proposal_;
};

}  // namespace cadastre::log
