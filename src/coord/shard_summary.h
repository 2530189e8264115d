// Lists of shards: which ones are wanted, and what is told of each.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "coord/identity.h"
#include "coord/limits.h"
#include "coord/progress.h"
#include "coord/shard_record.h"
#include "coord/states.h"

namespace cadastre::coord {

// Leases are judged at the time of the request.
struct ShardFilter {
  std::optional<ShardStatus> status = std::nullopt;
  std::optional<bool> is_leased = std::nullopt;
  bool root_only = false;

  [[nodiscard]] static ShardFilter all() noexcept { return {}; }
  [[nodiscard]] static ShardFilter active() noexcept { return {.status = ShardStatus::kActive}; }
  [[nodiscard]] static ShardFilter available() noexcept {
    return {.status = ShardStatus::kActive, .is_leased = false};
  }
  [[nodiscard]] static ShardFilter parked() noexcept { return {.status = ShardStatus::kParked}; }

  [[nodiscard]] bool matches(const ShardState& state, LogicalTime now) const noexcept;
};

// A piece of a list. Lists are sorted by start key, then by id.
struct ShardPage {
  std::size_t limit = kListLimitDefault;
  std::optional<ShardId> after = std::nullopt;  // goes on behind this shard
};

struct ShardSummary {
  ShardId shard;
  ShardStatus status = ShardStatus::kActive;
  std::optional<ParkReason> park_reason;
  bool is_leased = false;
  std::optional<LogicalTime> lease_deadline;  // only if leased
  std::optional<WorkerId> owner;              // only if leased
  FenceEpoch fence;
  std::uint32_t acquire_count = 0;  // ownership epochs: acquisitions and unparks
  std::optional<FixedKey> last_key;
  FixedKey start;
  FixedKey end;
  std::optional<ShardId> parent;
  std::uint32_t spawned_count = 0;
};

[[nodiscard]] ShardSummary summarize(const ShardRecordView& record, LogicalTime now) noexcept;

}  // namespace cadastre::coord
