// What a builder should stage and say, with specs written byte by byte and an arena that is a model.
//
// The functions make the spec of each kind of shard and say why it is refused; Shadow keeps what is
// staged. The budget comes before the spec, the spec before the arena.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "fuzz/arena_model.h"
#include "fuzz/manifest_oracle.h"
#include "shard/hint.h"
#include "shard/prealloc_builder.h"
#include "shard/shard_arena.h"
#include "shard/spec_error.h"
#include "shard/spec_from_keys.h"

namespace cadastre::fuzz::builder_shadow {

using base::Bytes;
using shard::BuilderError;
using shard::ManifestRows;
using shard::PrefixShardError;
using shard::ShardSpecHandle;
using shard::SpecError;
using Code = BuilderError::Code;
using MaybeError = std::optional<BuilderError>;

inline void append_number(Bytes& out, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = bytes; i > 0; --i)
    out.push_back(static_cast<std::byte>(value >> (8 * (i - 1))));
}

// Hint length, hint frame, connector bytes.
[[nodiscard]] inline Bytes envelope(const Bytes& frame, const Bytes& extra) {
  Bytes out;
  append_number(out, frame.size(), 4);
  out.insert(out.end(), frame.begin(), frame.end());
  out.insert(out.end(), extra.begin(), extra.end());
  return out;
}

[[nodiscard]] inline Bytes row_key(std::uint64_t manifest_id, std::uint64_t row) {
  Bytes out;
  append_number(out, manifest_id, 8);
  append_number(out, row, 8);
  return out;
}

[[nodiscard]] inline SpecBytes range_spec(const Bytes& start,
                                          const Bytes& end,
                                          const Bytes& extra) {
  return {start, end, envelope({std::byte{0}}, extra)};
}

// The end is left out: see prefix_end.
[[nodiscard]] inline SpecBytes prefix_spec(const Bytes& prefix, const Bytes& extra) {
  Bytes frame{std::byte{1}};
  append_number(frame, prefix.size(), 4);
  frame.insert(frame.end(), prefix.begin(), prefix.end());
  return {prefix, {}, envelope(frame, extra)};
}

[[nodiscard]] inline SpecBytes manifest_spec(const ManifestRows& rows, const Bytes& extra) {
  Bytes frame{std::byte{2}};
  append_number(frame, rows.manifest_id, 8);
  append_number(frame, rows.start_row, 8);
  append_number(frame, rows.end_row, 8);
  return {row_key(rows.manifest_id, rows.start_row), row_key(rows.manifest_id, rows.end_row),
          envelope(frame, extra)};
}

// Empty if there is none.
[[nodiscard]] inline Bytes prefix_end(Bytes prefix) {
  while (!prefix.empty() && prefix.back() == std::byte{0xff})
    prefix.pop_back();
  if (!prefix.empty())
    prefix.back() = static_cast<std::byte>(std::to_integer<unsigned>(prefix.back()) + 1);
  return prefix;
}

[[nodiscard]] inline BuilderError wrong_spec(Code code, const SpecError& error) {
  return {.code = code, .spec = error};
}

// Metadata first, then the bounds.
[[nodiscard]] inline MaybeError range_error(const SpecBytes& spec) {
  if (spec.metadata.size() > 16384)
    return wrong_spec(Code::kRangeInvalid,
                      SpecError::metadata_too_large(spec.metadata.size(), 16384));
  const auto error = expected_spec_error(spec.start, spec.end, spec.metadata.size());
  if (!error) return std::nullopt;
  return wrong_spec(Code::kRangeInvalid, *error);
}

[[nodiscard]] inline MaybeError prefix_error(const SpecBytes& spec) {
  using Prefix = PrefixShardError;
  const auto fault = [](Prefix error) {
    return BuilderError{.code = Code::kPrefixInvalid, .prefix = error};
  };
  const std::size_t size = spec.start.size();
  if (size == 0) return fault({Prefix::Code::kEmptyPrefix});
  if (size > 4096) return fault({Prefix::Code::kPrefixTooLarge, size, 4096});
  if (spec.end.empty()) return fault({Prefix::Code::kNoSuccessor});
  if (spec.metadata.size() > 16384) {
    return fault(Prefix::invalid_spec(SpecError::metadata_too_large(spec.metadata.size(), 16384)));
  }
  return std::nullopt;
}

[[nodiscard]] inline MaybeError manifest_error(const ManifestRows& rows, const SpecBytes& spec) {
  if (rows.start_row >= rows.end_row)
    return wrong_spec(Code::kManifestCtorInvalid, SpecError::inverted_range(16, 16));
  if (spec.metadata.size() > 16384) {
    return wrong_spec(Code::kManifestCtorInvalid,
                      SpecError::metadata_too_large(spec.metadata.size(), 16384));
  }
  return std::nullopt;
}

// What is staged, and what the arena holds.
class Shadow {
 public:
  struct Entry {
    ShardSpecHandle handle;
    const OracleCursor* cursor;
  };

  Shadow(ArenaSize size, shard::ShardArena& arena, std::size_t limit)
      : arena_(size, arena), limit_(limit) {}

  [[nodiscard]] ArenaModel& arena() { return arena_; }
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  [[nodiscard]] MaybeError budget_error(std::uint64_t additional) const {
    if (entries_.size() + additional <= limit_ && additional <= limit_) return std::nullopt;
    return BuilderError{.code = Code::kCapacityExceeded,
                        .limit = limit_,
                        .current = entries_.size(),
                        .additional = additional};
  }

  // Stores and stages all of them, or none.
  [[nodiscard]] MaybeError stage(const std::vector<SpecBytes>& specs, const OracleCursor* cursor) {
    std::vector<ShardSpecHandle> handles;
    for (const SpecBytes& spec : specs) {
      const auto handle = arena_.alloc(spec);
      if (handle) {
        handles.push_back(*handle);
        continue;
      }
      for (; !handles.empty(); handles.pop_back())
        (void)arena_.free(handles.back());
      return BuilderError{.code = Code::kArena, .arena = handle.error()};
    }
    for (const auto& handle : handles)
      entries_.push_back({handle, cursor});
    return std::nullopt;
  }

  [[nodiscard]] MaybeError adopt(ShardSpecHandle handle, const OracleCursor* cursor) {
    if (auto error = budget_error(1)) return error;
    const bool staged = std::ranges::find(entries_, handle, &Entry::handle) != entries_.end();
    if (staged || arena_.find(handle) == nullptr)
      return BuilderError{.code = Code::kInvalidSpecHandle};
    entries_.push_back({handle, cursor});
    return std::nullopt;
  }

  // Adopted specs whose owner has freed them are gone already.
  void free_staged() {
    for (; !entries_.empty(); entries_.pop_back())
      (void)arena_.free(entries_.back().handle);
  }

  // The rows of a build, or nothing if a staged spec is gone.
  [[nodiscard]] std::optional<std::vector<OracleRow>> rows() const {
    std::vector<OracleRow> out;
    for (const Entry& entry : entries_) {
      const SpecBytes* const spec = arena_.find(entry.handle);
      if (spec == nullptr) return std::nullopt;
      out.push_back({out.size(), spec->start, spec->end, spec->metadata, *entry.cursor});
    }
    return out;
  }

 private:
  ArenaModel arena_;
  std::size_t limit_;
  std::vector<Entry> entries_;
};

}  // namespace cadastre::fuzz::builder_shadow
