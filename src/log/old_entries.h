// OldEntries: what the reader brought for slow peers, on its way to their engines at a pace (L-39).
//
// A peer that comes back after a while is served as fast as it takes entries, and with it go the disk and the processors
// that commands need. So while commands are under way no more than kCatchUpBytesPerSecond of old entries go to
// engines, of all groups and peers together; a node with nothing else to do lets them pass at once.
//
// Pure: time is an argument. Belongs to the log thread. At most one answer for each peer of a group is here: an
// engine asks for no more.

#pragma once

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
    if (now < busy_until_ && answer.entries) due += pace_.reserve(bytes_of(*answer.entries), now);
    waiting_.push_back({due, std::move(answer)});
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

  [[nodiscard]] static std::uint64_t bytes_of(const std::vector<Entry>& entries) noexcept {
    std::uint64_t bytes = 0;
    for (const Entry& entry : entries)
      bytes += entry.body.size();
    return bytes;
  }

  base::BytePace pace_{kCatchUpBytesPerSecond};
  base::Elapsed busy_until_{};
  std::vector<Waiting> waiting_;
};

}  // namespace cadastre::log
