// What a decision does to one record. Decisions are pure: they look at a record and a request and
// answer with an error, or with a change that a backend then installs.
//
// A backend first makes room for whatever bytes the change carries, which may fail and has touched
// nothing; then it calls apply_to_state() and installs the bytes, which cannot fail; then it asserts
// the invariants, before anyone can see the record.

#pragma once

#include <optional>
#include <span>

#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/op_log.h"
#include "coord/shard_record.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/shard_spec.h"

namespace cadastre::coord {

// Borrows from the request that was decided on.
struct ShardChange {
  // The state afterwards.
  ShardStatus status = ShardStatus::kActive;
  std::optional<ParkReason> park_reason;
  std::optional<LeaseHolder> lease;
  FenceEpoch fence;

  // Absent: as before.
  std::optional<OpLogEntry> entry;
  std::optional<CursorUpdate> cursor;
  std::optional<ShardSpecRef> spec;
  std::span<const ShardId> spawned;  // appended
};

// The record as it is.
[[nodiscard]] ShardChange unchanged(const ShardState& state) noexcept;

void apply_to_state(const ShardChange& change, ShardState& state) noexcept;

}  // namespace cadastre::coord
