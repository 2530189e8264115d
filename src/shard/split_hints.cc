#include "shard/split_hints.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/inline_vec.h"
#include "base/result.h"
#include "shard/cursor.h"
#include "shard/hint.h"
#include "shard/hint_propagation.h"
#include "shard/key_arith.h"
#include "shard/key_buf.h"
#include "shard/key_range.h"
#include "shard/limits.h"
#include "shard/shard_arena.h"
#include "shard/shard_spec.h"
#include "shard/split_coverage.h"
#include "shard/split_plan.h"
#include "shard/typed_keys.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {
namespace {

using Code = PlanError::Code;
using Handles = base::InlineVec<ShardSpecHandle, kMaxSplitChildren>;

void free_in_reverse(ShardArena& arena, Handles& handles) noexcept {
  for (; !handles.empty(); handles.pop_back())
    arena.free(handles.back());
}

KeyRange child_range(const ShardSpecRef& parent,
                     std::span<const ByteView> points,
                     std::size_t index) noexcept {
  return {index == 0 ? parent.start() : points[index - 1],
          index == points.size() ? parent.end() : points[index]};
}

// Whether the points cut the parent into valid, ascending ranges. Not inlined: its 12 KiB are gone
// from the stack before the children are stored.
[[gnu::noinline]]
Result<void, PlanError> check_geometry(const ShardSpecRef& parent,
                                       std::span<const ByteView> points) noexcept {
  base::InlineVec<ShardSpecRef, kMaxSplitChildren> children;
  for (std::size_t i = 0; i <= points.size(); ++i) {
    const KeyRange range = child_range(parent, points, i);
    children.push_back(ShardSpecRef::unchecked(range.start, range.end, parent.metadata()));
  }
  const auto covered = validate_split_coverage(parent.range(), children.as_span());
  if (covered) return {};
  return base::fail(PlanError{.code = Code::kInvalidCoverage, .coverage = covered.error()});
}

// Stores one child with its own hint.
Result<ShardSpecHandle, PlanError> store_child(const ShardMetadata& parent,
                                               KeyRange range,
                                               std::size_t index,
                                               ShardArena& arena) noexcept {
  const auto hint = propagate_hint_on_split(parent.hint, range.start, range.end);
  if (!hint) {
    return base::fail(PlanError{
        .code = Code::kHintPropagation, .child_index = index, .propagation = hint.error()});
  }
  MetadataBuf scratch;
  const auto metadata = encode_into(ShardMetadata{*hint, parent.connector_extra}, scratch);
  // A child's hint is never longer than its parent's, but for a parent without metadata.
  CAD_CHECK(metadata.has_value(), "a child's metadata fits where its parent's did");
  const auto handle = arena.alloc(ShardSpecRef::unchecked(range.start, range.end, *metadata));
  if (!handle) return base::fail(PlanError{.code = Code::kArena, .arena = handle.error()});
  return *handle;
}

// All or nothing.
Result<void, PlanError> store_children(const ShardSpecRef& parent,
                                       std::span<const ByteView> points,
                                       ShardArena& arena,
                                       Handles& handles) noexcept {
  const auto metadata = decode_metadata(parent);
  if (!metadata) {
    return base::fail(PlanError{.code = Code::kMetadataUndecodable, .metadata = metadata.error()});
  }
  CAD_TRY(check_geometry(parent, points));
  for (std::size_t i = 0; i <= points.size(); ++i) {
    const auto handle = store_child(*metadata, child_range(parent, points, i), i, arena);
    if (!handle) {
      free_in_reverse(arena, handles);
      return base::fail(handle.error());
    }
    handles.push_back(*handle);
  }
  return {};
}

}  // namespace

std::optional<ByteView> split_point_for(const ShardSpecRef& spec, KeyBuf& out) noexcept {
  const auto hint = decode_hint(spec);
  if (!hint) return std::nullopt;
  switch (hint->kind()) {
    case ShardHint::Kind::kRange:
    case ShardHint::Kind::kPrefix: return balanced_split_point(spec.start(), spec.end(), out);
    case ShardHint::Kind::kManifest: {
      const ManifestRows rows = hint->manifest_rows();
      const std::uint64_t half = (rows.end_row - rows.start_row) / 2;
      if (half == 0) return std::nullopt;
      ManifestRowKey{rows.manifest_id, rows.start_row + half}.encode_into(out);
      return out.view();
    }
  }
  return std::nullopt;
}

void HintedReplacePlan::release(ShardArena& arena) noexcept {
  free_in_reverse(arena, specs);
}

void HintedResidualPlan::release(ShardArena& arena) const noexcept {
  arena.free(residual);
  arena.free(new_parent);
}

Result<HintedReplacePlan, PlanError> plan_split_replace_with_hints(const ShardSpecRef& parent,
                                                                   std::span<const ByteView> points,
                                                                   CursorForChild cursor_for_child,
                                                                   ShardArena& arena) noexcept {
  Result<HintedReplacePlan, PlanError> result{std::in_place};
  auto stored = check_point_count(points.size());
  if (stored) stored = store_children(parent, points, arena, result->specs);
  if (!stored) {
    result = base::fail(stored.error());
    return result;
  }
  for (std::size_t i = 0; i < result->specs.size(); ++i) {
    const ShardSpecRef spec = arena.view(result->specs[i]);
    result->plan.children_.push_back({spec, cursor_for_child(i, spec)});
  }
  return result;
}

Result<HintedResidualPlan, PlanError> plan_split_residual_with_hints(const ShardSpecRef& parent,
                                                                     ByteView point,
                                                                     ShardArena& arena) noexcept {
  Handles handles;
  const std::array<ByteView, 1> points{point};
  CAD_TRY(store_children(parent, points, arena, handles));
  const auto plan = SplitResidualPlan::try_make(arena.view(handles[0]), arena.view(handles[1]));
  CAD_CHECK(plan.has_value(), "two parts of one range differ");
  return HintedResidualPlan{*plan, handles[0], handles[1]};
}

Result<HintedResidualPlan, PlanError> plan_split_residual_from_cursor_with_hints(
    const ShardSpecRef& parent, const CursorUpdate& cursor, ShardArena& arena) noexcept {
  KeyBuf scratch;
  const ByteView point = CAD_TRY(residual_point_from_cursor(parent, cursor, scratch));
  return plan_split_residual_with_hints(parent, point, arena);
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
