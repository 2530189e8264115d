// Raw shard constructors: a range from typed keys, a prefix or manifest rows, with metadata bytes
// that the caller has finished. hint_shards.h has the ones that also write the metadata.
//
// Each exists twice. `_ref` returns a view of the scratch and, where noted, of the arguments; `_into`
// is exactly `_ref` followed by arena.alloc, and leaves the scratch free for reuse at once.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "shard/hint.h"
#include "shard/key_buf.h"
#include "shard/key_encoding.h"
#include "shard/shard_arena.h"
#include "shard/shard_spec.h"
#include "shard/spec_error.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

// In the order of detection.
struct PrefixShardError {
  enum class Code : std::uint8_t {
    kEmptyPrefix,
    kPrefixTooLarge,  // size, max
    kNoSuccessor,     // no key is above every key with this prefix: use a range with an open end
    kInvalidSpec,     // spec_error says why
  };

  Code code = Code::kEmptyPrefix;
  std::uint64_t size = 0;
  std::uint64_t max = 0;
  SpecError spec_error{};

  [[nodiscard]] static constexpr PrefixShardError invalid_spec(SpecError error) noexcept {
    return {Code::kInvalidSpec, 0, 0, error};
  }
  friend constexpr bool operator==(const PrefixShardError&,
                                   const PrefixShardError&) noexcept = default;
};

[[nodiscard]] std::string_view code_name(const PrefixShardError& error) noexcept;  // the innermost
char* format_to(char* first, char* last, const PrefixShardError& error) noexcept;

// [encode(start), encode(end)). Borrows `metadata` and both scratch buffers, which are distinct.
template <KeyEncoding Start, KeyEncoding End>
[[nodiscard]] Result<ShardSpecRef, SpecError> shard_spec_from_keys_ref(
    const Start& start,
    const End& end,
    ByteView metadata CAD_LIFETIMEBOUND,
    KeyBuf& start_scratch CAD_LIFETIMEBOUND,
    KeyBuf& end_scratch CAD_LIFETIMEBOUND) noexcept {
  CAD_CHECK(std::addressof(start_scratch) != std::addressof(end_scratch),
            "two bounds need two buffers");
  start.encode_into(start_scratch);
  end.encode_into(end_scratch);
  return ShardSpecRef::try_make(start_scratch.view(), end_scratch.view(), metadata,
                                SpecGuards(start_scratch.guard(), end_scratch.guard(), {}));
}

template <KeyEncoding Start, KeyEncoding End>
[[nodiscard]] Result<ShardSpecHandle, IntoError<SpecError>> shard_spec_from_keys_into(
    ShardArena& arena,
    const Start& start,
    const End& end,
    ByteView metadata,
    ShardSpecScratch& scratch) noexcept {
  return store_into(arena,
                    shard_spec_from_keys_ref(start, end, metadata, scratch.start, scratch.end));
}

// [prefix, prefix_successor(prefix)). Borrows `prefix`, `metadata` and the scratch.
[[nodiscard]] Result<ShardSpecRef, PrefixShardError> shard_spec_from_prefix_ref(
    ByteView prefix CAD_LIFETIMEBOUND,
    ByteView metadata CAD_LIFETIMEBOUND,
    KeyBuf& end_scratch CAD_LIFETIMEBOUND) noexcept;
[[nodiscard]] Result<ShardSpecHandle, IntoError<PrefixShardError>> shard_spec_from_prefix_into(
    ShardArena& arena, ByteView prefix, ByteView metadata, KeyBuf& end_scratch) noexcept;

// The row keys of `rows`. Borrows `metadata` and both scratch buffers, which are distinct. Rows that
// are inverted or equal are noticed after the size of the metadata.
[[nodiscard]] Result<ShardSpecRef, SpecError> shard_spec_from_manifest_range_ref(
    const ManifestRows& rows,
    ByteView metadata CAD_LIFETIMEBOUND,
    KeyBuf& start_scratch CAD_LIFETIMEBOUND,
    KeyBuf& end_scratch CAD_LIFETIMEBOUND) noexcept;
[[nodiscard]] Result<ShardSpecHandle, IntoError<SpecError>> shard_spec_from_manifest_range_into(
    ShardArena& arena,
    const ManifestRows& rows,
    ByteView metadata,
    ShardSpecScratch& scratch) noexcept;

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
