#include "coord/memory/run_index.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/byte_slab.h"
#include "base/bytes.h"
#include "base/check.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/memory/marked_sequence.h"
#include "coord/memory/record_pool.h"
#include "coord/run_record.h"
#include "coord/snapshot.h"
#include "coord/states.h"

namespace cadastre::coord::memory {
namespace {

Mark mark_if(bool condition) noexcept {
  return condition ? Mark::kSet : Mark::kClear;
}

}  // namespace

IndexedState IndexedState::of(const Record& record) noexcept {
  IndexedState indexed;
  indexed.status = record.state.status;
  if (record.state.lease) indexed.deadline = record.state.lease->deadline;
  indexed.has_key = record.cursor.has_key();
  return indexed;
}

Run::Run(RunRecord record, RecordPool& pool, const base::ByteSlab& slab)
    : pool_(&pool),
      slab_(&slab),
      record_(std::move(record)),
      by_id_({&pool}),
      by_key_({&pool}),
      live_({&pool}),
      ended_({&pool}) {}

bool Run::before_by_id(Number a, Number b) const noexcept {
  return (*pool_)[a].state.shard < (*pool_)[b].state.shard;
}

bool Run::before_by_key(Number a, Number b) const noexcept {
  const auto order =
      base::compare((*pool_)[a].spec.view(*slab_).start(), (*pool_)[b].spec.view(*slab_).start());
  return order != 0 ? order < 0 : before_by_id(a, b);
}

void Run::reserve(std::size_t additional) {
  live_.reserve(size() + additional);
  ended_.reserve(size() + additional);
}

void Run::add(Number number) {
  reserve(1);
  Record& record = (*pool_)[number];
  record.run = this;
  const IndexedState now = IndexedState::of(record);
  const bool is_active = now.status == ShardStatus::kActive;
  ++counts_[static_cast<std::size_t>(now.status)];
  by_key_.insert(number, mark_if(is_active && now.has_key),
                 [this](Number a, Number b) { return before_by_key(a, b); });
  if (!is_active) return;
  by_id_.insert(number, Mark::kSet, [this](Number a, Number b) { return before_by_id(a, b); });
  if (now.deadline) enter_lease(number, *now.deadline);
}

void Run::enter_lease(Number number, LogicalTime deadline) noexcept {
  if (deadline <= horizon_) {
    ended_.push(number, deadline);
    return;
  }
  live_.push(number, deadline);
  by_id_.mark(number, Mark::kClear);
}

void Run::leave_lease(Number number, LogicalTime deadline) noexcept {
  if (deadline <= horizon_) {
    ended_.remove(number);
    return;
  }
  live_.remove(number);
  by_id_.mark(number, Mark::kSet);
}

void Run::refresh(Number number, const IndexedState& before) noexcept {
  const IndexedState after = IndexedState::of((*pool_)[number]);
  const bool was_active = before.status == ShardStatus::kActive;
  const bool is_active = after.status == ShardStatus::kActive;
  if (before.deadline != after.deadline) {
    if (before.deadline) leave_lease(number, *before.deadline);
    if (after.deadline) enter_lease(number, *after.deadline);
  }
  const bool had_mark = was_active && before.has_key;
  const bool has_mark = is_active && after.has_key;
  if (had_mark != has_mark) by_key_.mark(number, mark_if(has_mark));
  if (before.status == after.status) return;
  --counts_[static_cast<std::size_t>(before.status)];
  ++counts_[static_cast<std::size_t>(after.status)];
  if (was_active) by_id_.erase(number);
  if (is_active) {
    by_id_.insert(number, Mark::kSet, [this](Number a, Number b) { return before_by_id(a, b); });
  }
}

void Run::stand_at(LogicalTime now) noexcept {
  const LogicalTime was = std::exchange(horizon_, now);
  if (was <= now) {
    while (!live_.empty() && live_.first_deadline() <= now) {
      const Number number = live_.first();
      const LogicalTime deadline = live_.first_deadline();
      live_.remove(number);
      ended_.push(number, deadline);
      by_id_.mark(number, Mark::kSet);
    }
    return;
  }
  while (!ended_.empty() && ended_.first_deadline() > now) {
    const Number number = ended_.first();
    const LogicalTime deadline = ended_.first_deadline();
    ended_.remove(number);
    live_.push(number, deadline);
    by_id_.mark(number, Mark::kClear);
  }
}

std::optional<LogicalTime> Run::earliest_deadline() const noexcept {
  if (live_.empty()) return std::nullopt;
  return live_.first_deadline();
}

CapacityHint Run::capacity() const noexcept {
  return {static_cast<std::uint32_t>(available()), earliest_deadline()};
}

std::optional<Number> Run::least_far() const noexcept {
  if (by_key_.marked() == 0) return std::nullopt;
  return by_key_.select(0);
}

void Run::verify() const {
  by_id_.verify([this](Number a, Number b) { return before_by_id(a, b); });
  by_key_.verify([this](Number a, Number b) { return before_by_key(a, b); });
  live_.verify();
  ended_.verify();
  std::array<std::uint32_t, 4> counts{};
  std::size_t ended = 0;
  std::size_t live = 0;
  by_key_.visit([&](Number number) {
    const Record& record = (*pool_)[number];
    CAD_CHECK(record.run == this, "a shard knows its run");
    const IndexedState now = IndexedState::of(record);
    const bool is_active = now.status == ShardStatus::kActive;
    ++counts[static_cast<std::size_t>(now.status)];
    CAD_CHECK(by_key_.is_marked(number) == (is_active && now.has_key), "cursors are marked");
    if (!is_active) return true;
    const bool is_free = !now.deadline || *now.deadline <= horizon_;
    CAD_CHECK(by_id_.is_marked(number) == is_free, "free shards are marked");
    if (now.deadline) ++(is_free ? ended : live);
    return true;
  });
  CAD_CHECK(counts == counts_, "shards are counted by status");
  CAD_CHECK(by_id_.size() == count(ShardStatus::kActive), "active shards are listed by id");
  CAD_CHECK(live == live_.size(), "running leases are queued");
  CAD_CHECK(ended == ended_.size(), "ended leases are queued");
}

}  // namespace cadastre::coord::memory
