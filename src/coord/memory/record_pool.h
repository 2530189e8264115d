// Records: where the shards of this process are kept. A record has a number, and its address does
// not change while it lives.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/attributes.h"
#include "base/byte_slab.h"
#include "base/check.h"
#include "coord/shard_record.h"
#include "shard/pooled.h"

namespace cadastre::coord::memory {

class Run;
using Number = std::uint32_t;

struct Record {
  ShardState state;
  shard::PooledSpec spec;
  shard::PooledCursor cursor;
  shard::PooledIdList spawned;

  Run* run = nullptr;  // null: the record is free
  // Places in the run's indexes.
  std::uint32_t by_id_block = 0;
  std::uint32_t by_key_block = 0;
  std::uint32_t lease_place = 0;

  [[nodiscard]] ShardRecordView view(const base::ByteSlab& slab CAD_LIFETIMEBOUND) const noexcept {
    return {state, spec.view(slab), cursor.view(slab), SpawnedView(spawned.packed(slab))};
  }

  // Gives the bytes back.
  void release(base::ByteSlab& slab) noexcept {
    spec.release(slab);
    cursor.release(slab);
    spawned.release(slab);
  }
};
static_assert(sizeof(Record) <= 768, "an idle shard takes less than 1,000 bytes, all told");

class RecordPool {
 public:
  // Makes `count` allocations succeed without the heap.
  void reserve(std::size_t count) {
    while (free_.size() < count)
      add_segment();
  }

  [[nodiscard]] Number allocate() {
    reserve(1);
    const Number number = free_.back();
    free_.pop_back();
    return number;
  }

  // The record's bytes have been released.
  void free(Number number) noexcept {
    (*this)[number] = Record{};
    free_.push_back(number);  // Has room for every record.
  }

  [[nodiscard]] Record& operator[](Number number) noexcept CAD_LIFETIMEBOUND {
    return (*segments_[number / kSegment])[number % kSegment];
  }
  [[nodiscard]] const Record& operator[](Number number) const noexcept CAD_LIFETIMEBOUND {
    return (*segments_[number / kSegment])[number % kSegment];
  }

 private:
  static constexpr std::size_t kSegment = 64;

  void add_segment() {
    const std::size_t first = segments_.size() * kSegment;
    segments_.push_back(std::make_unique<std::array<Record, kSegment>>());
    free_.reserve(segments_.capacity() * kSegment);
    for (std::size_t i = kSegment; i > 0; --i)
      free_.push_back(static_cast<Number>(first + i - 1));  // Lowest first.
  }

  std::vector<std::unique_ptr<std::array<Record, kSegment>>> segments_;
  std::vector<Number> free_;
};

// Where one kind of place is kept in a record; what the indexes call Links.
template <std::uint32_t Record::* Field>
struct RecordLink {
  RecordPool* pool;

  std::uint32_t& operator()(Number number) const noexcept { return (*pool)[number].*Field; }
};

}  // namespace cadastre::coord::memory
