#include "coord/snapshot.h"

#include <cstddef>
#include <cstring>
#include <span>

#include "base/check.h"
#include "coord/identity.h"
#include "coord/shard_record.h"

namespace cadastre::coord {
namespace {

ByteView copied(ByteView from, std::span<std::byte> to) noexcept {
  CAD_CHECK(from.size() <= to.size(), "stored bytes were bounded when they came in");
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
  return to.first(from.size());
}

}  // namespace

ShardSnapshotView AcquireScratch::fill(const ShardRecordView& record) noexcept {
  ShardSnapshotView snapshot;
  snapshot.status = record.state.status;
  snapshot.semantics = record.state.semantics;
  snapshot.parent = record.state.parent;
  snapshot.spec =
      ShardSpecRef::unchecked(copied(record.spec.start(), start_), copied(record.spec.end(), end_),
                              copied(record.spec.metadata(), metadata_));
  if (const auto key = record.cursor.last_key()) {
    snapshot.cursor = CursorUpdate::make(
        copied(*key, last_key_), copied(record.cursor.token().value_or(ByteView{}), token_));
  }
  snapshot.spawned = SpawnedView(copied(record.spawned.packed(), spawned_));
  return snapshot;
}

}  // namespace cadastre::coord
