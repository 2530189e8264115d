#include "shard/prealloc_builder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "base/check.h"
#include "base/inline_vec.h"
#include "base/result.h"
#include "shard/cursor.h"
#include "shard/hint.h"
#include "shard/hint_shards.h"
#include "shard/key_range.h"
#include "shard/limits.h"
#include "shard/manifest.h"
#include "shard/shard_arena.h"
#include "shard/shard_id.h"
#include "shard/shard_spec.h"
#include "shard/spec_error.h"
#include "shard/text_writer.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {
namespace {

using Code = BuilderError::Code;

BuilderError spec_error(Code code, const SpecError& error) noexcept {
  return {.code = code, .spec = error};
}

BuilderError arena_error(const ArenaFull& full) noexcept {
  return {.code = Code::kArena, .arena = full};
}

Result<void, BuilderError> check_fan_out(std::uint64_t children) noexcept {
  if (children <= kMaxSplitChildren) return {};
  return base::fail(BuilderError{
      .code = Code::kFanOutExceeded, .limit = kMaxSplitChildren, .additional = children});
}

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return a > most - b ? most : a + b;
}

KeyRange stretch(KeyRange range, std::span<const ByteView> points, std::size_t index) noexcept {
  return {index == 0 ? range.start : points[index - 1],
          index == points.size() ? range.end : points[index]};
}

}  // namespace

ShardBuilderCore::ShardBuilderCore(ShardArena& arena,
                                   std::span<BuilderEntry> entries,
                                   std::span<std::uint32_t> index_scratch,
                                   BuilderEnd end) noexcept
    : arena_(arena), entries_(entries), index_scratch_(index_scratch), end_(end) {
  arena_.begin_exclusive_use();
}

ShardBuilderCore::~ShardBuilderCore() {
  if (released_) return;
  arena_.end_exclusive_use();
  switch (end_) {
    case BuilderEnd::kClearArena: arena_.clear(); break;
    case BuilderEnd::kFreeStagedOnly: free_staged(); break;
  }
}

Result<void, BuilderError> ShardBuilderCore::init(std::size_t entry_limit) noexcept {
  CAD_CHECK(!ready_, "a builder is initialised once");
  if (entry_limit == 0) return base::fail(BuilderError{.code = Code::kEntryLimitZero});
  if (entry_limit > entries_.size()) {
    return base::fail(
        BuilderError{.code = Code::kCapMismatch, .limit = entry_limit, .current = entries_.size()});
  }
  // Cannot happen while Cap is at most kBuilderMaxCap.
  if (entry_limit > kMaxInitialShards) {
    return base::fail(BuilderError{.code = Code::kEntryLimitExceedsManifestMax,
                                   .limit = entry_limit,
                                   .current = kMaxInitialShards});
  }
  entry_limit_ = entry_limit;
  ready_ = true;
  return {};
}

void ShardBuilderCore::check_ready() const noexcept {
  CAD_CHECK(ready_, "init() comes before any use of a builder");
  CAD_CHECK(!released_, "a released builder is at its end");
}

Result<void, BuilderError> ShardBuilderCore::check_budget(std::uint64_t additional) const noexcept {
  if (additional <= remaining_entries()) return {};
  return base::fail(BuilderError{.code = Code::kCapacityExceeded,
                                 .limit = entry_limit_,
                                 .current = size_,
                                 .additional = additional});
}

ShardId ShardBuilderCore::stage(ShardSpecHandle spec, const CursorUpdate& cursor) noexcept {
  const auto id = ShardId::from_raw(size_);
  entries_[size_] = {id, spec, cursor};
  ++size_;
  generation_.bump();
  return id;
}

Result<ShardId, BuilderError> ShardBuilderCore::add_range(KeyRange range,
                                                          ByteView extra,
                                                          const CursorUpdate& cursor) noexcept {
  check_ready();
  CAD_TRY(check_budget(1));
  const auto spec = range_shard_ref(range, extra, scratch_);
  if (!spec) return base::fail(spec_error(Code::kRangeInvalid, spec.error()));
  const auto handle = arena_.alloc(*spec);
  if (!handle) return base::fail(arena_error(handle.error()));
  return stage(*handle, cursor);
}

Result<ShardId, BuilderError> ShardBuilderCore::add_prefix(ByteView prefix,
                                                           ByteView extra,
                                                           const CursorUpdate& cursor) noexcept {
  check_ready();
  CAD_TRY(check_budget(1));
  const auto spec = prefix_shard_ref(prefix, extra, scratch_);
  if (!spec) return base::fail(BuilderError{.code = Code::kPrefixInvalid, .prefix = spec.error()});
  const auto handle = arena_.alloc(*spec);
  if (!handle) return base::fail(arena_error(handle.error()));
  return stage(*handle, cursor);
}

Result<ShardId, BuilderError> ShardBuilderCore::add_manifest(const ManifestRows& rows,
                                                             ByteView extra,
                                                             const CursorUpdate& cursor) noexcept {
  check_ready();
  CAD_TRY(check_budget(1));
  const auto spec = manifest_shard_ref(rows, extra, scratch_);
  if (!spec) return base::fail(spec_error(Code::kManifestCtorInvalid, spec.error()));
  const auto handle = arena_.alloc(*spec);
  if (!handle) return base::fail(arena_error(handle.error()));
  return stage(*handle, cursor);
}

Result<ShardId, BuilderError> ShardBuilderCore::add_spec_ref(const ShardSpecRef& spec,
                                                             const CursorUpdate& cursor) noexcept {
  check_ready();
  CAD_TRY(check_budget(1));
  const auto valid = validate(spec);
  if (!valid) return base::fail(spec_error(Code::kSpecInvalid, valid.error()));
  const auto handle = arena_.alloc(spec);
  if (!handle) return base::fail(arena_error(handle.error()));
  return stage(*handle, cursor);
}

Result<ShardId, BuilderError> ShardBuilderCore::add_spec_handle(
    ShardSpecHandle handle, const CursorUpdate& cursor) noexcept {
  check_ready();
  CAD_TRY(check_budget(1));
  const auto staged = entries_.first(size_);
  const bool twice = std::ranges::find(staged, handle, &BuilderEntry::spec) != staged.end();
  if (twice || !arena_.try_view(handle)) {
    return base::fail(BuilderError{.code = Code::kInvalidSpecHandle});
  }
  return stage(handle, cursor);
}

template <class SpecOf>
Result<void, BuilderError> ShardBuilderCore::stage_all(std::size_t count, SpecOf spec_of) noexcept {
  base::InlineVec<ShardSpecHandle, kMaxSplitChildren> handles;
  for (std::size_t i = 0; i < count; ++i) {
    const auto handle = arena_.alloc(spec_of(i));
    if (!handle) {
      // In reverse, so that the arena hands out its slots in the same order as before.
      for (; !handles.empty(); handles.pop_back())
        arena_.free(handles.back());
      return base::fail(arena_error(handle.error()));
    }
    handles.push_back(*handle);
  }
  for (const auto& handle : handles)
    stage(handle, CursorUpdate::initial());
  return {};
}

// Every stretch is a valid spec; an empty point would read as an open end.
Result<void, BuilderError> ShardBuilderCore::check_boundaries(KeyRange range,
                                                              std::span<const ByteView> points,
                                                              ByteView metadata) const noexcept {
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!points[i].empty()) continue;
    const ByteView before = stretch(range, points, i).start;
    return base::fail(spec_error(Code::kRangeInvalid, SpecError::inverted_range(before.size(), 0)));
  }
  for (std::size_t i = 0; i <= points.size(); ++i) {
    const KeyRange child = stretch(range, points, i);
    const auto valid = validate(ShardSpecRef::unchecked(child.start, child.end, metadata));
    if (!valid) return base::fail(spec_error(Code::kRangeInvalid, valid.error()));
  }
  return {};
}

Result<void, BuilderError> ShardBuilderCore::split_range_by_boundaries(
    KeyRange range, std::span<const ByteView> points, ByteView extra) noexcept {
  check_ready();
  CAD_TRY(check_fan_out(points.size() + std::uint64_t{1}));
  CAD_TRY(check_budget(points.size() + std::uint64_t{1}));
  // All children have the same metadata: written once, by the shard that has no bounds to fail.
  const auto open = range_shard_ref({}, extra, scratch_);
  if (!open) return base::fail(spec_error(Code::kRangeInvalid, open.error()));
  const ByteView metadata = open->metadata();
  CAD_TRY(check_boundaries(range, points, metadata));
  return stage_all(points.size() + 1, [&](std::size_t index) noexcept {
    const KeyRange child = stretch(range, points, index);
    return ShardSpecRef::unchecked(child.start, child.end, metadata);
  });
}

Result<void, BuilderError> ShardBuilderCore::split_manifest_by_rows(const ManifestRows& rows,
                                                                    std::uint64_t rows_per_shard,
                                                                    ByteView extra) noexcept {
  check_ready();
  if (rows.start_row >= rows.end_row || rows_per_shard == 0) {
    return base::fail(
        spec_error(Code::kManifestCtorInvalid,
                   SpecError::inverted_range(kManifestRowKeySize, kManifestRowKeySize)));
  }
  const std::uint64_t span = rows.end_row - rows.start_row;
  const std::uint64_t children = span / rows_per_shard + (span % rows_per_shard != 0 ? 1 : 0);
  CAD_TRY(check_fan_out(children));
  CAD_TRY(check_budget(children));
  const auto shard_at = [&](std::size_t index) noexcept {
    // Below end_row, so it does not wrap; the end saturates where it would.
    const std::uint64_t first = rows.start_row + index * rows_per_shard;
    const std::uint64_t last = std::min(saturating_add(first, rows_per_shard), rows.end_row);
    return manifest_shard_ref({rows.manifest_id, first, last}, extra, scratch_);
  };
  const auto probe = shard_at(0);
  if (!probe) return base::fail(spec_error(Code::kManifestCtorInvalid, probe.error()));
  return stage_all(static_cast<std::size_t>(children), [&](std::size_t index) noexcept {
    const auto spec = shard_at(index);
    CAD_CHECK(spec.has_value(), "all rows have metadata of one size, and the first one fits");
    return *spec;
  });
}

Result<void, BuilderError> ShardBuilderCore::fill_rows(
    std::span<InitialShardInput> rows) const noexcept {
  check_ready();
  CAD_CHECK(rows.size() == size_, "one row for each entry");
  for (std::size_t i = 0; i < size_; ++i) {
    const auto spec = arena_.try_view(entries_[i].spec);
    if (!spec) return base::fail(BuilderError{.code = Code::kInvalidSpecHandle});
    const SpecGuards guards(ViewGuard(generation_, ViewOwner::kBuilder), spec->guards().of_end(),
                            spec->guards().of_metadata());
    rows[i].shard = entries_[i].id;
    rows[i].spec = ShardSpecRef::unchecked(spec->start(), spec->end(), spec->metadata(), guards);
    rows[i].cursor = entries_[i].cursor;
  }
  const auto valid = validate_manifest(rows, index_scratch_);
  if (!valid)
    return base::fail(BuilderError{.code = Code::kManifestInvalid, .manifest = valid.error()});
  return {};
}

void ShardBuilderCore::free_staged() noexcept {
  for (; size_ > 0; --size_)
    arena_.free(entries_[size_ - 1].spec);
}

void ShardBuilderCore::reset() noexcept {
  check_ready();
  free_staged();
  scratch_.clear();
  generation_.bump();
}

void ShardBuilderCore::release() noexcept {
  check_ready();
  size_ = 0;
  released_ = true;
  generation_.bump();
  arena_.end_exclusive_use();
}

std::string_view code_name(const BuilderError& error) noexcept {
  switch (error.code) {
    case Code::kEntryLimitZero: return "entry_limit_zero";
    case Code::kCapMismatch: return "cap_mismatch";
    case Code::kEntryLimitExceedsManifestMax: return "entry_limit_exceeds_manifest_max";
    case Code::kCapacityExceeded: return "capacity_exceeded";
    case Code::kFanOutExceeded: return "fan_out_exceeded";
    case Code::kRangeInvalid: return "range_invalid";
    case Code::kPrefixInvalid: return "prefix_invalid";
    case Code::kManifestCtorInvalid: return "manifest_ctor_invalid";
    case Code::kSpecInvalid: return "spec_invalid";
    case Code::kInvalidSpecHandle: return "invalid_spec_handle";
    case Code::kArena: return "arena";
    case Code::kManifestInvalid: return "manifest_invalid";
  }
  return "unknown";
}

char* format_to(char* first, char* last, const BuilderError& error) noexcept {
  TextWriter out(first, last);
  switch (error.code) {
    case Code::kEntryLimitZero: return out.text("an entry limit is at least 1").end();
    case Code::kCapMismatch:
    case Code::kEntryLimitExceedsManifestMax:
      return out.text("an entry limit of ")
          .number(error.limit)
          .text(" exceeds ")
          .number(error.current)
          .end();
    case Code::kCapacityExceeded:
      return out.number(error.current)
          .text(" staged and ")
          .number(error.additional)
          .text(" more exceed the entry limit of ")
          .number(error.limit)
          .end();
    case Code::kFanOutExceeded:
      return out.number(error.additional)
          .text(" children exceed the limit of ")
          .number(error.limit)
          .end();
    case Code::kRangeInvalid:
    case Code::kManifestCtorInvalid:
    case Code::kSpecInvalid: return out.error(error.spec).end();
    case Code::kPrefixInvalid: return out.error(error.prefix).end();
    case Code::kInvalidSpecHandle:
      return out.text("the handle names no live spec of this arena, or one staged before").end();
    case Code::kArena: return out.error(error.arena).end();
    case Code::kManifestInvalid: return out.error(error.manifest).end();
  }
  return out.end();
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
