#include "shard/hint_propagation.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"
#include "shard/hint.h"
#include "shard/key_arith.h"
#include "shard/key_buf.h"
#include "shard/text_writer.h"
#include "shard/typed_keys.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {
namespace {

using Boundary = PropagationError::Boundary;
using Code = PropagationError::Code;

bool starts_with(ByteView key, ByteView prefix) noexcept {
  return key.size() >= prefix.size() && base::equal(key.first(prefix.size()), prefix);
}

Result<ShardHint, PropagationError> propagate_prefix(ByteView prefix,
                                                     ByteView child_start,
                                                     ByteView child_end) noexcept {
  const PropagationError bad_start{Code::kInvalidPrefixBoundary, Boundary::kStart};
  const PropagationError bad_end{Code::kInvalidPrefixBoundary, Boundary::kEnd};
  KeyBuf scratch;
  const auto successor = prefix_successor(prefix, scratch);
  if (!successor) return base::fail(bad_end);
  // The keys from a prefix up to its successor are exactly those that start with it.
  if (!starts_with(child_start, prefix)) return base::fail(bad_start);
  const bool inside = starts_with(child_end, prefix) && child_end.size() > prefix.size();
  if (!inside && !base::equal(child_end, *successor)) return base::fail(bad_end);
  if (!base::less(child_start, child_end)) return base::fail(bad_end);
  return ShardHint::range();
}

Result<ShardHint, PropagationError> propagate_manifest(const ManifestRows& parent,
                                                       ByteView child_start,
                                                       ByteView child_end) noexcept {
  const PropagationError bad_start{Code::kInvalidManifestBoundary, Boundary::kStart};
  const PropagationError bad_end{Code::kInvalidManifestBoundary, Boundary::kEnd};
  const auto start = decode_manifest_row_key(child_start);
  if (!start) return base::fail(bad_start);
  const auto end = decode_manifest_row_key(child_end);
  if (!end) return base::fail(bad_end);
  const std::uint64_t id = parent.manifest_id;
  if (start->manifest_id != id || end->manifest_id != id) {
    const std::uint64_t other = start->manifest_id != id ? start->manifest_id : end->manifest_id;
    return base::fail(PropagationError{Code::kManifestIdMismatch, Boundary::kNone, id, other});
  }
  if (start->row < parent.start_row || start->row >= parent.end_row) return base::fail(bad_start);
  if (end->row <= parent.start_row || end->row > parent.end_row) return base::fail(bad_end);
  if (start->row >= end->row) {
    return base::fail(
        PropagationError{Code::kEmptyManifestRange, Boundary::kNone, start->row, end->row});
  }
  return Result<ShardHint, PropagationError>(
      std::in_place, ManifestRows{parent.manifest_id, start->row, end->row});
}

}  // namespace

Result<ShardHint, PropagationError> propagate_hint_on_split(const ShardHint& parent,
                                                            ByteView child_start,
                                                            ByteView child_end) noexcept {
  switch (parent.kind()) {
    case ShardHint::Kind::kRange: return ShardHint::range();
    case ShardHint::Kind::kPrefix:
      return propagate_prefix(parent.prefix_bytes(), child_start, child_end);
    case ShardHint::Kind::kManifest:
      return propagate_manifest(parent.manifest_rows(), child_start, child_end);
  }
  return ShardHint::range();
}

std::string_view code_name(const PropagationError& error) noexcept {
  switch (error.code) {
    case Code::kInvalidPrefixBoundary: return "invalid_prefix_boundary";
    case Code::kInvalidManifestBoundary: return "invalid_manifest_boundary";
    case Code::kManifestIdMismatch: return "manifest_id_mismatch";
    case Code::kEmptyManifestRange: return "empty_manifest_range";
  }
  return "unknown";
}

char* format_to(char* first, char* last, const PropagationError& error) noexcept {
  TextWriter out(first, last);
  const std::string_view which = error.boundary == Boundary::kStart ? "start" : "end";
  switch (error.code) {
    case Code::kInvalidPrefixBoundary:
      return out.text("the child's ").text(which).text(" is outside the parent's prefix").end();
    case Code::kInvalidManifestBoundary:
      return out.text("the child's ").text(which).text(" is no row of the parent's").end();
    case Code::kManifestIdMismatch:
      return out.text("the child is of manifest ")
          .number(error.second)
          .text(", its parent of ")
          .number(error.first)
          .end();
    case Code::kEmptyManifestRange:
      return out.text("the child's rows from ")
          .number(error.first)
          .text(" to ")
          .number(error.second)
          .text(" are none")
          .end();
  }
  return out.end();
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
