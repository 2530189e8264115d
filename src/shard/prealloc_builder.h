// PreallocShardBuilder: stages the root shards of one manifest, then hands them out as rows.
//
//   ShardArena arena(1024, static_cast<std::uint32_t>(arena_bytes_for(1024, 32, 64)));
//   PreallocShardBuilder<1024> builder(arena);
//   CAD_TRY(builder.init(1000));
//   CAD_TRY(builder.add_prefix(base::as_bytes("src/"), {}));
//   base::InlineVec<InitialShardInput, 1024> rows;
//   CAD_TRY(builder.build_inputs(rows));
//
// Ids are 0, 1, 2, ... in the order of staging. Every call that changes something either succeeds or
// leaves size, next id and arena as they were; bulk splits too, wherever they fail (only slot
// generations move). Nothing allocates after construction.
//
// Overlap, open ranges and cursors outside their range are noticed by build_inputs, not by add.
// Cursor bytes are borrowed until the last rows are dead. Rows are invalidated by the next change.
//
// The arena is the builder's alone while it lives, and its destructor clears all of it, other specs
// too (BuilderEnd says otherwise; release() leaves everything to the arena's owner). Not
// thread-safe. Large and immovable: a member or a heap object, not a local on a small stack.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/inline_vec.h"
#include "base/result.h"
#include "shard/cursor.h"
#include "shard/hint.h"
#include "shard/key_buf.h"
#include "shard/key_range.h"
#include "shard/limits.h"
#include "shard/manifest.h"
#include "shard/shard_arena.h"
#include "shard/shard_id.h"
#include "shard/shard_spec.h"
#include "shard/spec_error.h"
#include "shard/spec_from_keys.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

struct BuilderError {
  enum class Code : std::uint8_t {
    kEntryLimitZero,
    kCapMismatch,                   // limit, current: the entry limit and Cap
    kEntryLimitExceedsManifestMax,  // limit, current: the entry limit and kMaxInitialShards
    kCapacityExceeded,              // limit, current, additional
    kFanOutExceeded,                // limit, additional: kMaxSplitChildren and what was asked for
    kRangeInvalid,                  // spec
    kPrefixInvalid,                 // prefix
    kManifestCtorInvalid,           // spec
    kSpecInvalid,                   // spec
    kInvalidSpecHandle,             // stale, foreign, freed, or staged before
    kArena,                         // arena
    kManifestInvalid,               // manifest
  };

  Code code = Code::kEntryLimitZero;
  std::uint64_t limit = 0;
  std::uint64_t current = 0;
  std::uint64_t additional = 0;
  SpecError spec{};
  PrefixShardError prefix{};
  ArenaFull arena{};
  ManifestError manifest{};

  friend constexpr bool operator==(const BuilderError&, const BuilderError&) noexcept = default;
};

[[nodiscard]] std::string_view code_name(const BuilderError& error) noexcept;
char* format_to(char* first, char* last, const BuilderError& error) noexcept;

// What the destructor does to the arena.
enum class BuilderEnd : std::uint8_t {
  kClearArena,
  kFreeStagedOnly,
};

// A staged shard.
struct BuilderEntry {
  ShardId id;
  ShardSpecHandle spec;
  CursorUpdate cursor = CursorUpdate::initial();
};

// The builder without its storage; use PreallocShardBuilder.
class ShardBuilderCore {
 public:
  ShardBuilderCore(const ShardBuilderCore&) = delete;
  ShardBuilderCore& operator=(const ShardBuilderCore&) = delete;

  // Once, before anything else. At most `entry_limit` entries are staged.
  [[nodiscard]] Result<void, BuilderError> init(std::size_t entry_limit) noexcept;

  [[nodiscard]] Result<ShardId, BuilderError> add_range(
      KeyRange range,
      ByteView extra,
      const CursorUpdate& cursor = CursorUpdate::initial()) noexcept;
  [[nodiscard]] Result<ShardId, BuilderError> add_prefix(
      ByteView prefix,
      ByteView extra,
      const CursorUpdate& cursor = CursorUpdate::initial()) noexcept;
  [[nodiscard]] Result<ShardId, BuilderError> add_manifest(
      const ManifestRows& rows,
      ByteView extra,
      const CursorUpdate& cursor = CursorUpdate::initial()) noexcept;
  [[nodiscard]] Result<ShardId, BuilderError> add_spec_ref(
      const ShardSpecRef& spec, const CursorUpdate& cursor = CursorUpdate::initial()) noexcept;
  // Adopts a spec of the builder's own arena.
  [[nodiscard]] Result<ShardId, BuilderError> add_spec_handle(
      ShardSpecHandle handle, const CursorUpdate& cursor = CursorUpdate::initial()) noexcept;

  // One range shard for each stretch between the ascending points, at most kMaxSplitChildren.
  [[nodiscard]] Result<void, BuilderError> split_range_by_boundaries(
      KeyRange range, std::span<const ByteView> points, ByteView extra) noexcept;
  // Manifest shards of `rows_per_shard` rows, the last one shorter.
  [[nodiscard]] Result<void, BuilderError> split_manifest_by_rows(const ManifestRows& rows,
                                                                  std::uint64_t rows_per_shard,
                                                                  ByteView extra) noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t entry_limit() const noexcept { return entry_limit_; }
  [[nodiscard]] std::size_t remaining_entries() const noexcept { return entry_limit_ - size_; }

  // Frees what is staged, adopted specs included, and starts again at id 0.
  void reset() noexcept;

  // Ends the builder; the staged specs now belong to the arena's owner.
  void release() noexcept;

 protected:
  // The storages live in the derived class and outlast this one's use of them.
  ShardBuilderCore(ShardArena& arena,
                   std::span<BuilderEntry> entries,
                   std::span<std::uint32_t> index_scratch,
                   BuilderEnd end) noexcept;
  ~ShardBuilderCore();

  // Fills `rows` (one for each entry) in staging order and validates them as a manifest.
  [[nodiscard]] Result<void, BuilderError> fill_rows(
      std::span<InitialShardInput> rows) const noexcept;

 private:
  void check_ready() const noexcept;
  [[nodiscard]] Result<void, BuilderError> check_budget(std::uint64_t additional) const noexcept;
  ShardId stage(ShardSpecHandle spec, const CursorUpdate& cursor) noexcept;
  void free_staged() noexcept;
  [[nodiscard]] Result<void, BuilderError> check_boundaries(KeyRange range,
                                                            std::span<const ByteView> points,
                                                            ByteView metadata) const noexcept;
  // Stores `count` specs that spec_of(index) makes, all or none, and stages them.
  template <class SpecOf>
  [[nodiscard]] Result<void, BuilderError> stage_all(std::size_t count, SpecOf spec_of) noexcept;

  // Constant after construction.
  ShardArena& arena_;
  const std::span<BuilderEntry> entries_;
  const std::span<std::uint32_t> index_scratch_;
  const BuilderEnd end_;

  std::size_t entry_limit_ = 0;
  std::size_t size_ = 0;
  bool ready_ = false;     // init() has succeeded
  bool released_ = false;  // release() was called
  [[no_unique_address]] Generation generation_;
  ShardSpecScratch scratch_;
};

template <std::size_t Cap>
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): the scratch is written before it is read
struct BuilderStorage {
  std::array<BuilderEntry, Cap> entries;
  mutable std::array<std::uint32_t, Cap> index_scratch;
};

template <std::size_t Cap>
class PreallocShardBuilder : private BuilderStorage<Cap>, public ShardBuilderCore {
  static_assert(Cap > 0 && Cap <= kBuilderMaxCap);

 public:
  using Rows = base::InlineVec<InitialShardInput, Cap>;

  explicit PreallocShardBuilder(ShardArena& arena CAD_LIFETIMEBOUND,
                                BuilderEnd end = BuilderEnd::kClearArena) noexcept
      : ShardBuilderCore(arena, this->entries, this->index_scratch, end) {}

  // The staged shards as rows of a valid manifest, in staging order. On an error `out` is empty.
  // Calling it again without a change in between gives equal rows.
  [[nodiscard]] Result<void, BuilderError> build_inputs(Rows& out) const noexcept {
    out.clear();
    for (std::size_t i = 0; i < size(); ++i)
      out.push_back({});
    auto filled = fill_rows(out.as_span());
    if (!filled) out.clear();
    return filled;
  }
};

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
