// Staging: new records that are complete but not yet anyone's. Either all of them are handed over,
// or they vanish with their bytes.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/byte_slab.h"
#include "base/result.h"
#include "coord/memory/record_pool.h"
#include "coord/shard_record.h"
#include "shard/cursor.h"
#include "shard/shard_spec.h"

namespace cadastre::coord::memory {

class Staging {
 public:
  Staging(RecordPool& pool, base::ByteSlab& slab) noexcept : pool_(&pool), slab_(&slab) {}
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() { discard(); }

  // A record with this state and these bytes.
  [[nodiscard]] Result<Number, base::SlabFull> add(const ShardState& state,
                                                   const ShardSpecRef& spec,
                                                   const CursorUpdate& cursor,
                                                   std::span<const ShardId> spawned = {});

  // The records are the caller's from now on.
  [[nodiscard]] std::vector<Number> commit() noexcept;

 private:
  void discard() noexcept;

  RecordPool* pool_;
  base::ByteSlab* slab_;
  std::vector<Number> numbers_;
};

}  // namespace cadastre::coord::memory
