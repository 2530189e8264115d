#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "shard/hexrun_testing.h"
#include "shard/vector_entry_testing.h"
#include "shard/vectors_testing.h"

namespace cadastre::shard {

std::size_t entry_count(const Json& group) {
  if (group.is_object() && group.contains("bytes")) return group.at("bytes").size();
  return group.is_object() || group.is_array() ? group.size() : 0;
}

std::vector<std::string> complaints(const Json& file, std::span<const std::string_view> known) {
  std::vector<std::string> found;
  for (const auto& [name, group] : file.items()) {
    if (name == "format") continue;
    if (std::ranges::find(known, name) == known.end())
      found.push_back(name + " is read by no test");
    if (entry_count(group) == 0) found.push_back(name + " has no entries");
  }
  for (const std::string_view name : known) {
    if (!file.contains(std::string(name))) found.push_back(std::string(name) + " is missing");
  }
  return found;
}

namespace {

struct VectorGroup {
  std::string_view name;
  void (*check)(const Json& group);
};

constexpr std::array<VectorGroup, 20> kGroups = {{
    {"limits", check_limits},
    {"prefix_successor", check_prefix_successor},                // 9.1 #10
    {"key_successor", check_key_successor},                      // 9.1 #12
    {"byte_midpoint", check_byte_midpoint},                      // 9.1 #14 #15 #16
    {"balanced_split_point", check_balanced_split_point},        // 9.1 #61
    {"interpolate_key", check_interpolate_key},                  //
    {"manifest_row_key", check_manifest_row_key},                // 9.1 #6
    {"manifest_row_key_reject", check_manifest_row_key_reject},  // 9.1 #7
    {"hint_encode", check_hint_encode},                          // 9.1 #23 #25
    {"hint_decode", check_hint_decode},                          // 9.1 #23 #24 #25 #26
    {"metadata_encode", check_metadata_encode},                  // 9.1 #27 #29
    {"metadata_decode", check_metadata_decode},                  // 9.1 #27 #28 #29
    {"propagate_hint", check_propagate_hint},                    // 9.1 #33 #34 #35 #36 #37
    {"spec_validate", check_spec_validate},                      //
    {"cursor_advance", check_cursor_advance},                    // 9.1 #75
    {"cursor_bounds", check_cursor_bounds},                      // 9.1 #75
    {"split_coverage", check_split_coverage},                    //
    {"residual_from_cursor", check_residual_from_cursor},        //
    {"typed_keys", check_typed_keys},                            // 9.1 #73
    {"typed_key_order", check_typed_key_order},                  // 9.1 #73
}};

// GoogleTest prints a test's parameter through this.
std::ostream& operator<<(std::ostream& out, const VectorGroup& group) {
  return out << group.name;
}

std::vector<std::string_view> known_names() {
  std::vector<std::string_view> names;
  names.reserve(kGroups.size());
  for (const VectorGroup& group : kGroups)
    names.push_back(group.name);
  return names;
}

Json load_vectors() {
  std::ifstream in(CADASTRE_SOURCE_DIR "/src/shard/testdata/shard-algebra-vectors.json");
  return Json::parse(in);
}

class Vectors : public testing::TestWithParam<VectorGroup> {};

TEST_P(Vectors, EveryEntryHolds) {
  const Json file = load_vectors();
  const Json& group = file.at(std::string(GetParam().name));
  ASSERT_GT(entry_count(group), 0U);
  GetParam().check(group);
}

INSTANTIATE_TEST_SUITE_P(Shard, Vectors, testing::ValuesIn(kGroups), [](const auto& row) {
  return std::string(row.param.name);
});

TEST(VectorFile, HasExactlyTheGroupsThatTestsRead) {
  EXPECT_EQ(complaints(load_vectors(), known_names()), std::vector<std::string>{});
}

TEST(VectorFile, IsOfTheFormatThatTheLoaderReads) {
  const Json file = load_vectors();
  EXPECT_EQ(file.at("format").at("name"), "cadastre-shard-algebra-vectors");
  EXPECT_EQ(file.at("format").at("version"), 1);
}

TEST(VectorLoader, NamesAGroupThatNoTestReads) {
  Json file = load_vectors();
  file["hint_compress"] = Json::array({{{"id", "HC-01"}}});
  EXPECT_EQ(complaints(file, known_names()),
            std::vector<std::string>{"hint_compress is read by no test"});
}

TEST(VectorLoader, NamesAnEmptyGroupWhateverItsShape) {
  Json file = load_vectors();
  file["hint_decode"] = Json::array();
  file["limits"] = Json::object();
  file["typed_key_order"]["bytes"] = Json::array();
  const std::vector<std::string> expected = {"hint_decode has no entries", "limits has no entries",
                                             "typed_key_order has no entries"};
  EXPECT_EQ(complaints(file, known_names()), expected);
}

TEST(VectorLoader, NamesAGroupThatTestsReadAndTheFileLacks) {
  Json file = load_vectors();
  file.erase("byte_midpoint");
  EXPECT_EQ(complaints(file, known_names()), std::vector<std::string>{"byte_midpoint is missing"});
}

TEST(VectorLoader, NoticesFieldsThatACheckDoesNotRead) {
  const Json json = {{"id", "XX-01"},
                     {"note", "free text"},
                     {"chosen", "free text"},
                     {"in", "61"},
                     {"out", nullptr}};
  VectorEntry entry(json);
  EXPECT_EQ(entry.unread(), (std::vector<std::string>{"in", "out"}));
  EXPECT_EQ(entry.bytes("in"), hex("61"));
  EXPECT_EQ(entry.unread(), std::vector<std::string>{"out"});
  EXPECT_EQ(entry.optional_bytes("out"), std::nullopt);
  EXPECT_EQ(entry.unread(), std::vector<std::string>{});
}

TEST(Hexrun, ExpandsRunsBetweenPlainBytes) {
  EXPECT_EQ(hex(""), base::Bytes{});
  EXPECT_EQ(base::to_hex(hex("61(ff*3)0062(00*1)")), "61ffffff006200");
  EXPECT_EQ(hex("(50*4096)").size(), 4096U);
}

TEST(Hexrun, RefusesWhatIsNotInTheNotation) {
  const std::vector<std::string_view> bad = {
      "6",      "6g",      "AB",      "(61*3", "61*3)",   "(6*3)", "(611*3)",     "(61*)",
      "(61*0)", "(61*-1)", "(61*3x)", "(*3)",  "((61*2)", "()",    "(61*9999999)"};
  for (const auto text : bad)
    EXPECT_EQ(parse_hexrun(text), std::nullopt) << text;
}

}  // namespace
}  // namespace cadastre::shard
