// The groups about hints and metadata. Errors are compared as the file writes them, with every field.

#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "shard/hexrun_testing.h"
#include "shard/hint.h"
#include "shard/hint_propagation.h"
#include "shard/key_buf.h"
#include "shard/vector_entry_testing.h"
#include "shard/vectors_testing.h"

namespace cadastre::shard {
namespace {

// A hint and the bytes that it borrows.
struct OwnedHint {
  base::Bytes prefix;
  Json json;

  [[nodiscard]] ShardHint hint() const {
    const auto kind = json.at("kind").get<std::string>();
    if (kind == "prefix") return ShardHint::prefix(prefix);
    if (kind == "manifest") {
      return ShardHint::manifest({to_number(json.at("manifest_id")),
                                  to_number(json.at("start_row")), to_number(json.at("end_row"))});
    }
    EXPECT_EQ(kind, "range");
    return ShardHint::range();
  }
};

OwnedHint owned_hint(const Json& json) {
  return {json.contains("prefix") ? hex(json.at("prefix").get<std::string>()) : base::Bytes{},
          json};
}

Json rows_json(std::string_view code, std::uint64_t start_row, std::uint64_t end_row) {
  return {{"code", code},
          {"start_row", std::to_string(start_row)},
          {"end_row", std::to_string(end_row)}};
}

Json to_json(const HintEncodeError& error) {
  if (error.code == HintEncodeError::Code::kInvertedManifestRows) {
    return rows_json(code_name(error), error.first, error.second);
  }
  return {{"code", code_name(error)}, {"size", error.first}, {"max", error.second}};
}

Json to_json(const HintDecodeError& error) {
  using Code = HintDecodeError::Code;
  switch (error.code) {
    case Code::kEmptyData: return {{"code", code_name(error)}};
    case Code::kInvertedManifestRows: return rows_json(code_name(error), error.first, error.second);
    case Code::kUnknownTag: return {{"code", code_name(error)}, {"tag", error.first}};
    case Code::kTruncatedPrefix:
    case Code::kTruncatedManifest: break;
  }
  return {{"code", code_name(error)}, {"expected_min", error.first}, {"actual", error.second}};
}

Json to_json(const MetadataDecodeError& error) {
  if (error.reason == MetadataDecodeError::Reason::kHint) {
    return {{"code", "hint"}, {"hint_error", to_json(error.hint_error.value())}};
  }
  EXPECT_FALSE(error.hint_error.has_value());
  return {{"code", "envelope"}, {"reason", code_name(error)}};
}

Json to_json(const PropagationError& error) {
  using Code = PropagationError::Code;
  using Boundary = PropagationError::Boundary;
  switch (error.code) {
    case Code::kManifestIdMismatch:
      return {{"code", code_name(error)},
              {"parent", std::to_string(error.first)},
              {"child", std::to_string(error.second)}};
    case Code::kEmptyManifestRange: return rows_json(code_name(error), error.first, error.second);
    case Code::kInvalidPrefixBoundary:
    case Code::kInvalidManifestBoundary: break;
  }
  EXPECT_NE(error.boundary, Boundary::kNone);
  return {{"code", code_name(error)},
          {"boundary", error.boundary == Boundary::kStart ? "start" : "end"}};
}

// Either `out`, from the encoder and as long as its preflight says, or `error` from both.
template <class Encodable>
void expect_encoding(const Encodable& value, VectorEntry& entry) {
  MetadataBuf out;
  const auto encoded = encode_into(value, out);
  const auto size = encoded_size(value);
  if (entry.has("error")) {
    const Json& error = entry.at("error");
    ASSERT_FALSE(encoded.has_value());
    EXPECT_EQ(to_json(encoded.error()), error);
    ASSERT_FALSE(size.has_value());
    EXPECT_EQ(to_json(size.error()), error);
    return;
  }
  const auto expected = entry.bytes("out");
  ASSERT_TRUE(encoded.has_value()) << code_name(encoded.error());
  EXPECT_EQ(shown(*encoded), shown(expected));
  ASSERT_TRUE(size.has_value());
  EXPECT_EQ(*size, expected.size());
}

}  // namespace

void check_hint_encode(const Json& group) {
  for_each_entry(group, [](VectorEntry& entry) {
    const OwnedHint owned = owned_hint(entry.at("hint"));
    expect_encoding(owned.hint(), entry);
  });
}

void check_hint_decode(const Json& group) {
  for_each_entry(group, [](VectorEntry& entry) {
    const auto in = entry.bytes("in");
    const auto decoded = decode_hint_frame(in);
    if (entry.has("error")) {
      const Json& error = entry.at("error");
      ASSERT_FALSE(decoded.has_value());
      EXPECT_EQ(to_json(decoded.error()), error);
      return;
    }
    const OwnedHint expected = owned_hint(entry.at("hint"));
    const auto consumed = entry.number("consumed");
    ASSERT_TRUE(decoded.has_value()) << code_name(decoded.error());
    EXPECT_TRUE(decoded->hint == expected.hint());
    EXPECT_EQ(decoded->consumed, consumed);
  });
}

void check_metadata_encode(const Json& group) {
  for_each_entry(group, [](VectorEntry& entry) {
    const OwnedHint owned = owned_hint(entry.at("hint"));
    const auto extra = entry.bytes("connector_extra");
    expect_encoding(ShardMetadata{owned.hint(), extra}, entry);
  });
}

void check_metadata_decode(const Json& group) {
  for_each_entry(group, [](VectorEntry& entry) {
    const auto in = entry.bytes("in");
    const auto decoded = decode_metadata_bytes(in);
    if (entry.has("error")) {
      const Json& error = entry.at("error");
      ASSERT_FALSE(decoded.has_value());
      EXPECT_EQ(to_json(decoded.error()), error);
      return;
    }
    const OwnedHint expected = owned_hint(entry.at("hint"));
    const auto extra = entry.bytes("connector_extra");
    ASSERT_TRUE(decoded.has_value()) << code_name(decoded.error());
    EXPECT_TRUE(decoded->hint == expected.hint());
    EXPECT_EQ(shown(decoded->connector_extra), shown(extra));
  });
}

void check_propagate_hint(const Json& group) {
  for_each_entry(group, [](VectorEntry& entry) {
    const OwnedHint parent = owned_hint(entry.at("parent"));
    const auto start = entry.bytes("child_start");
    const auto end = entry.bytes("child_end");
    const auto child = propagate_hint_on_split(parent.hint(), start, end);
    if (entry.has("error")) {
      const Json& error = entry.at("error");
      ASSERT_FALSE(child.has_value());
      EXPECT_EQ(to_json(child.error()), error);
      return;
    }
    const OwnedHint expected = owned_hint(entry.at("hint"));
    ASSERT_TRUE(child.has_value()) << code_name(child.error());
    EXPECT_TRUE(*child == expected.hint());
  });
}

}  // namespace cadastre::shard
