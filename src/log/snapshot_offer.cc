#include "log/snapshot_offer.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace cadastre::log {
namespace {

CheckpointName name_of(const CheckpointManifest& manifest) noexcept {
  return {manifest.group, manifest.node, manifest.id};
}

}  // namespace

Index member_since(const std::vector<ConfRecord>& history, NodeId node) noexcept {
  auto since = history.rbegin();
  while (since != history.rend() && since->conf.has(node))
    ++since;
  if (since == history.rend() || since == history.rbegin()) return Index{0};
  return std::prev(since)->index;
}

void SnapshotOffer::wanted(NodeId peer, Index least) {
  fed_.erase(peer);
  Index& most = wanted_[peer];
  most = std::max(most, least);
}

SnapshotOffer::Next SnapshotOffer::next(Index truncated, base::Elapsed now) const {
  if (wanted_.empty() || making_ || now < not_before_) return Next::kNothing;
  Index least = truncated;
  for (const auto& [peer, index] : wanted_)
    least = std::max(least, index);
  const bool usable = newest_ && !newest_->failed && now - newest_->at < settings_.reused_for &&
                      newest_->manifest.at.index >= least;
  return usable ? Next::kOffer : Next::kMake;
}

void SnapshotOffer::making(Index applied) {
  CAD_CHECK(!making_, "one checkpoint of a group at a time");
  making_ = applied;
}

void SnapshotOffer::made(const CheckpointManifest& manifest, base::Elapsed now) {
  making_.reset();
  if (newest_) {
    retired_.push_back({name_of(newest_->manifest), newest_->manifest.at.index, newest_->at, now,
                        newest_->while_read});
  }
  newest_ = Made{manifest, now};
}

void SnapshotOffer::not_made(base::Elapsed now) {
  making_.reset();
  failed(now);
}

// A receiver that refuses what it is sent, of an older release perhaps, is not fed the same again and again at full
// speed.
void SnapshotOffer::failed(base::Elapsed now) {
  not_before_ = now + settings_.retry_after * (std::int64_t{1} << failures_);
  failures_ = std::min(failures_ + 1, kSnapshotRetryDoublings);
}

void SnapshotOffer::offered(base::Elapsed now) {
  newest_->offered = now;
  on_offer_ = name_of(newest_->manifest);
  wanted_.clear();
}

void SnapshotOffer::reported(NodeId peer, const Report& report, base::Elapsed now) {
  const bool of_newest = newest_ && newest_->manifest.at.index == report.index;
  if (report.fate == SnapshotFate::kFailed && of_newest) return given_up(peer, now);
  if (report.fate == SnapshotFate::kInstalled) {
    failures_ = 0;
    fed_[peer] = {report.index, now};
  }
  fetching_.erase(peer);
}

void SnapshotOffer::given_up(NodeId peer, base::Elapsed now) {
  fetching_.erase(peer);
  if (!newest_) return;
  newest_->failed = true;
  failed(now);
}

std::vector<NodeId> SnapshotOffer::overdue(std::span<const PeerProgress> peers,
                                           const LastRead& last_read,
                                           base::Elapsed now) {
  std::optional<base::Elapsed> read;  // By whom is not known: any of them counts for all who fetch.
  if (newest_) read = last_read(name_of(newest_->manifest));
  for (const Retired& retired : retired_)
    read = std::max(read, last_read(retired.name));
  std::map<NodeId, base::Elapsed> fetching;
  std::vector<NodeId> late;
  for (const PeerProgress& peer : peers) {
    if (peer.state != PeerState::kSnapshot) continue;
    const auto known = fetching_.find(peer.node);
    const base::Elapsed since = known == fetching_.end() ? now : known->second;
    const base::Elapsed heard = std::max(since, read.value_or(since));
    if (now - heard >= settings_.report_wait) {
      late.push_back(peer.node);
    } else {
      fetching.emplace(peer.node, since);
    }
  }
  fetching_ = std::move(fetching);
  return late;
}

bool SnapshotOffer::in_use(base::Elapsed now) const {
  const bool fresh =
      newest_ && newest_->offered && now - *newest_->offered < settings_.taken_within;
  return fresh || !wanted_.empty() || !fetching_.empty();
}

std::optional<Index> SnapshotOffer::kept_above(base::Elapsed now) const {
  std::optional<Index> lowest = making_;
  const auto keep = [&](Index index) {
    lowest = std::min(lowest.value_or(index), index);
  };
  if (newest_ && in_use(now)) keep(newest_->manifest.at.index);
  for (const Retired& retired : retired_) {
    if (is_fetched(retired)) keep(retired.index);
  }
  return lowest;
}

std::optional<Index> SnapshotOffer::kept_for_fed(std::span<const PeerProgress> peers,
                                                 Index trail,
                                                 base::Elapsed now) {
  std::optional<Index> lowest;
  for (auto fed = fed_.begin(); fed != fed_.end();) {
    auto& [node, has] = *fed;
    const auto peer = std::ranges::find(peers, node, &PeerProgress::node);
    const bool member = peer != peers.end();
    if (member && peer->match > has.match) has = {peer->match, now};
    if (!member || has.match >= trail || now - has.since >= settings_.report_wait) {
      fed = fed_.erase(fed);
      continue;
    }
    lowest = std::min(lowest.value_or(has.match), has.match);
    ++fed;
  }
  return lowest;
}

bool SnapshotOffer::is_fetched(const Retired& retired) const {
  // Who fetches is looked up now and then: what was handed out just before it was replaced shows a little later.
  const base::Elapsed until = retired.replaced + settings_.taken_within;
  return std::ranges::any_of(fetching_, [&](const auto& peer) {
    return peer.second >= retired.made && peer.second < until;
  });
}

bool SnapshotOffer::is_read(const CheckpointName& name,
                            const LastRead& last_read,
                            base::Elapsed now) const {
  const auto read = last_read(name);
  return read && now - *read < settings_.report_wait;
}

std::vector<CheckpointName> SnapshotOffer::take_expired(const LastRead& last_read,
                                                        base::Elapsed now) {
  std::vector<CheckpointName> expired;
  std::erase_if(retired_, [&](const Retired& retired) {
    if (is_fetched(retired)) return false;
    if (retired.while_read && is_read(retired.name, last_read, now)) return false;
    expired.push_back(retired.name);
    return true;
  });
  if (!newest_ || in_use(now)) return expired;
  if (newest_->while_read && is_read(name_of(newest_->manifest), last_read, now)) return expired;
  if (newest_->failed || now - newest_->at >= settings_.reused_for) {
    expired.push_back(name_of(newest_->manifest));
    newest_.reset();
  }
  return expired;
}

void SnapshotOffer::forget_peers() {
  for (Retired& retired : retired_)
    retired.while_read = retired.while_read || is_fetched(retired);
  if (newest_ && !fetching_.empty()) newest_->while_read = true;
  wanted_.clear();
  fetching_.clear();
  fed_.clear();
  on_offer_.reset();
}

}  // namespace cadastre::log
