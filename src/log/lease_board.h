// LeaseBoard: the lease of a group as its readers see it, on any thread and without asking the log thread.
//
//   if (const auto grant = board.grant()) …     // at the call: the lease is valid, and what must be applied
//   … the reader takes its snapshot …
//   if (board.holds(grant->token)) …            // and it was valid still: the snapshot may be served
//
// The log thread shows it after each pass, before any message of the pass leaves: what a follower may have
// learned to be committed, a grant knows too.

#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/boot_clock.h"
#include "log/lease.h"
#include "log/propose.h"
#include "log/types.h"

namespace cadastre::log {

class LeaseBoard {
 public:
  // Borrows the clock.
  explicit LeaseBoard(const base::BootClock& clock) noexcept : clock_(clock) {}

  // Log thread.
  void show(const Lease& lease, Index committed) noexcept {
    committed_.store(committed.value());
    generation_.store(lease.generation());
    const auto span = lease.span();
    since_.store(span ? span->since : base::Elapsed{});
    until_.store(span ? span->until : base::Elapsed{});
  }

  struct Grant {
    LeaseToken token;
    Index committed;  // What the reader must see applied.
  };
  [[nodiscard]] std::optional<Grant> grant() const noexcept {
    const LeaseToken token{generation_.load()};
    if (!holds(token)) return std::nullopt;
    return Grant{token, Index{committed_.load()}};
  }
  [[nodiscard]] bool holds(const LeaseToken& token) const noexcept {
    const auto now = clock_.read();
    const base::Elapsed since = since_.load();
    const base::Elapsed until = until_.load();
    // Last: a span that was shown after the token's generation ended comes with another generation.
    return now && since <= *now && *now < until && generation_.load() == token.generation;
  }

 private:
  const base::BootClock& clock_;
  std::atomic<std::uint64_t> committed_{0};
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<base::Elapsed> since_{base::Elapsed{}};
  std::atomic<base::Elapsed> until_{base::Elapsed{}};
};

// What a group has of leases.
struct GroupLease {
  GroupLease(std::chrono::nanoseconds length, const base::BootClock& clock) noexcept
      : lease(length), board(clock) {}

  Lease lease;  // The log thread's own.
  LeaseBoard board;
};

}  // namespace cadastre::log
