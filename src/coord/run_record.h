// A run's record: one pass over a data source, and what is always true of it.
//
// Invariants
//    1. An Active run has root shards.
//    2. completed_at is present exactly if the status is terminal.
//    3. created_at > 0.
//    4. An Initializing run has no root shards.
//    5. completed_at >= created_at.
//    6. The op-log has at most 8 entries (by construction).
//    7. The op ids in the log are distinct.
//    8. lease_duration > 0.
//    9. The root shards are distinct.
//   10. executed_at does not decrease along the log.
//   11. Exactly the registrations in the log carry shard ids.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/op_log.h"
#include "coord/shard_record.h"
#include "coord/states.h"

namespace cadastre::coord {

// Never changes once the run exists.
struct RunConfig {
  CursorSemantics cursor_semantics = CursorSemantics::kCompleted;
  std::uint64_t lease_duration = 0;  // in ticks of logical time, not 0
  // How often a shard may change hands before someone should park it. Advice for orchestrators
  // (retry_policy.h); absent: without bound.
  std::optional<std::uint32_t> max_shard_retries = std::nullopt;

  friend bool operator==(const RunConfig&, const RunConfig&) = default;
};

[[nodiscard]] Result<void, InvalidConfig> validate(const RunConfig& config) noexcept;

struct RunRecord {
  TenantId tenant;
  RunId run;
  RunConfig config;
  RunStatus status = RunStatus::kInitializing;
  LogicalTime created_at;
  std::optional<LogicalTime> completed_at;
  std::vector<ShardId> root_shards;  // in the order of the manifest
  RunOpLog op_log;

  friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

[[nodiscard]] Result<void, BrokenInvariant> check_invariants(const RunRecord& record);
void assert_invariants(const RunRecord& record);

[[nodiscard]] bool is_legal_transition(RunStatus from, RunStatus to) noexcept;

}  // namespace cadastre::coord
