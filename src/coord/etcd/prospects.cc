#include "coord/etcd/prospects.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/check.h"
#include "base/clock.h"
#include "coord/etcd/limits.h"
#include "coord/identity.h"

namespace cadastre::coord::etcd {
namespace {

std::optional<LogicalTime> earlier(std::optional<LogicalTime> a, std::optional<LogicalTime> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

}  // namespace

std::chrono::milliseconds kept_for(std::size_t shards) noexcept {
  return std::clamp(kProspectsKeptPerShard * static_cast<std::int64_t>(shards), kProspectsKeptMin,
                    kProspectsKeptMax);
}

bool Prospects::wants_reading(base::Elapsed at) const noexcept {
  if (!is_usable(at)) return true;
  return at - shown_at_ > kept_for_ && readings_ == 0;
}

void Prospects::show(const ProspectReading& reading, base::Elapsed at) {
  if (!is_known_ || reading.revision >= revision_) {
    is_known_ = !told_too_much_;
    free_ = reading.free;
    earliest_deadline_ = earlier(reading.earliest_deadline, told_deadline_);
    now_ = reading.now;
    revision_ = reading.revision;
    shown_at_ = at;
    kept_for_ = etcd::kept_for(reading.shards);
    for (const auto& [shard, is_free] : told_)
      place(shard, is_free);
  }
  end_reading();
}

void Prospects::end_reading() noexcept {
  CAD_CHECK(readings_ > 0, "a reading that ends has begun");
  if (--readings_ != 0) return;
  told_.clear();
  told_too_much_ = false;
  told_deadline_.reset();
}

std::optional<ShardId> Prospects::take(WorkerId worker, LogicalTime now, base::Elapsed at) {
  if (!is_usable(at) || free_.empty()) return std::nullopt;
  // Before `now_` a lease may run that had ended then; from the deadline on there may be one more that is free.
  if (now < now_ || (earliest_deadline_ && now >= *earliest_deadline_)) return std::nullopt;
  const ShardId shard = free_[static_cast<std::size_t>(worker.raw() % free_.size())];
  tell(shard, false);
  return shard;
}

void Prospects::put_back(ShardId shard) {
  tell(shard, true);
}

void Prospects::remove(ShardId shard) {
  tell(shard, false);
}

void Prospects::remove(ShardId shard, LogicalTime deadline) {
  tell(shard, false);
  earliest_deadline_ = earlier(earliest_deadline_, deadline);
  if (readings_ > 0) told_deadline_ = earlier(told_deadline_, deadline);
}

std::optional<std::size_t> Prospects::count(base::Elapsed at) const noexcept {
  if (!is_usable(at)) return std::nullopt;
  return free_.size();
}

void Prospects::tell(ShardId shard, bool is_free) {
  if (readings_ > 0) {
    told_too_much_ = told_too_much_ || told_.size() >= kProspectsToldMax;
    if (!told_too_much_) told_[shard] = is_free;
  }
  if (is_known_) place(shard, is_free);
}

void Prospects::place(ShardId shard, bool is_free) {
  const auto at = std::ranges::lower_bound(free_, shard);
  const bool is_there = at != free_.end() && *at == shard;
  if (is_free && !is_there) free_.insert(at, shard);
  if (!is_free && is_there) free_.erase(at);
}

}  // namespace cadastre::coord::etcd
