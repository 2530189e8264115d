// ReadRounds: the readers of one group, served by rounds of ReadIndex (8.1).
//
//   waiting ── begin ──► in a round ── answered ──► applier, which waits for the round's index
//      ▲                     │
//      └── overdue: again ───┘        too old: kUnavailable      leadership lost: kNotLeader
//
// A round serves everyone who came before it began (L-80); at most kReadRoundsMax are under way. One without
// an answer is begun again under another name (L-82): a late answer to the old name means nothing.
//
// Pure: time is an argument. Belongs to the log thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/clock.h"
#include "log/limits.h"
#include "log/propose.h"

namespace cadastre::log {

class ReadRounds {
 public:
  struct Reader {
    ReadMode mode = ReadMode::kLinearizable;
    ReadDone done;
    base::Elapsed came{};
  };

  void add(Reader reader) { waiting_.push_back(std::move(reader)); }

  // Whether somebody waits and a round may begin.
  [[nodiscard]] bool due() const noexcept {
    return !waiting_.empty() && rounds_.size() < kReadRoundsMax;
  }
  void begin(std::uint64_t sequence, base::Elapsed now);
  // Those whom the round served; nobody if it is not known any more.
  [[nodiscard]] std::vector<Reader> answered(std::uint64_t sequence);

  // Readers of overdue rounds wait again; who has waited too long is handed back.
  [[nodiscard]] std::vector<Reader> expire(base::Elapsed round_most, base::Elapsed now);
  // Engines forget rounds with leadership: followers' readers wait again, the others are handed back.
  [[nodiscard]] std::vector<Reader> forget();
  // Who waits for a leader that this node is not.
  [[nodiscard]] std::vector<Reader> take_linearizable();
  [[nodiscard]] std::vector<Reader> take_all();

  [[nodiscard]] bool empty() const noexcept { return waiting_.empty() && rounds_.empty(); }
  [[nodiscard]] std::size_t rounds() const noexcept { return rounds_.size(); }

 private:
  struct Round {
    base::Elapsed began{};
    std::vector<Reader> readers;
  };

  void wait_again(Round& round);

  std::vector<Reader> waiting_;
  std::map<std::uint64_t, Round> rounds_;  // By sequence, which is the order of their beginnings.
};

}  // namespace cadastre::log
