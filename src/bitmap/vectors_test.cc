// The vector file: bytes that every release reads and writes the same way. A section without a check
// and a check without a section fail, and so does a field that no check looks at.

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "bitmap/config.h"
#include "bitmap/descriptor.h"
#include "bitmap/ids.h"
#include "bitmap/key_codec.h"
#include "bitmap/limits.h"
#include "bitmap/segment_edit.h"
#include "bitmap/segment_form.h"
#include "bitmap/segment_testing.h"
#include "bitmap/segment_view.h"
#include "bitmap/stats_record.h"
#include "bitmap/value_model_testing.h"
#include "shard/hexrun_testing.h"
#include "shard/vector_entry_testing.h"

namespace cadastre::bitmap {
namespace {

using shard::Json;
using shard::shown;
using shard::VectorEntry;

Shard shard_of(VectorEntry& entry) {
  return Shard{static_cast<std::uint16_t>(entry.number("shard"))};
}

// 2.1
void check_key(VectorEntry& entry) {
  const base::Bytes bytes = entry.bytes("bytes");
  const auto decoded = decode_key(bytes);
  ASSERT_TRUE(decoded.has_value()) << name(decoded.error().code);
  const std::string kind = entry.text("kind");
  if (kind == "descriptor") {
    EXPECT_EQ(shown(descriptor_key()), shown(bytes));
    EXPECT_TRUE(std::holds_alternative<DescriptorKey>(*decoded));
    return;
  }
  const base::Bytes base_key = entry.bytes("base_key");
  const Shard shard = shard_of(entry);
  if (kind == "segment") {
    const Id fence{entry.number("fence")};
    EXPECT_EQ(shown(segment_key(base_key, shard, fence)), shown(bytes));
    const auto& key = std::get<SegmentKey>(*decoded);
    EXPECT_EQ(shown(key.base_key), shown(base_key));
    EXPECT_EQ(key.shard, shard);
    EXPECT_EQ(key.fence, fence);
  } else if (kind == "rolled") {
    const auto segment = static_cast<std::uint16_t>(entry.number("segment"));
    EXPECT_EQ(shown(rolled_segment_key(base_key, shard, segment)), shown(bytes));
    const auto& key = std::get<RolledSegmentKey>(*decoded);
    EXPECT_EQ(shown(key.base_key), shown(base_key));
    EXPECT_EQ(key.shard, shard);
    EXPECT_EQ(key.segment, segment);
  } else {
    EXPECT_EQ(kind, "stats");
    EXPECT_EQ(shown(stats_key(base_key, shard)), shown(bytes));
    const auto& key = std::get<StatsKey>(*decoded);
    EXPECT_EQ(shown(key.base_key), shown(base_key));
    EXPECT_EQ(key.shard, shard);
  }
}

// B-11
void check_shard(VectorEntry& entry) {
  const base::Bytes base_key = entry.bytes("base_key");
  const Id id{entry.number("key_id")};
  const auto grain = static_cast<std::uint8_t>(entry.number("grain_bits"));
  EXPECT_EQ(shard_hash(base_key, id, grain), std::stoull(entry.text("hash"), nullptr, 16));
  EXPECT_EQ(choose_shard(base_key, id, {16, grain}).value(), entry.number("mod_16"));
  EXPECT_EQ(choose_shard(base_key, id, {7, grain}).value(), entry.number("mod_7"));
  EXPECT_EQ(choose_shard(base_key, id, {1, grain}), Shard{0});
}

// 2.6
void check_descriptor(VectorEntry& entry) {
  const Config config{
      .shard_count = static_cast<std::uint16_t>(entry.number("shard_count")),
      .shard_grain_bits = static_cast<std::uint8_t>(entry.number("shard_grain_bits")),
      .segment_bytes_max = static_cast<std::uint32_t>(entry.number("segment_bytes_max")),
      .stats = entry.at("use_stats").get<bool>() ? Stats::kKept : Stats::kNone};
  const base::Bytes bytes = entry.bytes("bytes");
  EXPECT_EQ(shown(encode_descriptor(config)), shown(bytes));
  const auto decoded = decode_descriptor(bytes);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(*decoded, config);
}

// 2.5
void check_stats(VectorEntry& entry) {
  const StatsRecord record{.cardinality = entry.number("cardinality"),
                           .segments = static_cast<std::uint32_t>(entry.number("segments")),
                           .value_bytes = entry.number("value_bytes")};
  const base::Bytes bytes = entry.bytes("bytes");
  EXPECT_EQ(shown(encode_stats(record)), shown(bytes));
  const auto decoded = decode_stats(bytes);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(*decoded, record);
}

// 2.3, 2.4, B-15
void check_value(VectorEntry& entry) {
  model::Ids ids;
  for (const Json& id : entry.at("ids"))
    ids.insert(shard::to_number(id));
  const base::Bytes bytes = entry.bytes("bytes");
  EXPECT_EQ(std::to_integer<std::uint64_t>(bytes.front()), entry.number("form"));
  const auto view = SegmentView::open(bytes);
  ASSERT_TRUE(view.has_value()) << name(view.error().code);
  EXPECT_EQ(testing::ids_of(*view), ids);
  EXPECT_TRUE(view->check_contents().has_value());
  EXPECT_EQ(shown(model::stored(ids)) == shown(bytes), entry.at("canonical").get<bool>());
}

struct Section {
  std::string_view name;
  std::size_t rows;
  void (*check)(VectorEntry& entry);
};
constexpr std::array<Section, 5> kSections = {{
    {"keys", 6, check_key},
    {"shards", 12, check_shard},
    {"descriptors", 1, check_descriptor},
    {"stats", 1, check_stats},
    {"values", 11, check_value},
}};

Json vector_file() {
  std::ifstream file(CADASTRE_SOURCE_DIR "/src/bitmap/testdata/bitmap_vectors.json");
  return Json::parse(file);
}

TEST(BitmapVectors, EveryRowHolds) {
  const Json file = vector_file();
  std::set<std::string> left;
  for (const auto& [section, rows] : file.items())
    left.insert(section);
  left.erase("about");
  for (const Section& section : kSections) {
    const std::string name(section.name);
    ASSERT_EQ(left.erase(name), 1U) << name;
    EXPECT_EQ(file.at(name).size(), section.rows) << name;
    shard::for_each_entry(file.at(name), section.check);
  }
  EXPECT_EQ(left, std::set<std::string>{});
}

// What a damaged value may do: be refused, or be read as some set and leave as its one encoding.
void expect_harmless(base::Bytes value) {
  for (const bool is_sealed_anew : {false, true}) {
    if (is_sealed_anew && value.size() > kChecksumBytes) seal(value);
    const auto view = SegmentView::open(value);
    SegmentEdit edit;
    const bool loads = edit.load(value).has_value();
    if (!view) {
      EXPECT_FALSE(loads);
      continue;
    }
    const model::Ids ids = testing::ids_of(*view);
    EXPECT_EQ(loads, view->check_contents().has_value());
    if (loads) {
      EXPECT_EQ(shown(edit.emit()), shown(model::stored(ids)));
    }
  }
}

// 6.4: every prefix, every change of one bit and some of a byte, of every value.
TEST(BitmapVectors, DamagedValuesAreHarmless) {
  const Json file = vector_file();
  for (const Json& row : file.at("values")) {
    const base::Bytes good = shard::hex(row.at("bytes").get<std::string>());
    for (std::size_t at = 0; at < good.size(); ++at) {
      const ::testing::ScopedTrace trace(__FILE__, __LINE__, row.at("id").get<std::string>());
      expect_harmless({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(at)});
      for (const unsigned change : {1U, 2U, 4U, 8U, 16U, 32U, 64U, 128U, 255U, 0x83U}) {
        base::Bytes bad = good;
        bad[at] ^= static_cast<std::byte>(change);
        expect_harmless(bad);
      }
    }
  }
}

// A value leaves an edit in its canonical form.
TEST(BitmapVectors, LoadedValuesLeaveCanonical) {
  SegmentEdit edit;
  const Json file = vector_file();
  for (const Json& row : file.at("values")) {
    const base::Bytes bytes = shard::hex(row.at("bytes").get<std::string>());
    ASSERT_TRUE(edit.load(bytes).has_value());
    EXPECT_EQ(shown(edit.emit()) == shown(bytes), row.at("canonical").get<bool>());
  }
}

}  // namespace
}  // namespace cadastre::bitmap
