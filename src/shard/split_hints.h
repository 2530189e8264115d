// Splits with truthful hints: the planners to use, and the cut to use them with.
//
// Each child's hint is propagated from its parent's (hint_propagation.h), the connector's bytes stay
// as they are, and the finished specs live in the caller's arena. On an error nothing stays behind
// in the arena. The plans name the specs that they stored; release() frees them.

#pragma once

#include <optional>
#include <span>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/inline_vec.h"
#include "base/result.h"
#include "shard/cursor.h"
#include "shard/key_buf.h"
#include "shard/limits.h"
#include "shard/shard_arena.h"
#include "shard/shard_spec.h"
#include "shard/split_plan.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

// A key strictly inside the spec at which to cut it in two: the middle row for a Manifest, else
// balanced_split_point. Nothing where no cut exists, and where the metadata does not decode (the
// planners say why). Range arithmetic alone would leave the 16-byte form of row keys.
[[nodiscard]] std::optional<ByteView> split_point_for(const ShardSpecRef& spec,
                                                      KeyBuf& out CAD_LIFETIMEBOUND) noexcept;

// 28 KiB, like its plan: pass it by reference.
struct HintedReplacePlan {
  SplitReplacePlan plan;
  base::InlineVec<ShardSpecHandle, kMaxSplitChildren> specs;  // in the order of the children

  void release(ShardArena& arena) noexcept;
};

struct HintedResidualPlan {
  SplitResidualPlan plan;
  ShardSpecHandle new_parent;
  ShardSpecHandle residual;

  void release(ShardArena& arena) const noexcept;
};

// Errors in order: the shape of `points`, metadata_undecodable, coverage, hint_propagation, arena.
// `cursor_for_child` sees each finished child and is called only if all of that has passed.
[[nodiscard]] Result<HintedReplacePlan, PlanError> plan_split_replace_with_hints(
    const ShardSpecRef& parent,
    std::span<const ByteView> points,
    CursorForChild cursor_for_child,
    ShardArena& arena CAD_LIFETIMEBOUND) noexcept;

// Errors in order: metadata_undecodable, coverage, hint_propagation (child 0 is the new parent),
// arena.
[[nodiscard]] Result<HintedResidualPlan, PlanError> plan_split_residual_with_hints(
    const ShardSpecRef& parent, ByteView point, ShardArena& arena CAD_LIFETIMEBOUND) noexcept;

// At the key behind the cursor; plan_split_residual_from_cursor's errors come first.
[[nodiscard]] Result<HintedResidualPlan, PlanError> plan_split_residual_from_cursor_with_hints(
    const ShardSpecRef& parent,
    const CursorUpdate& cursor,
    ShardArena& arena CAD_LIFETIMEBOUND) noexcept;

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
