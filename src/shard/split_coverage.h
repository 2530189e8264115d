// Coverage: whether children divide their parent exactly, without a gap or an overlap.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "shard/key_range.h"
#include "shard/shard_spec.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

// Indices are those of the caller's order; bounds appear as lengths only. The last six codes are
// for the layers that carry splits out.
struct SplitError {
  enum class Code : std::uint8_t {
    kTooManyChildren,  // count, max
    kNoChildren,
    kSingleChild,
    kStartMismatch,     // parent_start, first_child_start
    kEndMismatch,       // parent_end, last_child_end
    kBoundaryMismatch,  // child_index, next_child_index, child_end, next_child_start
    kOverlappingChild,  // child_index, next_child_index
    kInvertedChild,     // child_index
    kInvalidChildSpec,  // child_index
    kParentCursorOutOfBounds,
    kSpawnLimitExceeded,         // current, additional, max
    kBackendChildLimitExceeded,  // requested, backend_max
    kShardLimitExceeded,         // current, additional, max; scope
    kDerivedIdCollision,         // id
    kInvalidChildCursor,         // child_index
  };
  enum class Scope : std::uint8_t {
    kNone,
    kPerTenant,
    kGlobal,
  };

  Code code = Code::kNoChildren;
  Scope scope = Scope::kNone;
  std::array<std::uint64_t, 4> values{};  // as listed at the code

  friend constexpr bool operator==(const SplitError&, const SplitError&) noexcept = default;
};

[[nodiscard]] std::string_view code_name(const SplitError& error) noexcept;
char* format_to(char* first, char* last, const SplitError& error) noexcept;

// Whether at least two children, in any order, tile the parent's range.
[[nodiscard]] Result<void, SplitError> validate_split_coverage(
    KeyRange parent, std::span<const ShardSpecRef> children) noexcept;

// Whether a shrunken parent and the residual tile the old range, and were not swapped.
[[nodiscard]] Result<void, SplitError> validate_residual_split(
    KeyRange old_range, const ShardSpecRef& new_parent, const ShardSpecRef& residual) noexcept;

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
