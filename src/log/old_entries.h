// OldEntries: what the reader brought for slow peers, on its way to their engines at a pace (L-39).
//
// A peer that comes back after a while is served as fast as it takes entries, and with it go the disk and the processors
// that commands need. So while commands are under way no more than kCatchUpBytesPerSecond of old entries go to
// engines, of all groups and peers together, and less at once. A node with nothing else to do lets them pass.
//
//   engine wants ─► serve(): the rest of what was read begins there ─┐
//                └► the reader brings much at once ─► add() ─────────┴─► a piece ─► take() ─► engine wants the next
//                                                                    └► the rest, until it is asked for
//
// Pure: time is an argument. Belongs to the log thread. At most one answer for each peer of a group is here: an
// engine asks for no more. Of rests the oldest go when there are more than kFetchRestsBytesMax: they are read again.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "base/byte_pace.h"
#include "base/clock.h"
#include "log/limits.h"
#include "log/reader.h"

namespace cadastre::log {

class OldEntries {
 public:
  // Commands are under way.
  void busy(base::Elapsed now) noexcept { busy_until_ = now + kCatchUpBusyFor; }

  void add(Reader::Answer answer, base::Elapsed now) {
    base::Elapsed due = now;
    const bool busy = now < busy_until_;
    if (answer.entries) keep_rest(answer, busy ? kCatchUpPieceBytes : kFetchPieceBytes);
    if (busy && answer.entries) due += pace_.reserve(bytes_of(*answer.entries), now);
    waiting_.push_back({due, std::move(answer)});
  }

  // False: the reader is to be asked. What is here was executed before it was read, so nothing takes its place in the log.
  [[nodiscard]] bool serve(const Reader::Request& request, base::Elapsed now) {
    const auto rest = std::ranges::find_if(
        rests_, [&request](const Reader::Answer& each) { return begins(each, request); });
    if (rest == rests_.end()) return false;
    Reader::Answer answer{request, std::move(rest->entries)};
    rests_bytes_ -= bytes_of(*answer.entries);
    rests_.erase(rest);
    add(std::move(answer), now);
    return true;
  }

  // Those whose time has come.
  [[nodiscard]] std::vector<Reader::Answer> take(base::Elapsed now) {
    std::vector<Reader::Answer> taken;
    std::vector<Waiting> later;
    for (Waiting& each : waiting_) {
      if (each.due <= now) {
        taken.push_back(std::move(each.answer));
      } else {
        later.push_back(std::move(each));
      }
    }
    waiting_ = std::move(later);
    return taken;
  }

  // When the next one's time comes.
  [[nodiscard]] std::optional<base::Elapsed> next_due() const noexcept {
    std::optional<base::Elapsed> next;
    for (const Waiting& each : waiting_) {
      if (!next || each.due < *next) next = each.due;
    }
    return next;
  }

 private:
  struct Waiting {
    base::Elapsed due;
    Reader::Answer answer;
  };

  [[nodiscard]] static bool begins(const Reader::Answer& rest, const Reader::Request& request) {
    return rest.request.group == request.group && rest.request.incarnation == request.incarnation &&
           rest.request.low == request.low && rest.entries->back().at.index <= request.high;
  }

  // Leaves a piece: at least one entry.
  void keep_rest(Reader::Answer& answer, std::size_t piece_bytes) {
    std::vector<Entry>& entries = *answer.entries;
    std::size_t bytes = 0;
    const auto first = std::ranges::find_if(entries, [&](const Entry& entry) {
      const bool fits = bytes == 0 || bytes + entry.body.size() <= piece_bytes;
      bytes += entry.body.size();
      return !fits;
    });
    if (first == entries.end()) return;
    Reader::Answer rest{answer.request, std::vector<Entry>(std::move_iterator(first),
                                                           std::move_iterator(entries.end()))};
    entries.erase(first, entries.end());
    rest.request.low = rest.entries->front().at.index;
    rests_bytes_ += bytes_of(*rest.entries);
    rests_.push_back(std::move(rest));
    while (rests_bytes_ > kFetchRestsBytesMax) {
      rests_bytes_ -= bytes_of(*rests_.front().entries);
      rests_.pop_front();
    }
  }

  [[nodiscard]] static std::uint64_t bytes_of(const std::vector<Entry>& entries) noexcept {
    std::uint64_t bytes = 0;
    for (const Entry& entry : entries)
      bytes += entry.body.size();
    return bytes;
  }

  base::BytePace pace_{kCatchUpBytesPerSecond};
  base::Elapsed busy_until_{};
  std::vector<Waiting> waiting_;
  std::deque<Reader::Answer> rests_;  // Each has entries. Oldest first.
  std::uint64_t rests_bytes_ = 0;
};

}  // namespace cadastre::log
