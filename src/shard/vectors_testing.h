// The vector file: what each function of the algebra answers, entry by entry.
//
// A group is one function's entries. Every group has one check here and a row in vectors_test.cc;
// the tests come from those rows, so that a group without a check, or a check without a group, fails.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shard/vector_entry_testing.h"

namespace cadastre::shard {

// How many entries a group has. Two groups are objects: `limits` counts its members and
// `typed_key_order` its encodings.
[[nodiscard]] std::size_t entry_count(const Json& group);

// What is wrong with the set of groups: unknown ones, missing ones, and empty ones.
[[nodiscard]] std::vector<std::string> complaints(const Json& file,
                                                  std::span<const std::string_view> known);

void check_prefix_successor(const Json& group);
void check_key_successor(const Json& group);
void check_byte_midpoint(const Json& group);
void check_balanced_split_point(const Json& group);
void check_interpolate_key(const Json& group);
void check_manifest_row_key(const Json& group);
void check_manifest_row_key_reject(const Json& group);
void check_typed_keys(const Json& group);
void check_typed_key_order(const Json& group);
void check_limits(const Json& group);

void check_hint_encode(const Json& group);
void check_hint_decode(const Json& group);
void check_metadata_encode(const Json& group);
void check_metadata_decode(const Json& group);
void check_propagate_hint(const Json& group);

void check_spec_validate(const Json& group);
void check_cursor_advance(const Json& group);
void check_cursor_bounds(const Json& group);
void check_split_coverage(const Json& group);
void check_residual_from_cursor(const Json& group);

}  // namespace cadastre::shard
