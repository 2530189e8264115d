// Propagation: the hint of a child shard, from its parent's hint and its own range.
//
// A Range stays a Range. A Prefix becomes a Range: a part of a prefix is not itself one prefix, and
// the shard's lineage keeps the original. A Manifest keeps its id with narrowed rows.

#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "shard/hint.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

struct PropagationError {
  enum class Code : std::uint8_t {
    kInvalidPrefixBoundary,    // `boundary` lies outside the parent's prefix
    kInvalidManifestBoundary,  // `boundary` is no row key, or its row is outside the parent's
    kManifestIdMismatch,       // parent id, child id
    kEmptyManifestRange,       // start row, end row
  };
  enum class Boundary : std::uint8_t {
    kNone,
    kStart,
    kEnd,
  };

  Code code{};
  Boundary boundary = Boundary::kNone;
  std::uint64_t first = 0;   // parent id or start row
  std::uint64_t second = 0;  // child id or end row

  friend constexpr bool operator==(const PropagationError&,
                                   const PropagationError&) noexcept = default;
};

[[nodiscard]] std::string_view code_name(const PropagationError& error) noexcept;
char* format_to(char* first, char* last, const PropagationError& error) noexcept;

// The result never borrows. A Range parent checks nothing, not even the order of the bounds: the
// planner validates geometry.
[[nodiscard]] Result<ShardHint, PropagationError> propagate_hint_on_split(
    const ShardHint& parent, ByteView child_start, ByteView child_end) noexcept;

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
