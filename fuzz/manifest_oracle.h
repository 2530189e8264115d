// What validate_manifest should say, found without sorting indices and without shortcuts: every rule is
// a loop over all rows, disjointness one over all pairs.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "shard/cursor.h"
#include "shard/limits.h"
#include "shard/manifest.h"
#include "shard/shard_id.h"
#include "shard/shard_spec.h"
#include "shard/spec_error.h"

namespace cadastre::fuzz {

struct OracleCursor {
  base::Bytes key;    // empty: no cursor
  base::Bytes token;  // empty: none

  [[nodiscard]] shard::CursorUpdate view() const {
    return key.empty() ? shard::CursorUpdate::initial() : shard::CursorUpdate::make(key, token);
  }
};

struct OracleRow {
  std::uint64_t id = 0;
  base::Bytes start;
  base::Bytes end;
  base::Bytes metadata;
  OracleCursor cursor;

  [[nodiscard]] shard::InitialShardInput view() const {
    return {shard::ShardId::from_raw(id), shard::ShardSpecRef::unchecked(start, end, metadata),
            cursor.view()};
  }
};

using OracleRows = std::span<const OracleRow>;

// In the order of 4.2: sizes, then the order of the bounds.
[[nodiscard]] inline std::optional<shard::SpecError> expected_spec_error(
    const base::Bytes& start, const base::Bytes& end, std::size_t metadata_bytes) {
  using shard::SpecError;
  if (start.size() > 4096) return SpecError::key_too_large(start.size(), 4096);
  if (end.size() > 4096) return SpecError::key_too_large(end.size(), 4096);
  if (metadata_bytes > 16384) return SpecError::metadata_too_large(metadata_bytes, 16384);
  if (!start.empty() && !end.empty() && start >= end)
    return SpecError::inverted_range(start.size(), end.size());
  return std::nullopt;
}

namespace manifest_oracle {

using Found = std::optional<shard::ManifestError>;
using Code = shard::ManifestError::Code;

[[nodiscard]] inline shard::ManifestError about(Code code, const OracleRow& row) {
  return {.code = code, .shard = shard::ShardId::from_raw(row.id)};
}

[[nodiscard]] inline Found bad_ids(OracleRows rows) {
  for (const OracleRow& row : rows) {
    if (row.id >> 63 != 0) return about(Code::kDerivedShardId, row);
  }
  std::set<std::uint64_t> seen;
  Found smallest;
  for (const OracleRow& row : rows) {
    const bool twice = !seen.insert(row.id).second;
    if (twice && (!smallest || row.id < smallest->shard.raw()))
      smallest = about(Code::kDuplicateIds, row);
  }
  return smallest;
}

[[nodiscard]] inline Found bad_spec(OracleRows rows) {
  for (const OracleRow& row : rows) {
    if (row.start.empty() || row.end.empty()) return about(Code::kUnboundedRange, row);
  }
  for (const OracleRow& row : rows) {
    const auto wrong = expected_spec_error(row.start, row.end, row.metadata.size());
    if (!wrong) continue;
    auto error = about(Code::kInvalidSpec, row);
    error.spec_error = *wrong;
    return error;
  }
  return std::nullopt;
}

[[nodiscard]] inline bool comes_before(const OracleRow& a, const OracleRow& b) {
  return a.start != b.start ? a.start < b.start : a.id < b.id;
}

// The row behind `row` in the order by start and id, or null.
[[nodiscard]] inline const OracleRow* next_of(OracleRows rows, const OracleRow& row) {
  const OracleRow* next = nullptr;
  for (const OracleRow& other : rows) {
    if (!comes_before(row, other)) continue;
    if (next == nullptr || comes_before(other, *next)) next = &other;
  }
  return next;
}

[[nodiscard]] inline bool some_pair_overlaps(OracleRows rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (rows[i].start < rows[j].end && rows[j].start < rows[i].end) return true;
    }
  }
  return false;
}

// The first overlapping pair of neighbours; there is one exactly if any two rows overlap.
[[nodiscard]] inline Found overlap(OracleRows rows) {
  const OracleRow* first = nullptr;
  const OracleRow* second = nullptr;
  for (const OracleRow& row : rows) {
    const OracleRow* const next = next_of(rows, row);
    if (next == nullptr || row.end <= next->start) continue;
    if (first != nullptr && comes_before(*first, row)) continue;
    first = &row;
    second = next;
  }
  CAD_CHECK((first != nullptr) == some_pair_overlaps(rows), "neighbours stand for all pairs");
  if (first == nullptr) return std::nullopt;
  auto error = about(Code::kOverlappingRanges, *first);
  error.other = shard::ShardId::from_raw(second->id);
  return error;
}

[[nodiscard]] inline Found bad_cursor(OracleRows rows) {
  for (const OracleRow& row : rows) {
    const bool key = row.cursor.key.size() > 4096;
    if (!key && (row.cursor.key.empty() || row.cursor.token.size() <= 16384)) continue;
    auto error = about(key ? Code::kCursorKeyTooLarge : Code::kCursorTokenTooLarge, row);
    error.size = key ? row.cursor.key.size() : row.cursor.token.size();
    error.max = key ? 4096 : 16384;
    return error;
  }
  for (const OracleRow& row : rows) {
    const auto& key = row.cursor.key;
    if (!key.empty() && (key < row.start || key >= row.end))
      return about(Code::kCursorOutOfBounds, row);
  }
  return std::nullopt;
}

}  // namespace manifest_oracle

// Nothing for a legal manifest of at most kMaxInitialShards rows.
[[nodiscard]] inline std::optional<shard::ManifestError> expected_manifest_error(OracleRows rows) {
  if (rows.empty()) return shard::ManifestError{.code = shard::ManifestError::Code::kEmpty};
  if (auto found = manifest_oracle::bad_ids(rows)) return found;
  if (auto found = manifest_oracle::bad_spec(rows)) return found;
  if (auto found = manifest_oracle::overlap(rows)) return found;
  return manifest_oracle::bad_cursor(rows);
}

}  // namespace cadastre::fuzz
