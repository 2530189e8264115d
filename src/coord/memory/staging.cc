#include "coord/memory/staging.h"

#include <span>
#include <utility>
#include <vector>

#include "base/byte_slab.h"
#include "base/result.h"
#include "coord/identity.h"
#include "coord/memory/record_pool.h"
#include "coord/shard_record.h"

namespace cadastre::coord::memory {

Result<Number, base::SlabFull> Staging::add(const ShardState& state,
                                            const ShardSpecRef& spec,
                                            const CursorUpdate& cursor,
                                            std::span<const ShardId> spawned) {
  const Number number = pool_->allocate();
  numbers_.push_back(number);
  Record& record = (*pool_)[number];
  record.state = state;
  CAD_TRY(record.spec.update(*slab_, spec));
  CAD_TRY(record.cursor.update(*slab_, cursor));
  if (!spawned.empty()) CAD_TRY(record.spawned.append(*slab_, spawned));
  assert_invariants(record.view(*slab_));
  return number;
}

std::vector<Number> Staging::commit() noexcept {
  return std::exchange(numbers_, {});
}

void Staging::discard() noexcept {
  for (const Number number : numbers_) {
    (*pool_)[number].release(*slab_);
    pool_->free(number);
  }
  numbers_.clear();
}

}  // namespace cadastre::coord::memory
