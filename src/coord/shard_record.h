// A shard's record: what coordination knows of one shard, and what is always true of it.
//
// ShardState is the part of fixed size. Spec, cursor and the list of spawned shards are bytes that a
// backend keeps as it likes (a slab, a decoded blob); ShardRecordView puts the two together for the
// rules, which never store anything.
//
// Invariants, checked after every change before anyone can see it
//    1. park_reason is present exactly if the status is Parked.
//    2. Owner and deadline of a lease are present together (by construction); the deadline is not 0.
//    3. A terminal shard has no lease.
//    4. fence >= 1.
//    5. The op-log has at most 16 entries (by construction).
//    6. A Split shard has spawned something.
//    7. parent is present exactly if the id is derived.
//    8. Every spawned id is derived.
//    9. The op ids in the log are distinct.
//   10. At most 1,024 shards are spawned.
//   11. executed_at does not decrease along the log.
//   12. A last key lies inside the spec.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/op_log.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/shard_spec.h"

namespace cadastre::coord {

using base::Result;
using shard::CursorUpdate;
using shard::ShardSpecRef;

struct ShardState {
  // Never change.
  TenantId tenant;
  RunId run;
  ShardId shard;
  std::optional<ShardId> parent;
  CursorSemantics semantics = CursorSemantics::kCompleted;

  ShardStatus status = ShardStatus::kActive;
  std::optional<ParkReason> park_reason;
  std::optional<LeaseHolder> lease;
  FenceEpoch fence = kFenceInitial;
  OpLog op_log;

  [[nodiscard]] ShardKey key() const noexcept { return {run, shard}; }

  friend bool operator==(const ShardState&, const ShardState&) = default;
};

// The shards that a shard has given away, in the order of their making. Borrows packed
// little-endian ids.
class SpawnedView {
 public:
  SpawnedView() noexcept = default;
  explicit SpawnedView(ByteView packed) noexcept : packed_(packed) {}

  [[nodiscard]] std::size_t size() const noexcept { return packed_.size() / sizeof(std::uint64_t); }
  [[nodiscard]] bool empty() const noexcept { return packed_.empty(); }
  [[nodiscard]] ShardId operator[](std::size_t index) const noexcept {
    return ShardId::from_raw(
        base::load_le<std::uint64_t>(packed_.data() + index * sizeof(std::uint64_t)));
  }
  [[nodiscard]] ByteView packed() const noexcept { return packed_; }

 private:
  ByteView packed_;
};

// Borrows a record from whoever keeps it, for the length of one decision.
struct ShardRecordView {
  const ShardState& state;
  ShardSpecRef spec;
  CursorUpdate cursor;
  SpawnedView spawned;
};

struct BrokenInvariant {
  int number = 0;
  std::string_view text;

  friend bool operator==(const BrokenInvariant&, const BrokenInvariant&) = default;
};

// The first invariant that does not hold.
[[nodiscard]] Result<void, BrokenInvariant> check_invariants(
    const ShardRecordView& record) noexcept;

// Aborts unless they hold: a broken record never becomes visible.
void assert_invariants(const ShardRecordView& record) noexcept;

// Active to Done, Split, Parked and Active; Parked to Active.
[[nodiscard]] bool is_legal_transition(ShardStatus from, ShardStatus to) noexcept;

}  // namespace cadastre::coord
