#include "cli/shard_plan.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "cli/command_error.h"
#include "shard/hint.h"
#include "shard/key_buf.h"
#include "shard/shard_spec.h"
#include "shard/split_points.h"
#include "shard/typed_keys.h"

namespace cadastre::cli {
namespace {

using base::ByteView;

constexpr const char* kHasPassed = "a plan is visited after its check";

ByteView must_encode(const shard::ShardHint& hint, shard::MetadataBuf& out) {
  const auto metadata = shard::encode_into(shard::ShardMetadata{hint, {}}, out);
  CAD_CHECK(metadata.has_value(), kHasPassed);
  return *metadata;
}

}  // namespace

Result<void, CommandError> check_plan(const EvenPlan& plan) {
  CAD_CHECK(plan.count > 0, "the command line refuses a plan of no shards");
  const auto spec = shard::ShardSpecRef::try_make(plan.range.start, plan.range.end);
  if (!spec) return base::fail(from_algebra(spec.error()));
  if (shard::even_split_width(plan.range, plan.count)) return {};
  return base::fail(CommandError{"range_too_narrow",
                                 fmt::format("the range has no room for {} shards", plan.count)});
}

Result<void, CommandError> check_plan(const RowPlan& plan) {
  CAD_CHECK(plan.per_shard > 0, "the command line refuses shards of no rows");
  if (plan.rows.start_row < plan.rows.end_row) return {};
  return base::fail(CommandError{
      "inverted_range",
      fmt::format("start row {} is not below end row {}", plan.rows.start_row, plan.rows.end_row)});
}

std::uint64_t shard_count(const EvenPlan& plan) noexcept {
  return plan.count;
}

std::uint64_t shard_count(const RowPlan& plan) noexcept {
  const std::uint64_t rows = plan.rows.end_row - plan.rows.start_row;
  return rows / plan.per_shard + (rows % plan.per_shard != 0 ? 1 : 0);
}

void visit_plan(const EvenPlan& plan, VisitShard visit) {
  shard::EvenSplitPoints cuts;
  CAD_CHECK(cuts.init(plan.range, plan.count), kHasPassed);
  shard::MetadataBuf metadata;
  PlannedShard planned{.id = 0,
                       .start = plan.range.start,
                       .end = {},
                       .hint = shard::ShardHint::range(),
                       .metadata = must_encode(shard::ShardHint::range(), metadata)};
  std::array<shard::KeyBuf, 2> bounds;  // In turns: a shard's end is the next one's start.
  for (; planned.id < plan.count; ++planned.id) {
    const auto cut = cuts.next(bounds[planned.id % 2]);
    planned.end = cut.value_or(plan.range.end);
    if (!visit(planned)) return;
    planned.start = planned.end;
  }
}

void visit_plan(const RowPlan& plan, VisitShard visit) {
  shard::KeyBuf start;
  shard::KeyBuf end;
  shard::MetadataBuf metadata;
  shard::ManifestRows rows{plan.rows.manifest_id, plan.rows.start_row, plan.rows.start_row};
  for (std::uint64_t id = 0; rows.end_row < plan.rows.end_row; ++id) {
    rows.start_row = rows.end_row;
    rows.end_row += std::min(plan.per_shard, plan.rows.end_row - rows.start_row);
    shard::ManifestRowKey{rows.manifest_id, rows.start_row}.encode_into(start);
    shard::ManifestRowKey{rows.manifest_id, rows.end_row}.encode_into(end);
    const auto hint = shard::ShardHint::manifest(rows);
    if (!visit({id, start.view(), end.view(), hint, must_encode(hint, metadata)})) return;
  }
}

}  // namespace cadastre::cli
