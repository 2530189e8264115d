// Shards that carry their hint: the constructors to use. Each writes range and metadata so that the
// hint tells the truth about the range.
//
// `_ref` returns a view of the scratch and of the arguments (range bounds, prefix); `_into` stores a
// copy in the arena. `extra` is the connector's own bytes.

#pragma once

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/result.h"
#include "shard/hint.h"
#include "shard/key_buf.h"
#include "shard/key_range.h"
#include "shard/shard_arena.h"
#include "shard/shard_spec.h"
#include "shard/spec_error.h"
#include "shard/spec_from_keys.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

// Any bounds, open sides too (a manifest later refuses those). Errors in order: metadata_too_large,
// key_too_large for start then end, inverted_range.
[[nodiscard]] Result<ShardSpecRef, SpecError> range_shard_ref(KeyRange range CAD_LIFETIMEBOUND,
                                                              ByteView extra,
                                                              ShardSpecScratch& scratch
                                                                  CAD_LIFETIMEBOUND) noexcept;
[[nodiscard]] Result<ShardSpecHandle, IntoError<SpecError>> range_shard_into(
    ShardArena& arena, KeyRange range, ByteView extra, ShardSpecScratch& scratch) noexcept;

// Errors in order: empty_prefix, prefix_too_large (always this one, even where the envelope would
// overflow too), no_successor, metadata_too_large.
[[nodiscard]] Result<ShardSpecRef, PrefixShardError> prefix_shard_ref(
    ByteView prefix CAD_LIFETIMEBOUND,
    ByteView extra,
    ShardSpecScratch& scratch CAD_LIFETIMEBOUND) noexcept;
[[nodiscard]] Result<ShardSpecHandle, IntoError<PrefixShardError>> prefix_shard_into(
    ShardArena& arena, ByteView prefix, ByteView extra, ShardSpecScratch& scratch) noexcept;

// Errors in order: inverted_range{16, 16} for rows that are inverted or equal, metadata_too_large.
[[nodiscard]] Result<ShardSpecRef, SpecError> manifest_shard_ref(
    const ManifestRows& rows, ByteView extra, ShardSpecScratch& scratch CAD_LIFETIMEBOUND) noexcept;
[[nodiscard]] Result<ShardSpecHandle, IntoError<SpecError>> manifest_shard_into(
    ShardArena& arena,
    const ManifestRows& rows,
    ByteView extra,
    ShardSpecScratch& scratch) noexcept;

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
