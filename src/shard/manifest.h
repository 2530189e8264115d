// Manifests: the first shards of a run, and what makes a set of them legal.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "shard/cursor.h"
#include "shard/shard_id.h"
#include "shard/shard_spec.h"
#include "shard/spec_error.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

// One row of a manifest. Borrows from whoever made it: an arena, a builder, a decoder's buffer.
struct InitialShardInput {
  ShardId shard;
  ShardSpecRef spec;
  CursorUpdate cursor = CursorUpdate::initial();

  friend bool operator==(const InitialShardInput& a, const InitialShardInput& b) noexcept = default;
};

// In the order of detection.
struct ManifestError {
  enum class Code : std::uint8_t {
    kTooManyShards,  // size is the count, max
    kEmpty,
    kDerivedShardId,       // shard
    kDuplicateIds,         // shard: the smallest duplicated id
    kUnboundedRange,       // shard
    kInvalidSpec,          // shard, spec_error
    kOverlappingRanges,    // shard, other: neighbours by start
    kCursorKeyTooLarge,    // shard, size, max
    kCursorTokenTooLarge,  // shard, size, max
    kCursorOutOfBounds,    // shard
  };

  Code code = Code::kEmpty;
  // NOLINTBEGIN(readability-redundant-member-init): designated initialisers leave them out
  ShardId shard{};
  ShardId other{};
  // NOLINTEND(readability-redundant-member-init)
  std::uint64_t size = 0;
  std::uint64_t max = 0;
  SpecError spec_error{};

  friend constexpr bool operator==(const ManifestError&, const ManifestError&) noexcept = default;
};

[[nodiscard]] std::string_view code_name(const ManifestError& error) noexcept;
char* format_to(char* first, char* last, const ManifestError& error) noexcept;

// Whether the rows are a legal manifest: at most kMaxInitialShards bounded, disjoint ranges with
// distinct ids and cursors inside. Gaps are legal. `index_scratch` has room for one index per row;
// nothing is allocated.
[[nodiscard]] Result<void, ManifestError> validate_manifest(
    std::span<const InitialShardInput> shards, std::span<std::uint32_t> index_scratch) noexcept;

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
