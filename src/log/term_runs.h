// TermRuns: which term each entry of a log has, as runs of equal terms. Pure; belongs to the log thread.

#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "log/storage.h"
#include "log/types.h"

namespace cadastre::log {

class TermRuns {
 public:
  // Of a log that begins behind `truncated`.
  TermRuns(Position truncated, std::vector<TermRun> runs)
      : truncated_(truncated), runs_(std::move(runs)) {}

  // The entry behind the last one, or in place of one, with whatever follows that.
  void append(Position at) {
    while (!runs_.empty() && runs_.back().first >= at.index)
      runs_.pop_back();
    if (runs_.empty() || runs_.back().term != at.term) runs_.push_back({at.index, at.term});
  }
  // The log begins behind this entry of it.
  void truncate(Position upto) {
    while (runs_.size() > 1 && runs_[1].first <= upto.index + 1)
      runs_.erase(runs_.begin());
    if (!runs_.empty()) runs_.front().first = std::max(runs_.front().first, upto.index + 1);
    truncated_ = upto;
  }
  // Nothing is there but what comes behind this position.
  void replace(Position truncated) {
    runs_.clear();
    truncated_ = truncated;
  }

  // The position of an entry that the log has, or that it begins behind.
  [[nodiscard]] std::optional<Position> at(Index index) const noexcept {
    if (index == truncated_.index) return truncated_;
    const auto behind = std::ranges::upper_bound(runs_, index, {}, &TermRun::first);
    if (index < truncated_.index || behind == runs_.begin()) return std::nullopt;
    return Position{std::prev(behind)->term, index};
  }

 private:
  Position truncated_;
  std::vector<TermRun> runs_;
};

}  // namespace cadastre::log
