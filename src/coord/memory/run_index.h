// A run and the indexes over its shards: who can be claimed, whose lease ends next, who is least far.
//
// Whether a shard is free depends on `now`, and `now` may go either way. The index therefore stands
// at a horizon: a shard is marked free exactly if it is Active and has no lease, or one whose deadline
// is at or below the horizon. stand_at(now) moves the horizon and with it the shards in between, each
// once. Earlier deadlines wait in `live_`, the others in `ended_`, which is why going back costs as
// little as going on.
//
// Invariants (verify)
//   1. by_id_ holds the Active shards, by id; marked are those free at the horizon.
//   2. by_key_ holds all shards, by start and id; marked are the Active ones with a last key. Ranges
//      of shards that are not Split are disjoint, so the first marked one has the least last key.
//   3. live_ and ended_ hold the leased shards, by deadline above the horizon or not.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/attributes.h"
#include "base/byte_slab.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/memory/lease_queue.h"
#include "coord/memory/marked_sequence.h"
#include "coord/memory/record_pool.h"
#include "coord/run_record.h"
#include "coord/snapshot.h"
#include "coord/states.h"

namespace cadastre::coord::memory {

// What the indexes know of a record; taken before a change and compared afterwards.
struct IndexedState {
  ShardStatus status = ShardStatus::kActive;
  std::optional<LogicalTime> deadline;
  bool has_key = false;

  [[nodiscard]] static IndexedState of(const Record& record) noexcept;
};

class Run {
 public:
  Run(RunRecord record, RecordPool& pool, const base::ByteSlab& slab);

  [[nodiscard]] RunRecord& record() noexcept CAD_LIFETIMEBOUND { return record_; }
  [[nodiscard]] const RunRecord& record() const noexcept CAD_LIFETIMEBOUND { return record_; }

  // Makes room for `additional` shards.
  void reserve(std::size_t additional);

  // A complete record, of this run from now on.
  void add(Number number);
  // The record was changed; `before` is what it was.
  void refresh(Number number, const IndexedState& before) noexcept;

  void stand_at(LogicalTime now) noexcept;

  // At the horizon.
  [[nodiscard]] std::size_t available() const noexcept { return by_id_.marked(); }
  [[nodiscard]] std::size_t leased() const noexcept { return live_.size(); }
  [[nodiscard]] std::optional<LogicalTime> earliest_deadline() const noexcept;
  [[nodiscard]] CapacityHint capacity() const noexcept;
  // The free shard before which there are `rank` free ones, by id.
  [[nodiscard]] Number free_shard(std::size_t rank) const noexcept { return by_id_.select(rank); }

  [[nodiscard]] std::uint32_t count(ShardStatus status) const noexcept {
    return counts_[static_cast<std::size_t>(status)];
  }
  [[nodiscard]] std::size_t size() const noexcept { return by_key_.size(); }
  // The Active shard with the least last key.
  [[nodiscard]] std::optional<Number> least_far() const noexcept;

  // In the order of start and id; `visit` returns false to stop.
  template <class Visit>
  void visit(const Visit& visit) const {
    by_key_.visit(visit);
  }
  template <class Visit>
  void visit_after(Number number, const Visit& visit) const {
    by_key_.visit_after(number, visit);
  }

  void verify() const;

 private:
  [[nodiscard]] bool before_by_id(Number a, Number b) const noexcept;
  [[nodiscard]] bool before_by_key(Number a, Number b) const noexcept;
  void enter_lease(Number number, LogicalTime deadline) noexcept;
  void leave_lease(Number number, LogicalTime deadline) noexcept;

  RecordPool* pool_;
  const base::ByteSlab* slab_;
  RunRecord record_;
  LogicalTime horizon_;
  std::array<std::uint32_t, 4> counts_{};  // by status
  MarkedSequence<RecordLink<&Record::by_id_block>> by_id_;
  MarkedSequence<RecordLink<&Record::by_key_block>> by_key_;
  LeaseQueue<RecordLink<&Record::lease_place>, std::less<>> live_;
  LeaseQueue<RecordLink<&Record::lease_place>, std::greater<>> ended_;
};

}  // namespace cadastre::coord::memory
