#include "shard/manifest.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "shard/cursor.h"
#include "shard/limits.h"
#include "shard/shard_id.h"
#include "shard/shard_spec.h"
#include "shard/text_writer.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {
namespace {

using Code = ManifestError::Code;
using Shards = std::span<const InitialShardInput>;
using Order = std::span<std::uint32_t>;

ManifestError about(Code code, const InitialShardInput& shard) noexcept {
  return {.code = code, .shard = shard.shard};
}

// Sorts the indices, and does nothing where they already are in order, as a planner's are.
template <class Less>
void sort_unless_sorted(Order order, Less less) noexcept {
  if (!std::ranges::is_sorted(order, less)) std::ranges::sort(order, less);
}

Result<void, ManifestError> check_ids(Shards shards, Order order) noexcept {
  for (const auto& shard : shards) {
    if (shard.shard.is_derived()) return base::fail(about(Code::kDerivedShardId, shard));
  }
  sort_unless_sorted(order, [shards](std::uint32_t a, std::uint32_t b) noexcept {
    return shards[a].shard < shards[b].shard;
  });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (shards[order[i - 1]].shard == shards[order[i]].shard) {
      return base::fail(about(Code::kDuplicateIds, shards[order[i]]));
    }
  }
  return {};
}

Result<void, ManifestError> check_specs(Shards shards) noexcept {
  for (const auto& shard : shards) {
    if (shard.spec.is_start_unbounded() || shard.spec.is_end_unbounded()) {
      return base::fail(about(Code::kUnboundedRange, shard));
    }
  }
  for (const auto& shard : shards) {
    const auto valid = validate(shard.spec);
    if (valid) continue;
    ManifestError error = about(Code::kInvalidSpec, shard);
    error.spec_error = valid.error();
    return base::fail(error);
  }
  return {};
}

// `order` holds the ids ascending, so that equal starts come in the order of their ids.
Result<void, ManifestError> check_disjoint(Shards shards, Order order) noexcept {
  sort_unless_sorted(order, [shards](std::uint32_t a, std::uint32_t b) noexcept {
    const auto by_start = base::compare(shards[a].spec.start(), shards[b].spec.start());
    return by_start != 0 ? by_start < 0 : shards[a].shard < shards[b].shard;
  });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const auto& left = shards[order[i - 1]];
    const auto& right = shards[order[i]];
    if (base::compare(left.spec.end(), right.spec.start()) <= 0) continue;
    ManifestError error = about(Code::kOverlappingRanges, left);
    error.other = right.shard;
    return base::fail(error);
  }
  return {};
}

Result<void, ManifestError> check_cursor_sizes(const InitialShardInput& shard) noexcept {
  const auto key = shard.cursor.last_key();
  if (key && key->size() > kMaxKeySize) {
    ManifestError error = about(Code::kCursorKeyTooLarge, shard);
    error.size = key->size();
    error.max = kMaxKeySize;
    return base::fail(error);
  }
  const auto token = shard.cursor.token();
  if (token && token->size() > kMaxTokenSize) {
    ManifestError error = about(Code::kCursorTokenTooLarge, shard);
    error.size = token->size();
    error.max = kMaxTokenSize;
    return base::fail(error);
  }
  return {};
}

Result<void, ManifestError> check_cursors(Shards shards) noexcept {
  for (const auto& shard : shards)
    CAD_TRY(check_cursor_sizes(shard));
  for (const auto& shard : shards) {
    switch (check_cursor_bounds(shard.cursor, shard.spec)) {
      case CursorBounds::kNoKey:
      case CursorBounds::kInBounds: continue;
      case CursorBounds::kBelowRange:
      case CursorBounds::kAboveRange: return base::fail(about(Code::kCursorOutOfBounds, shard));
    }
  }
  return {};
}

}  // namespace

Result<void, ManifestError> validate_manifest(Shards shards, Order index_scratch) noexcept {
  if (shards.size() > kMaxInitialShards) {
    ManifestError error{.code = Code::kTooManyShards};
    error.size = shards.size();
    error.max = kMaxInitialShards;
    return base::fail(error);
  }
  if (shards.empty()) return base::fail(ManifestError{.code = Code::kEmpty});
  CAD_CHECK(index_scratch.size() >= shards.size(), "the scratch holds one index for each row");
  const Order order = index_scratch.first(shards.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  CAD_TRY(check_ids(shards, order));
  CAD_TRY(check_specs(shards));
  CAD_TRY(check_disjoint(shards, order));
  return check_cursors(shards);
}

std::string_view code_name(const ManifestError& error) noexcept {
  switch (error.code) {
    case Code::kTooManyShards: return "too_many_shards";
    case Code::kEmpty: return "empty";
    case Code::kDerivedShardId: return "derived_shard_id";
    case Code::kDuplicateIds: return "duplicate_ids";
    case Code::kUnboundedRange: return "unbounded_range";
    case Code::kInvalidSpec: return "invalid_spec";
    case Code::kOverlappingRanges: return "overlapping_ranges";
    case Code::kCursorKeyTooLarge: return "cursor_key_too_large";
    case Code::kCursorTokenTooLarge: return "cursor_token_too_large";
    case Code::kCursorOutOfBounds: return "cursor_out_of_bounds";
  }
  return "unknown";
}

char* format_to(char* first, char* last, const ManifestError& error) noexcept {
  TextWriter out(first, last);
  switch (error.code) {
    case Code::kTooManyShards:
      return out.text("a manifest of ")
          .number(error.size)
          .text(" shards exceeds the limit of ")
          .number(error.max)
          .end();
    case Code::kEmpty: return out.text("a manifest has at least one shard").end();
    case Code::kOverlappingRanges:
      return out.text("shards ")
          .number(error.shard.raw())
          .text(" and ")
          .number(error.other.raw())
          .text(" overlap")
          .end();
    case Code::kDerivedShardId:
    case Code::kDuplicateIds:
    case Code::kUnboundedRange:
    case Code::kInvalidSpec:
    case Code::kCursorKeyTooLarge:
    case Code::kCursorTokenTooLarge:
    case Code::kCursorOutOfBounds: break;
  }
  out.text("shard ").number(error.shard.raw());
  switch (error.code) {
    case Code::kDerivedShardId: return out.text(" has an id reserved for splits (bit 63)").end();
    case Code::kDuplicateIds: return out.text(" is there twice").end();
    case Code::kUnboundedRange:
      return out.text(" has an open range; a manifest needs both bounds").end();
    case Code::kInvalidSpec: return out.text(": ").error(error.spec_error).end();
    case Code::kCursorKeyTooLarge: out.text(": cursor key of "); break;
    case Code::kCursorTokenTooLarge: out.text(": cursor token of "); break;
    case Code::kCursorOutOfBounds: return out.text(" has a cursor outside its range").end();
    case Code::kTooManyShards:
    case Code::kEmpty:
    case Code::kOverlappingRanges: return out.end();
  }
  return out.number(error.size).text(" bytes exceeds the limit of ").number(error.max).end();
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
