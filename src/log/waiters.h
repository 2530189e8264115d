// Waiters: who waits for which entry, by term and index (L-14). An entry of another term at a waiter's
// index is not its entry: that waiter's command was superseded.
//
// Belongs to the log thread.

#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "log/command_queue.h"
#include "log/propose.h"
#include "log/types.h"

namespace cadastre::log {

// Those who wait for one entry, one for each of its commands.
struct EntryWaiters {
  std::vector<Done> done;
  std::size_t bytes = 0;  // Of the commands.
  base::Elapsed proposed{};
};

// What they take in the bounds of their group's queue.
[[nodiscard]] inline CommandQueue::Amount amount_of(const EntryWaiters& waiters) noexcept {
  const std::size_t entries = waiters.done.empty() ? 0 : 1;
  return {.commands = waiters.done.size(), .bytes = waiters.bytes, .entries = entries};
}

class Waiters {
 public:
  void add(Position at, EntryWaiters waiters) {
    const bool added = waiting_.try_emplace({at.index, at.term}, std::move(waiters)).second;
    CAD_CHECK(added, "an index is given out once in a term");
  }

  struct Settled {
    EntryWaiters applied;
    std::vector<EntryWaiters> superseded;
  };
  // The entry at this position is committed: whoever waits for it, and whoever waited for another one
  // in its place.
  [[nodiscard]] Settled settle(Position at) {
    Settled settled;
    auto first = waiting_.lower_bound({at.index, Term{0}});
    for (; first != waiting_.end() && first->first.first == at.index;
         first = waiting_.erase(first)) {
      if (first->first.second == at.term) {
        settled.applied = std::move(first->second);
      } else {
        settled.superseded.push_back(std::move(first->second));
      }
    }
    return settled;
  }

  // Whoever waits for an entry of this term or an earlier one: its leader is gone, and the wait was long
  // enough.
  [[nodiscard]] std::vector<EntryWaiters> take_upto(Term term) {
    std::vector<EntryWaiters> taken;
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      if (at->first.second > term) {
        ++at;
        continue;
      }
      taken.push_back(std::move(at->second));
      at = waiting_.erase(at);
    }
    return taken;
  }

  // Whoever waits for an entry up to this one: a snapshot has skipped it (L-77).
  [[nodiscard]] std::vector<EntryWaiters> take_skipped(Index upto) {
    std::vector<EntryWaiters> taken;
    const auto end = waiting_.lower_bound({upto + 1, Term{0}});
    for (auto at = waiting_.begin(); at != end; at = waiting_.erase(at))
      taken.push_back(std::move(at->second));
    return taken;
  }

  // Everyone, for an end of the group.
  [[nodiscard]] std::vector<EntryWaiters> take_all() {
    std::vector<EntryWaiters> all;
    for (auto& [at, waiting] : waiting_)
      all.push_back(std::move(waiting));
    waiting_.clear();
    return all;
  }

  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  [[nodiscard]] std::size_t entries() const noexcept { return waiting_.size(); }

 private:
  std::map<std::pair<Index, Term>, EntryWaiters> waiting_;
};

}  // namespace cadastre::log
