// Plans: a range, or the rows of a manifest, cut into shards in ascending order.
//
// Shards are made one after the other for a visitor, in constant memory whatever their count: the
// views of a PlannedShard hold only during its visit. Ids count from 0; each shard begins where the
// one before it ends.

#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/function_ref.h"
#include "base/result.h"
#include "cli/command_error.h"
#include "shard/hint.h"
#include "shard/key_range.h"

namespace cadastre::cli {

using base::Result;

struct PlannedShard {
  std::uint64_t id;
  base::ByteView start;
  base::ByteView end;
  shard::ShardHint hint;
  base::ByteView metadata;
};

// Returns false to stop.
using VisitShard = base::FunctionRef<bool(const PlannedShard&)>;

// `count` parts of equal byte space. Borrows the range.
struct EvenPlan {
  shard::KeyRange range;
  std::uint64_t count = 0;  // at least 1
};

// `per_shard` rows each; the last shard has what is left.
struct RowPlan {
  shard::ManifestRows rows;
  std::uint64_t per_shard = 0;  // at least 1
};

// `key_too_large`, `inverted_range`, or `range_too_narrow` if there is no room for so many parts.
[[nodiscard]] Result<void, CommandError> check_plan(const EvenPlan& plan);
// `inverted_range`
[[nodiscard]] Result<void, CommandError> check_plan(const RowPlan& plan);

[[nodiscard]] std::uint64_t shard_count(const EvenPlan& plan) noexcept;
[[nodiscard]] std::uint64_t shard_count(const RowPlan& plan) noexcept;

// The plan has passed its check.
void visit_plan(const EvenPlan& plan, VisitShard visit);
void visit_plan(const RowPlan& plan, VisitShard visit);

}  // namespace cadastre::cli
