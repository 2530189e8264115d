// The groups about keys: arithmetic, row keys, typed keys, limits.

#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "base/byte_slab.h"
#include "base/bytes.h"
#include "shard/hexrun_testing.h"
#include "shard/key_arith.h"
#include "shard/key_buf.h"
#include "shard/limits.h"
#include "shard/midpoint_reference_testing.h"
#include "shard/tuple_key.h"
#include "shard/tuple_model_testing.h"
#include "shard/typed_keys.h"
#include "shard/vector_entry_testing.h"
#include "shard/vectors_testing.h"

namespace cadastre::shard {
namespace {

double to_double(const Json& value) {
  return std::strtod(value.get<std::string>().c_str(), nullptr);
}

TupleInteger to_integer(std::string text) {
  const bool negative = text.starts_with('-');
  if (negative) text.erase(0, 1);
  return {negative, std::stoull(text)};
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the file nests.
ModelElement to_element(const Json& value) {
  ModelElement element;
  using Kind = TupleElement::Kind;
  EXPECT_EQ(value.size(), 1U);
  const std::string name = value.begin().key();
  const Json& content = value.begin().value();
  if (name == "bytes") {
    element.kind = Kind::kBytes;
    element.content = hex(content.get<std::string>());
  } else if (name == "utf8") {
    element.kind = Kind::kText;
    element.content = hex(content.get<std::string>());
  } else if (name == "int") {
    element.kind = Kind::kInteger;
    element.integer = to_integer(content.get<std::string>());
  } else if (name == "f64") {
    element.kind = Kind::kFloat64;
    element.float64 = to_double(content);
  } else if (name == "bool") {
    element.kind = Kind::kBoolean;
    element.boolean = content.get<bool>();
  } else if (name == "tuple") {
    element.kind = Kind::kTuple;
    for (const Json& inner : content)
      element.elements.push_back(to_element(inner));
  } else {
    EXPECT_EQ(name, "null");
  }
  return element;
}

void check_tuple(const Json& value, const base::Bytes& bytes) {
  ModelTuple model;
  for (const Json& element : value)
    model.push_back(to_element(element));
  EXPECT_EQ(encode_model(model), bytes);
  EXPECT_EQ(decode_model(bytes), model);
}

template <class Key>
void check_fixed_width(const Key& key, const base::Bytes& bytes) {
  KeyBuf out;
  key.encode_into(out);
  EXPECT_EQ(shown(out.view()), shown(bytes));
}

}  // namespace

void check_prefix_successor(const Json& group) {
  for_each_entry(group, [](VectorEntry& entry) {
    const auto in = entry.bytes("in");
    KeyBuf out;
    EXPECT_EQ(shown(prefix_successor(in, out)), shown(entry.optional_bytes("out")));
  });
}

void check_key_successor(const Json& group) {
  for_each_entry(group, [](VectorEntry& entry) {
    const auto in = entry.bytes("in");
    KeyBuf out;
    EXPECT_EQ(shown(key_successor(in, out)), shown(entry.optional_bytes("out")));
  });
}

void check_byte_midpoint(const Json& group) {
  for_each_entry(group, [](VectorEntry& entry) {
    const auto a = entry.bytes("a");
    const auto b = entry.bytes("b");
    const std::string expected = shown(entry.optional_bytes("out"));
    KeyBuf out;
    EXPECT_EQ(shown(byte_midpoint(a, b, out)), expected);
    const auto reference = reference_midpoint(a, b, kMaxKeySize);
    EXPECT_EQ(path_name(reference.path), entry.text("path"));
    EXPECT_EQ(shown(reference.view()), expected);
  });
}

void check_balanced_split_point(const Json& group) {
  for_each_entry(group, [](VectorEntry& entry) {
    const auto start = entry.bytes("a");
    const auto end = entry.bytes("b");
    KeyBuf out;
    EXPECT_EQ(shown(balanced_split_point(start, end, out)), shown(entry.optional_bytes("out")));
  });
}

void check_interpolate_key(const Json& group) {
  for_each_entry(group, [](VectorEntry& entry) {
    const auto start = entry.bytes("a");
    const auto end = entry.bytes("b");
    const CutPosition cut{entry.number("i"), entry.number("n")};
    KeyBuf out;
    EXPECT_EQ(shown(interpolate_key({start, end}, cut, out)), shown(entry.optional_bytes("out")));
  });
}

void check_manifest_row_key(const Json& group) {
  for_each_entry(group, [](VectorEntry& entry) {
    const ManifestRowKey key{entry.number("manifest_id"), entry.number("row")};
    const auto bytes = entry.bytes("bytes");
    check_fixed_width(key, bytes);
    EXPECT_EQ(decode_manifest_row_key(bytes), key);
  });
}

void check_manifest_row_key_reject(const Json& group) {
  for_each_entry(group, [](VectorEntry& entry) {
    EXPECT_EQ(decode_manifest_row_key(entry.bytes("in")), std::nullopt);
  });
}

void check_typed_keys(const Json& group) {
  for_each_entry(group, [](VectorEntry& entry) {
    const std::string type = entry.text("type");
    const Json& value = entry.at("value");
    const auto bytes = entry.bytes("bytes");
    if (type == "i64") {
      check_fixed_width(I64Key{std::stoll(value.get<std::string>())}, bytes);
    } else if (type == "f64") {
      check_fixed_width(F64Key{to_double(value)}, bytes);
    } else {
      ASSERT_EQ(type, "tuple");
      check_tuple(value, bytes);
    }
  });
}

void check_typed_key_order(const Json& group) {
  std::optional<base::Bytes> before;
  std::optional<ModelTuple> before_model;
  for (const Json& text : group.at("bytes")) {
    const auto bytes = hex(text.get<std::string>());
    const auto model = decode_model(bytes);
    ASSERT_TRUE(model.has_value()) << text;
    EXPECT_EQ(encode_model(*model), bytes) << text;
    if (before) {
      EXPECT_TRUE(base::less(*before, bytes)) << text;
      EXPECT_TRUE(compare_tuples(*before_model, *model) < 0) << text;
    }
    before = bytes;
    before_model = model;
  }
}

void check_limits(const Json& group) {
  const std::map<std::string, std::uint64_t> limits = {
      {"max_key_size", kMaxKeySize},
      {"max_metadata_size", kMaxMetadataSize},
      {"max_token_size", kMaxTokenSize},
      {"max_initial_shards", kMaxInitialShards},
      {"max_split_children", kMaxSplitChildren},
      {"max_spawned_per_shard", kMaxSpawnedPerShard},
      {"key_buf_capacity", kKeyBufCapacity},
      {"builder_max_cap", kBuilderMaxCap},
      {"slab_min_block", base::kSlabMinBlock},
      {"op_log_capacity", kOpLogCapacity},
      {"run_op_log_capacity", kRunOpLogCapacity},
  };
  EXPECT_EQ((group.get<std::map<std::string, std::uint64_t>>()), limits);
}

}  // namespace cadastre::shard
