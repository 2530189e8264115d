// Retention: how much of a group's log there is, when a part of it can go, and when the state should be
// flushed so that it can (L-26, L-46).
//
// Only what is durable in the state is ever truncated, rarely, and only for a gain. Pure: time and
// positions are arguments.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "base/clock.h"
#include "log/settings.h"
#include "log/types.h"

namespace cadastre::log {

class Retention {
 public:
  // What the log has when the group is opened.
  struct Span {
    Index truncated;
    Index last;
    std::uint64_t bytes = 0;
  };
  Retention(const RetentionSettings& settings, const Span& there) noexcept;

  void appended(Index index, std::uint64_t bytes);
  // Entries from here on are replaced.
  void cut(Index from);

  struct Progress {
    Position applied;
    Position durable;
  };
  // Up to where the log can be truncated now, but not above `limit`; nothing if it is too early or not worth it.
  [[nodiscard]] std::optional<Index> truncation(const Progress& progress,
                                                Index limit,
                                                base::Elapsed now) const;
  void truncated(Index upto, base::Elapsed now);
  // A snapshot has taken the place of the whole log.
  void replaced(Index at) noexcept;

  // The last entry above which at least so many bytes lie; where the log begins, if it has fewer.
  [[nodiscard]] Index behind(std::uint64_t bytes) const noexcept;
  // Of entries above this one, a little more at most.
  [[nodiscard]] std::uint64_t bytes_above(Index index) const noexcept {
    return total_ - total_upto(index);
  }

  // In memory an entry takes its body and kCachedEntryOverhead. Of entries up to `upto`, the first of the newest that
  // fit into so many bytes, a little fewer at most; above `upto` if none does.
  [[nodiscard]] Index newest_within(std::uint64_t bytes, Index upto) const noexcept;
  // Of entries above this one, a little more at most.
  [[nodiscard]] std::uint64_t cost_above(Index index, Index last) const noexcept;

  // Whether the state should be flushed.
  [[nodiscard]] bool wants_flush(const Progress& progress, base::Elapsed now);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return total_ - dropped_; }
  [[nodiscard]] Index truncated() const noexcept { return truncated_; }

 private:
  struct Mark {
    Index index;
    std::uint64_t total;  // Bytes of all entries up to this one, since the group was opened.
  };

  // Bytes up to this entry, a little less at most.
  [[nodiscard]] std::uint64_t total_upto(Index index) const noexcept;

  const RetentionSettings settings_;
  Index truncated_;
  std::uint64_t total_;
  std::uint64_t dropped_ = 0;
  std::deque<Mark> marks_;  // One for every 64 KiB or 1,024 entries.
  std::optional<base::Elapsed> truncated_at_;
  std::optional<base::Elapsed> unflushed_since_;
  std::optional<base::Elapsed> asked_at_;
};

}  // namespace cadastre::log
