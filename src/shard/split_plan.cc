#include "shard/split_plan.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/endian.h"
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
#include "shard/text_writer.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {
namespace {

using Code = PlanError::Code;

PlanError coverage_error(const SplitError& error) noexcept {
  return {.code = Code::kInvalidCoverage, .coverage = error};
}

Result<void, PlanError> check_coverage(const ShardSpecRef& parent,
                                       std::span<const SplitReplaceChild> children) noexcept {
  base::InlineVec<ShardSpecRef, kMaxSplitChildren> specs;
  for (const auto& child : children)
    specs.push_back(child.spec);
  const auto covered = validate_split_coverage(parent.range(), specs.as_span());
  if (!covered) return base::fail(coverage_error(covered.error()));
  return {};
}

void visit_u32(std::size_t value, ByteSink sink) {
  std::array<std::byte, 4> bytes{};
  base::store_le(bytes.data(), static_cast<std::uint32_t>(value));
  sink(bytes);
}

void visit_field(ByteView field, ByteSink sink) {
  visit_u32(field.size(), sink);
  sink(field);
}

void visit_spec(const ShardSpecRef& spec, ByteSink sink) {
  visit_field(spec.start(), sink);
  visit_field(spec.end(), sink);
  visit_field(spec.metadata(), sink);
}

void visit_optional(const std::optional<ByteView>& field, ByteSink sink) {
  const std::array<std::byte, 1> present{static_cast<std::byte>(field.has_value() ? 1 : 0)};
  sink(present);
  if (field) visit_field(*field, sink);
}

}  // namespace

std::string_view code_name(const PlanError& error) noexcept {
  switch (error.code) {
    case Code::kTooManyChildren: return "too_many_children";
    case Code::kTooFewChildren: return "too_few_children";
    case Code::kInvalidCoverage: return code_name(error.coverage);
    case Code::kIdenticalSpecs: return "identical_specs";
    case Code::kMissingCursor: return "missing_cursor";
    case Code::kNoSuccessor: return "no_successor";
    case Code::kSplitPointOutOfBounds: return "split_point_out_of_bounds";
    case Code::kMetadataUndecodable: return code_name(error.metadata);
    case Code::kHintPropagation: return code_name(error.propagation);
    case Code::kArena: return code_name(error.arena);
  }
  return "unknown";
}

char* format_to(char* first, char* last, const PlanError& error) noexcept {
  TextWriter out(first, last);
  switch (error.code) {
    case Code::kTooManyChildren:
      return out.number(error.count)
          .text(" children exceed the limit of ")
          .number(kMaxSplitChildren)
          .end();
    case Code::kTooFewChildren:
      return out.text("a split has at least two children, not ").number(error.count).end();
    case Code::kInvalidCoverage: return out.error(error.coverage).end();
    case Code::kIdenticalSpecs: return out.text("new parent and residual are the same spec").end();
    case Code::kMissingCursor: return out.text("the shard has no cursor to split at").end();
    case Code::kNoSuccessor: return out.text("no key follows the cursor").end();
    case Code::kSplitPointOutOfBounds:
      return out.text("the split point is not inside the shard").end();
    case Code::kMetadataUndecodable:
      return out.text("the parent's metadata: ").error(error.metadata).end();
    case Code::kHintPropagation:
      return out.text("child ").number(error.child_index).text(": ").error(error.propagation).end();
    case Code::kArena: return out.error(error.arena).end();
  }
  return out.end();
}

Result<void, PlanError> check_point_count(std::size_t points) noexcept {
  if (points > kMaxSplitChildren - 1) {
    return base::fail(PlanError{.code = Code::kTooManyChildren, .count = kMaxSplitChildren + 1});
  }
  if (points == 0) return base::fail(PlanError{.code = Code::kTooFewChildren, .count = 1});
  return {};
}

Result<SplitReplacePlan, PlanError> SplitReplacePlan::try_make(
    std::span<const SplitReplaceChild> children) noexcept {
  Result<SplitReplacePlan, PlanError> plan{std::in_place};
  if (children.size() > kMaxSplitChildren) {
    plan = base::fail(PlanError{.code = Code::kTooManyChildren, .count = kMaxSplitChildren + 1});
  } else if (children.size() < 2) {
    plan = base::fail(PlanError{.code = Code::kTooFewChildren, .count = children.size()});
  } else {
    plan->children_.append(children);
  }
  return plan;
}

Result<SplitResidualPlan, PlanError> SplitResidualPlan::try_make(
    const ShardSpecRef& new_parent, const ShardSpecRef& residual) noexcept {
  if (new_parent == residual) return base::fail(PlanError{.code = Code::kIdenticalSpecs});
  SplitResidualPlan plan;
  plan.new_parent_ = new_parent;
  plan.residual_ = residual;
  return plan;
}

Result<SplitReplacePlan, PlanError> plan_split_replace(
    const ShardSpecRef& parent, std::span<const SplitReplaceChild> children) noexcept {
  auto plan = SplitReplacePlan::try_make(children);
  if (!plan) return plan;
  const auto covered = check_coverage(parent, children);
  if (!covered) plan = base::fail(covered.error());
  return plan;
}

Result<SplitReplacePlan, PlanError> plan_split_replace_at_points(
    const ShardSpecRef& parent,
    std::span<const ByteView> points,
    CursorForChild cursor_for_child) noexcept {
  Result<SplitReplacePlan, PlanError> plan{std::in_place};
  const auto shape = check_point_count(points.size());
  if (!shape) {
    plan = base::fail(shape.error());
    return plan;
  }
  const auto& guards = parent.guards();
  for (std::size_t i = 0; i <= points.size(); ++i) {
    const bool first = i == 0;
    const bool last = i == points.size();
    const auto spec = ShardSpecRef::unchecked(
        first ? parent.start() : points[i - 1], last ? parent.end() : points[i], parent.metadata(),
        SpecGuards(first ? guards.of_start() : ViewGuard(), last ? guards.of_end() : ViewGuard(),
                   guards.of_metadata()));
    plan->children_.push_back({spec, cursor_for_child(i, spec)});
  }
  const auto covered = check_coverage(parent, plan->children());
  if (!covered) plan = base::fail(covered.error());
  return plan;
}

Result<SplitReplacePlan, PlanError> plan_split_replace_at_points_initial_cursor(
    const ShardSpecRef& parent, std::span<const ByteView> points) noexcept {
  return plan_split_replace_at_points(
      parent, points,
      [](std::size_t, const ShardSpecRef&) noexcept { return CursorUpdate::initial(); });
}

Result<SplitResidualPlan, PlanError> plan_split_residual(const ShardSpecRef& parent,
                                                         const ShardSpecRef& new_parent,
                                                         const ShardSpecRef& residual) noexcept {
  auto plan = SplitResidualPlan::try_make(new_parent, residual);
  if (!plan) return plan;
  const auto covered = validate_residual_split(parent.range(), new_parent, residual);
  if (!covered) return base::fail(coverage_error(covered.error()));
  return plan;
}

Result<SplitResidualPlan, PlanError> plan_split_residual_at_point(const ShardSpecRef& parent,
                                                                  ByteView point) noexcept {
  const auto& guards = parent.guards();
  return plan_split_residual(
      parent,
      ShardSpecRef::unchecked(parent.start(), point, parent.metadata(),
                              SpecGuards(guards.of_start(), {}, guards.of_metadata())),
      ShardSpecRef::unchecked(point, parent.end(), parent.metadata(),
                              SpecGuards({}, guards.of_end(), guards.of_metadata())));
}

Result<ByteView, PlanError> residual_point_from_cursor(const ShardSpecRef& parent,
                                                       const CursorUpdate& cursor,
                                                       KeyBuf& scratch) noexcept {
  const auto last_key = cursor.last_key();
  if (!last_key) return base::fail(PlanError{.code = Code::kMissingCursor});
  const auto point = key_successor(*last_key, scratch);
  if (!point) return base::fail(PlanError{.code = Code::kNoSuccessor});
  const bool above_start = base::less(parent.start(), *point);
  if (!above_start || !key_below_end(*point, parent.end())) {
    return base::fail(PlanError{.code = Code::kSplitPointOutOfBounds});
  }
  return *point;
}

Result<SplitResidualPlan, PlanError> plan_split_residual_from_cursor(const ShardSpecRef& parent,
                                                                     const CursorUpdate& cursor,
                                                                     KeyBuf& scratch) noexcept {
  const ByteView point = CAD_TRY(residual_point_from_cursor(parent, cursor, scratch));
  const auto& guards = parent.guards();
  return plan_split_residual(
      parent,
      ShardSpecRef::unchecked(parent.start(), point, parent.metadata(),
                              SpecGuards(guards.of_start(), scratch.guard(), guards.of_metadata())),
      ShardSpecRef::unchecked(point, parent.end(), parent.metadata(),
                              SpecGuards(scratch.guard(), guards.of_end(), guards.of_metadata())));
}

Result<void, ChildCursorError> validate_child_cursors(const SplitReplacePlan& plan) noexcept {
  std::uint64_t index = 0;
  for (const auto& child : plan.children()) {
    const CursorBounds bounds = check_cursor_bounds(child.cursor, child.spec);
    const bool outside = bounds == CursorBounds::kBelowRange || bounds == CursorBounds::kAboveRange;
    if (outside) return base::fail(ChildCursorError{index, bounds});
    ++index;
  }
  return {};
}

void visit_canonical_bytes(const SplitReplacePlan& plan, ByteSink sink) {
  visit_u32(plan.children().size(), sink);
  for (const auto& child : plan.children()) {
    visit_spec(child.spec, sink);
    visit_optional(child.cursor.last_key(), sink);
    visit_optional(child.cursor.token(), sink);
  }
}

void visit_canonical_bytes(const SplitResidualPlan& plan, ByteSink sink) {
  visit_spec(plan.new_parent(), sink);
  visit_spec(plan.residual(), sink);
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
