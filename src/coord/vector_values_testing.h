// Values of the coordination vectors, as the conventions at the top of their file write them.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/check.h"
#include "coord/identity.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/hexrun_testing.h"
#include "shard/manifest.h"
#include "shard/shard_spec.h"
#include "shard/vector_entry_testing.h"

namespace cadastre::coord::vectors {

using shard::Json;
using shard::to_number;
using shard::VectorEntry;

// The value of a _hex field: digits, or a repeated piece and what follows it.
[[nodiscard]] inline base::Bytes to_bytes(const Json& value) {
  if (value.is_string()) return shard::hex(value.get<std::string>());
  const base::Bytes piece = to_bytes(value.at("repeat_hex"));
  base::Bytes bytes;
  for (std::uint64_t left = to_number(value.at("times")); left > 0; --left)
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  if (value.contains("then_hex")) {
    const base::Bytes rest = to_bytes(value.at("then_hex"));
    bytes.insert(bytes.end(), rest.begin(), rest.end());
  }
  return bytes;
}

[[nodiscard]] inline std::optional<base::Bytes> to_optional_bytes(const Json& value) {
  if (value.is_null()) return std::nullopt;
  return to_bytes(value);
}

[[nodiscard]] inline Json to_hex_json(const std::optional<base::ByteView>& bytes) {
  return bytes ? Json(base::to_hex(*bytes)) : Json(nullptr);
}

// The value of a _u64 field: 16 hexadecimal digits, most significant first.
[[nodiscard]] inline std::uint64_t to_word(const Json& value) {
  const auto digits = value.get<std::string>();
  CAD_CHECK(digits.size() == 16, "a hash or a derived id has 16 digits");
  return std::stoull(digits, nullptr, 16);
}

[[nodiscard]] inline TenantId to_tenant(const Json& value) {
  const base::Bytes bytes = to_bytes(value);
  TenantId::Bytes tenant{};
  CAD_CHECK(bytes.size() == tenant.size(), "a tenant has 32 bytes");
  std::ranges::copy(bytes, tenant.begin());
  return TenantId::from_bytes(tenant);
}

// The stored value with this name; the numbers of every enum begin with 0.
template <class E>
[[nodiscard]] E enumerator_named(const Json& text) {
  for (std::uint8_t stored = 0; const auto value = parse_stored<E>(stored); ++stored) {
    if (name(*value) == text.get<std::string>()) return *value;
  }
  ADD_FAILURE() << "no such value: " << text;
  return E{};
}

[[nodiscard]] inline std::vector<ShardId> to_ids(const Json& values) {
  std::vector<ShardId> ids;
  ids.reserve(values.size());
  for (const Json& value : values)
    ids.push_back(ShardId::from_raw(to_number(value)));
  return ids;
}

[[nodiscard]] inline std::vector<ShardId> to_derived_ids(const Json& words) {
  std::vector<ShardId> ids;
  ids.reserve(words.size());
  for (const Json& word : words)
    ids.push_back(ShardId::from_raw(to_word(word)));
  return ids;
}

struct OwnedSpec {
  base::Bytes start;
  base::Bytes end;
  base::Bytes metadata;

  [[nodiscard]] shard::ShardSpecRef ref() const {
    return shard::ShardSpecRef::unchecked(start, end, metadata);
  }
};

[[nodiscard]] inline OwnedSpec to_spec(const Json& value) {
  return {to_bytes(value.at("start_hex")), to_bytes(value.at("end_hex")),
          to_bytes(value.at("metadata_hex"))};
}

struct OwnedCursor {
  std::optional<base::Bytes> last_key;
  std::optional<base::Bytes> token;

  [[nodiscard]] shard::CursorUpdate ref() const {
    if (!last_key) return shard::CursorUpdate::initial();
    return token ? shard::CursorUpdate::make(*last_key, *token)
                 : shard::CursorUpdate::make(*last_key);
  }
};

[[nodiscard]] inline OwnedCursor to_cursor(const Json& value) {
  return {to_optional_bytes(value.at("last_key_hex")), to_optional_bytes(value.at("token_hex"))};
}

[[nodiscard]] inline Json cursor_json(const shard::CursorUpdate& cursor) {
  return {{"last_key_hex", to_hex_json(cursor.last_key())},
          {"token_hex", to_hex_json(cursor.token())}};
}

// A row of a manifest, and the manifest that borrows such rows.
struct OwnedInput {
  ShardId shard;
  OwnedSpec spec;
  OwnedCursor cursor;
};

[[nodiscard]] inline std::vector<OwnedInput> to_inputs(const Json& values) {
  std::vector<OwnedInput> inputs;
  inputs.reserve(values.size());
  for (const Json& value : values) {
    inputs.push_back({ShardId::from_raw(to_number(value.at("shard"))), to_spec(value.at("spec")),
                      to_cursor(value.at("cursor"))});
  }
  return inputs;
}

[[nodiscard]] inline std::vector<shard::InitialShardInput> manifest_of(
    std::span<const OwnedInput> inputs) {
  std::vector<shard::InitialShardInput> manifest;
  manifest.reserve(inputs.size());
  for (const OwnedInput& input : inputs)
    manifest.push_back({input.shard, input.spec.ref(), input.cursor.ref()});
  return manifest;
}

// Key i of a generated list: the prefix and i, most significant byte first.
[[nodiscard]] inline base::Bytes generated_key(const Json& rule, std::uint64_t i) {
  base::Bytes key = to_bytes(rule.at("prefix_hex"));
  for (std::uint64_t left = to_number(rule.at("index_bytes")); left > 0; --left)
    key.push_back(static_cast<std::byte>(i >> (8 * (left - 1))));
  return key;
}

// Whether every member of `expected` has the same value in `actual`; what a row does not name stays
// open. Numbers may be written as decimal strings.
inline void expect_fits(const Json& expected, const Json& actual) {
  if (!expected.is_object()) {
    const bool is_large = expected.is_string() && actual.is_number();
    EXPECT_EQ(is_large ? Json(to_number(expected)) : expected, actual);
    return;
  }
  ASSERT_TRUE(actual.is_object()) << actual;
  for (const auto& [field, value] : expected.items()) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, field);
    ASSERT_TRUE(actual.contains(field)) << actual;
    expect_fits(value, actual.at(field));
  }
}

// A row that expects an error has it, as described; any other row succeeds. Whether it succeeds.
template <class ResultType, class Describe>
[[nodiscard]] bool succeeds_as_expected(VectorEntry& entry,
                                        const ResultType& result,
                                        const Describe& describe) {
  if (!entry.has("error")) {
    if (!result) ADD_FAILURE() << describe(result.error());
    return result.has_value();
  }
  if (result) {
    ADD_FAILURE() << "succeeds, expected " << entry.at("error");
  } else {
    expect_fits(entry.at("error"), describe(result.error()));
  }
  return false;
}

}  // namespace cadastre::coord::vectors
