#include "log/retention.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace cadastre::log {
namespace {

constexpr std::uint64_t kMarkBytes = 64 * kKiB;
constexpr std::uint64_t kMarkEntries = 1'024;

}  // namespace

Retention::Retention(const RetentionSettings& settings, const Span& there) noexcept
    : settings_(settings), truncated_(there.truncated), total_(there.bytes) {
  if (there.last > there.truncated) marks_.push_back({there.last, there.bytes});
}

void Retention::appended(Index index, std::uint64_t bytes) {
  total_ += bytes;
  const bool first = marks_.empty();
  const std::uint64_t since = first ? 0 : total_ - marks_.back().total;
  const std::uint64_t entries = first ? 0 : entries_between(marks_.back().index, index);
  if (first || since >= kMarkBytes || entries >= kMarkEntries) marks_.push_back({index, total_});
}

void Retention::cut(Index from) {
  std::optional<Mark> above;  // The lowest mark that goes.
  while (!marks_.empty() && marks_.back().index >= from) {
    above = marks_.back();
    marks_.pop_back();
  }
  const Mark below = marks_.empty() ? Mark{truncated_, dropped_} : marks_.back();
  total_ = below.total;
  if (!above || from <= below.index + 1) return;
  // Of what lay between the two, the entries that stay keep their share. A log that was there at the start is one mark.
  const Index last{from.value() - 1};
  const double part = static_cast<double>(entries_between(below.index, last)) /
                      static_cast<double>(entries_between(below.index, above->index));
  total_ += static_cast<std::uint64_t>(part * static_cast<double>(above->total - below.total));
  marks_.push_back({last, total_});
}

std::uint64_t Retention::total_upto(Index index) const noexcept {
  const auto behind = std::ranges::upper_bound(marks_, index, {}, &Mark::index);
  return behind == marks_.begin() ? dropped_ : std::max(dropped_, std::prev(behind)->total);
}

std::optional<Index> Retention::truncation(const Progress& progress,
                                           Index limit,
                                           base::Elapsed now) const {
  const Index upto = std::min(progress.durable.index, limit);
  if (upto <= truncated_) return std::nullopt;
  if (truncated_at_ && now - *truncated_at_ < settings_.truncate_every) return std::nullopt;
  const bool worth = total_upto(upto) - dropped_ >= settings_.truncate_bytes_min ||
                     entries_between(truncated_, upto) >= settings_.truncate_entries_min;
  if (!worth) return std::nullopt;
  return upto;
}

void Retention::truncated(Index upto, base::Elapsed now) {
  CAD_CHECK(upto >= truncated_, "truncation never goes back");
  dropped_ = total_upto(upto);
  while (!marks_.empty() && marks_.front().index <= upto)
    marks_.pop_front();
  truncated_ = upto;
  truncated_at_ = now;
}

void Retention::replaced(Index at) noexcept {
  marks_.clear();
  dropped_ = total_;
  truncated_ = at;
}

Index Retention::behind(std::uint64_t bytes) const noexcept {
  const auto within =
      std::ranges::find_if(marks_, [&](const Mark& mark) { return total_ - mark.total < bytes; });
  return within == marks_.begin() ? truncated_ : std::prev(within)->index;
}

Index Retention::newest_within(std::uint64_t bytes, Index upto) const noexcept {
  const std::uint64_t total = total_upto(upto);
  const auto fits = [&](Index below, std::uint64_t below_total) {
    const std::uint64_t bodies = total - std::min(total, below_total);
    return bodies + entries_between(below, upto) * kCachedEntryOverhead <= bytes;
  };
  if (fits(truncated_, dropped_)) return truncated_ + 1;
  for (const Mark& mark : marks_) {
    if (mark.index >= upto) break;
    if (fits(mark.index, mark.total)) return mark.index + 1;
  }
  return upto + 1;
}

std::uint64_t Retention::cost_above(Index index, Index last) const noexcept {
  return bytes_above(index) + entries_between(index, last) * kCachedEntryOverhead;
}

bool Retention::wants_flush(const Progress& progress, base::Elapsed now) {
  if (progress.durable.index >= progress.applied.index) {
    unflushed_since_.reset();
    asked_at_.reset();
    return false;
  }
  if (!unflushed_since_) unflushed_since_ = now;
  const bool old = now - *unflushed_since_ >= settings_.unflushed_age_max;
  const bool large = total_upto(progress.applied.index) - total_upto(progress.durable.index) >=
                     settings_.unflushed_bytes_max;
  if (!old && !large) return false;
  if (asked_at_ && now - *asked_at_ < settings_.truncate_every)
    return false;  // It was asked; give it time.
  asked_at_ = now;
  unflushed_since_ = now;
  return true;
}

}  // namespace cadastre::log
