// The vector file: what each function of the algebra answers, entry by entry.
//
// A group is one function's entries. Every group has one check here and a row in vectors_test.cc;
// the tests come from those rows, so that a group without a check, or a check without a group, fails.
// An entry counts which of its fields were looked at: one that no check reads fails as well.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/bytes.h"

namespace cadastre::shard {

using Json = nlohmann::json;

class VectorEntry {
 public:
  explicit VectorEntry(const Json& json) : json_(json) {}

  [[nodiscard]] bool has(const std::string& field) const { return json_.contains(field); }
  [[nodiscard]] const Json& at(const std::string& field);
  [[nodiscard]] base::Bytes bytes(const std::string& field);
  [[nodiscard]] std::optional<base::Bytes> optional_bytes(const std::string& field);
  [[nodiscard]] std::string text(const std::string& field);
  [[nodiscard]] std::uint64_t number(const std::string& field);  // a number or a decimal string

  // Fields that nobody has looked at, except the id and the note.
  [[nodiscard]] std::vector<std::string> unread() const;

 private:
  const Json& json_;
  std::set<std::string> read_;
};

// Runs `check` on every entry of a group under the entry's id, and fails on fields left unread.
void for_each_entry(const Json& group, const std::function<void(VectorEntry&)>& check);

// How many entries a group has. Two groups are objects: `limits` counts its members and
// `typed_key_order` its encodings.
[[nodiscard]] std::size_t entry_count(const Json& group);

// What is wrong with the set of groups: unknown ones, missing ones, and empty ones.
[[nodiscard]] std::vector<std::string> complaints(const Json& file,
                                                  std::span<const std::string_view> known);

// 64-bit integers are decimal strings in the file.
[[nodiscard]] std::uint64_t to_number(const Json& value);

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
