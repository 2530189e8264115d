// Split plans: which children replace a shard, or which residual it gives away.
//
// A plan is a value that borrows every byte: from the parent, the split points, the scratch, or the
// arena that a `_with_hints` planner (split_hints.h) stored its specs in. Equal inputs give equal
// plans. The planners here copy the parent's metadata into every child, which is a lie for Prefix
// and Manifest parents; they exist for golden vectors and for parents without a hint. Coordination,
// command line and scan call split_hints.h.
//
// A SplitReplacePlan is 24 KiB: pass it by reference.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/function_ref.h"
#include "base/inline_vec.h"
#include "base/result.h"
#include "shard/cursor.h"
#include "shard/hint.h"
#include "shard/hint_propagation.h"
#include "shard/key_buf.h"
#include "shard/limits.h"
#include "shard/shard_arena.h"
#include "shard/shard_spec.h"
#include "shard/split_coverage.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

struct PlanError {
  enum class Code : std::uint8_t {
    kTooManyChildren,  // count: a lower bound
    kTooFewChildren,   // count
    kInvalidCoverage,  // coverage
    kIdenticalSpecs,   // new parent and residual are the same
    kMissingCursor,
    kNoSuccessor,  // the cursor stands at the last key there is
    kSplitPointOutOfBounds,
    kMetadataUndecodable,  // metadata
    kHintPropagation,      // child_index, propagation
    kArena,                // arena
  };

  Code code = Code::kTooFewChildren;
  std::uint64_t count = 0;
  std::uint64_t child_index = 0;
  SplitError coverage{};
  MetadataDecodeError metadata{};
  PropagationError propagation{};
  ArenaFull arena{};

  friend constexpr bool operator==(const PlanError&, const PlanError&) noexcept = default;
};

[[nodiscard]] std::string_view code_name(const PlanError& error) noexcept;  // the innermost
char* format_to(char* first, char* last, const PlanError& error) noexcept;

struct SplitReplaceChild {
  ShardSpecRef spec;
  CursorUpdate cursor = CursorUpdate::initial();

  friend bool operator==(const SplitReplaceChild&, const SplitReplaceChild&) noexcept = default;
};

// Called once for each child, in order.
using CursorForChild =
    base::FunctionRef<CursorUpdate(std::size_t index, const ShardSpecRef& child)>;

struct HintedReplacePlan;

// Two to kMaxSplitChildren children in the caller's order.
class SplitReplacePlan {
 public:
  using Children = base::InlineVec<SplitReplaceChild, kMaxSplitChildren>;

  // Checks the shape only; plan_split_replace checks coverage too.
  [[nodiscard]] static Result<SplitReplacePlan, PlanError> try_make(
      std::span<const SplitReplaceChild> children CAD_LIFETIMEBOUND) noexcept;

  [[nodiscard]] std::span<const SplitReplaceChild> children() const noexcept CAD_LIFETIMEBOUND {
    return children_.as_span();
  }

  friend bool operator==(const SplitReplacePlan& a, const SplitReplacePlan& b) noexcept {
    return a.children_ == b.children_;
  }

 private:
  // The two planners fill a plan in place: a second copy would be too much for a small stack.
  friend Result<SplitReplacePlan, PlanError> plan_split_replace_at_points(
      const ShardSpecRef& parent,
      std::span<const ByteView> points,
      CursorForChild cursor_for_child) noexcept;
  friend Result<HintedReplacePlan, PlanError> plan_split_replace_with_hints(
      const ShardSpecRef& parent,
      std::span<const ByteView> points,
      CursorForChild cursor_for_child,
      ShardArena& arena) noexcept;

  Children children_;
};

// The parent keeps `new_parent`; a new shard takes `residual`.
class SplitResidualPlan {
 public:
  [[nodiscard]] static Result<SplitResidualPlan, PlanError> try_make(
      const ShardSpecRef& new_parent, const ShardSpecRef& residual) noexcept;

  [[nodiscard]] const ShardSpecRef& new_parent() const noexcept { return new_parent_; }
  [[nodiscard]] const ShardSpecRef& residual() const noexcept { return residual_; }

  friend bool operator==(const SplitResidualPlan&, const SplitResidualPlan&) noexcept = default;

 private:
  ShardSpecRef new_parent_;
  ShardSpecRef residual_;
};

// Whether so many split points make a legal number of children.
[[nodiscard]] Result<void, PlanError> check_point_count(std::size_t points) noexcept;

// Shape, then coverage.
[[nodiscard]] Result<SplitReplacePlan, PlanError> plan_split_replace(
    const ShardSpecRef& parent, std::span<const SplitReplaceChild> children) noexcept;

// Child i is [point i-1, point i). At most kMaxSplitChildren - 1 points, at least one; neither bound
// calls `cursor_for_child`.
[[nodiscard]] Result<SplitReplacePlan, PlanError> plan_split_replace_at_points(
    const ShardSpecRef& parent,
    std::span<const ByteView> points,
    CursorForChild cursor_for_child) noexcept;
[[nodiscard]] Result<SplitReplacePlan, PlanError> plan_split_replace_at_points_initial_cursor(
    const ShardSpecRef& parent, std::span<const ByteView> points) noexcept;

[[nodiscard]] Result<SplitResidualPlan, PlanError> plan_split_residual(
    const ShardSpecRef& parent,
    const ShardSpecRef& new_parent,
    const ShardSpecRef& residual) noexcept;
[[nodiscard]] Result<SplitResidualPlan, PlanError> plan_split_residual_at_point(
    const ShardSpecRef& parent, ByteView point) noexcept;

// Cuts right behind the cursor: the parent has nothing left to scan, which is intended. The plan
// borrows `scratch`.
[[nodiscard]] Result<SplitResidualPlan, PlanError> plan_split_residual_from_cursor(
    const ShardSpecRef& parent,
    const CursorUpdate& cursor,
    KeyBuf& scratch CAD_LIFETIMEBOUND) noexcept;

// Where plan_split_residual_from_cursor cuts.
[[nodiscard]] Result<ByteView, PlanError> residual_point_from_cursor(
    const ShardSpecRef& parent,
    const CursorUpdate& cursor,
    KeyBuf& scratch CAD_LIFETIMEBOUND) noexcept;

// The first child whose cursor lies outside its range.
struct ChildCursorError {
  std::uint64_t child_index = 0;
  CursorBounds bounds = CursorBounds::kNoKey;

  friend constexpr bool operator==(const ChildCursorError&,
                                   const ChildCursorError&) noexcept = default;
};
[[nodiscard]] Result<void, ChildCursorError> validate_child_cursors(
    const SplitReplacePlan& plan) noexcept;

// The canonical bytes of a plan, piece by piece, for hashing. Integers are little-endian.
//
//   replace    u32 child count, then for each child its spec and its cursor
//   residual   the new parent's spec, the residual's spec
//   spec       start, end, metadata: each u32 length and bytes
//   cursor     last key, token: each a presence byte 0 or 1 and, if 1, u32 length and bytes
using ByteSink = base::FunctionRef<void(ByteView)>;
void visit_canonical_bytes(const SplitReplacePlan& plan, ByteSink sink);
void visit_canonical_bytes(const SplitResidualPlan& plan, ByteSink sink);

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
