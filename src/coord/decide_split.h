// Decisions about splits: whether a plan may be carried out, and what its shards are called.
//
// A replace ends the parent and gives its range to children. A residual shrinks the parent, which
// keeps its lease, and gives the right part to a new shard. In both the new ids follow from the
// request alone, so a retry that was forgotten by the op-log finds the same names.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/function_ref.h"
#include "base/inline_vec.h"
#include "base/result.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease_rules.h"
#include "coord/limits.h"
#include "coord/outcome.h"
#include "coord/shard_change.h"
#include "coord/shard_limits.h"
#include "coord/shard_record.h"
#include "shard/split_plan.h"

namespace cadastre::coord {

using shard::SplitReplacePlan;
using shard::SplitResidualPlan;

struct SplitReplaceResult {
  base::InlineVec<ShardId, kMaxSplitChildren> children;  // in the order of their starts

  friend bool operator==(const SplitReplaceResult&, const SplitReplaceResult&) = default;
};

struct SplitResidualResult {
  ShardId residual;

  friend bool operator==(const SplitResidualResult&, const SplitResidualResult&) = default;
};

// What a split needs to know beyond its parent's record.
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): without find_start there is none to make
struct SplitSurroundings {
  ShardCounts counts;
  ShardLimits limits;
  std::size_t children_max = kMaxSplitChildren;  // what the backend can commit at once
  // The start key of a shard of the same run, or nothing if there is none.
  base::FunctionRef<std::optional<ByteView>(ShardId)> find_start;
};

using SplitRuleError = OneOf<TenantMismatch,
                             ShardTerminal,
                             StaleFence,
                             LeaseExpired,
                             OpIdConflict,
                             SplitInvalid,
                             InfraError>;

// 2.5 KiB: pass it by reference.
struct SplitReplaceDecision {
  Outcome outcome = Outcome::kExecuted;
  SplitReplaceResult result;
  // Of the plan's children, in the order of the result. Empty for a replay.
  base::InlineVec<std::uint16_t, kMaxSplitChildren> order;
  ShardChange parent;  // without the spawned ids, which are those of the result
};

[[nodiscard]] Result<SplitReplaceDecision, SplitRuleError> decide_split_replace(
    const ShardRecordView& record,
    const LeasedRequest& request,
    const SplitReplacePlan& plan,
    OpId op,
    const SplitSurroundings& surroundings);

struct SplitResidualDecision {
  Outcome outcome = Outcome::kExecuted;
  SplitResidualResult result;
  ShardChange parent;  // without the spawned id, which is the result's
};

[[nodiscard]] Result<SplitResidualDecision, SplitRuleError> decide_split_residual(
    const ShardRecordView& record,
    const LeasedRequest& request,
    const SplitResidualPlan& plan,
    OpId op,
    const SplitSurroundings& surroundings);

}  // namespace cadastre::coord
