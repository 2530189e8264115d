// What a worker gets when it acquires a shard: the lease, the work, and how busy the run is.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/attributes.h"
#include "base/bytes.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "coord/shard_record.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/shard_spec.h"

namespace cadastre::coord {

// How many shards of the run can be claimed right now, and if none, when it is worth another try.
// Advice, perhaps stale; nothing rests on it.
struct CapacityHint {
  std::uint32_t available_count = 0;
  std::optional<LogicalTime> earliest_deadline;  // of the leases that run

  [[nodiscard]] static constexpr CapacityHint zero() noexcept { return {}; }  // or unknown
  [[nodiscard]] constexpr bool is_saturated() const noexcept { return available_count == 0; }

  friend bool operator==(const CapacityHint&, const CapacityHint&) = default;
};
static_assert(sizeof(CapacityHint) <= 24);

// Borrows from a scratch, until that is filled again.
struct ShardSnapshotView {
  ShardStatus status = ShardStatus::kActive;
  CursorSemantics semantics = CursorSemantics::kCompleted;
  ShardSpecRef spec;
  CursorUpdate cursor = CursorUpdate::initial();
  std::optional<ShardId> parent;
  SpawnedView spawned;
};

// Room for the bytes of any legal record. Large: keep one on the heap and use it again.
class AcquireScratch {
 public:
  // A copy of the record's bytes, and a view of the copy.
  [[nodiscard]] ShardSnapshotView fill(const ShardRecordView& record) noexcept CAD_LIFETIMEBOUND;

 private:
  // NOLINTBEGIN(cppcoreguidelines-pro-type-member-init): only what fill() copied is read
  std::array<std::byte, kMaxKeySize> start_;
  std::array<std::byte, kMaxKeySize> end_;
  std::array<std::byte, kMaxMetadataSize> metadata_;
  std::array<std::byte, kMaxKeySize> last_key_;
  std::array<std::byte, kMaxTokenSize> token_;
  std::array<std::byte, kMaxSpawnedPerShard * sizeof(std::uint64_t)> spawned_;
  // NOLINTEND(cppcoreguidelines-pro-type-member-init)
};
static_assert(sizeof(AcquireScratch) == 53'248);

struct AcquireResultView {
  Lease lease;
  ShardSnapshotView snapshot;  // after the change of owner, before any work of the new one
  CapacityHint capacity;
};

struct RenewResult {
  LogicalTime new_deadline;
  CapacityHint capacity;

  friend bool operator==(const RenewResult&, const RenewResult&) = default;
};
static_assert(sizeof(RenewResult) <= 32);

}  // namespace cadastre::coord
