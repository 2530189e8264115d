#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/check.h"
#include "coord/vector_values_testing.h"
#include "coord/vectors_testing.h"

namespace cadastre::coord::vectors {
namespace {

struct CheckedSection {
  std::string_view name;
  void (*check)(const Section& section);
};

constexpr std::array<CheckedSection, 36> kSections = {{
    {"1", check_anchors},           {"2", check_canonical_bytes},
    {"3", check_derived_ids},       {"3b", check_replay_probe},
    {"4", check_payload_hashes},    {"4b", check_hash_relations},
    {"5a", check_records},          {"5b", check_rejections},
    {"5c", check_offsets},          {"7a", check_cursor_advance},
    {"7b", check_cursor_bounds},    {"7c", check_checkpoints},
    {"8a", check_split_coverage},   {"8b", check_residual_splits},
    {"8c", check_successors},       {"8d", check_residual_points},
    {"8e", check_replace_points},   {"9a", check_timeline},
    {"9b", check_saturation},       {"9c", check_timeline},
    {"10a", check_progress},        {"10b", check_manifests},
    {"10c", check_run_operations},  {"10d", check_shard_limits},
    {"10e", check_spawn_limits},    {"11a", check_first_candidates},
    {"11b", check_cooldown},        {"11c", check_claims},
    {"12a", check_slab_blocks},     {"12b", check_slab_exhaustion},
    {"12e", check_planning_memory}, {"6a", check_keyspace},
    {"6b", check_prefixes},         {"6c", check_key_kinds},
    {"12c", check_retry_delays},    {"12d", check_transaction_sizes},
}};
constexpr CheckedSection kTexts{"13", check_texts};

std::vector<CheckedSection> checked_sections() {
  std::vector<CheckedSection> all(kSections.begin(), kSections.end());
  all.push_back(kTexts);
  return all;
}

std::vector<std::string_view> known_names() {
  std::vector<std::string_view> names;
  for (const CheckedSection& section : checked_sections())
    names.push_back(section.name);
  return names;
}

const Json* find_section(const Json& file, std::string_view name) {
  for (const Json& section : file.at("sections")) {
    if (section.at("section") == name) return &section;
  }
  return nullptr;
}

// What is wrong with one section: its count, and ids that are taken or not its own.
void complain_about(const Json& section,
                    std::set<std::string>& ids,
                    std::vector<std::string>& found) {
  const auto name = section.at("section").get<std::string>();
  const Json& rows = section.at("rows");
  if (rows.empty()) found.push_back(name + " has no rows");
  if (to_number(section.at("count")) != rows.size()) {
    found.push_back(name + " does not have the rows it counts");
  }
  for (const Json& row : rows) {
    const auto id = row.at("id").get<std::string>();
    if (!id.starts_with(name + "-")) found.push_back(id + " is of another section");
    if (!ids.insert(id).second) found.push_back(id + " is there twice");
  }
}

std::vector<std::string> complaints(const Json& file, std::span<const std::string_view> known) {
  std::vector<std::string> found;
  std::set<std::string> names;
  std::set<std::string> ids;
  for (const Json& section : file.at("sections")) {
    const auto name = section.at("section").get<std::string>();
    if (!names.insert(name).second) found.push_back(name + " is there twice");
    if (std::ranges::find(known, name) == known.end()) {
      found.push_back(name + " is read by no test");
    }
    complain_about(section, ids, found);
  }
  for (const std::string_view name : known) {
    if (!names.contains(std::string(name))) found.push_back(std::string(name) + " is missing");
  }
  return found;
}

Json load_vectors() {
  std::ifstream in(CADASTRE_SOURCE_DIR "/src/coord/testdata/coordination_vectors.json");
  return Json::parse(in);
}

// GoogleTest prints a test's parameter through this.
std::ostream& operator<<(std::ostream& out, const CheckedSection& section) {
  return out << section.name;
}

}  // namespace

const Json& row_named(const Json& file, std::string_view id) {
  const Json* found = nullptr;
  for (const Json& section : file.at("sections")) {
    for (const Json& row : section.at("rows")) {
      if (row.at("id") == id) found = &row;
    }
  }
  CAD_CHECK(found != nullptr, "a row refers to rows of the file");
  return *found;
}

namespace {

class CoordinationVectors : public ::testing::TestWithParam<CheckedSection> {};

TEST_P(CoordinationVectors, EveryRowHolds) {
  const Json file = load_vectors();
  const Json* const section = find_section(file, GetParam().name);
  ASSERT_NE(section, nullptr);
  ASSERT_FALSE(section->at("rows").empty());
  GetParam().check({section->at("rows"), file});
}

INSTANTIATE_TEST_SUITE_P(Coord,
                         CoordinationVectors,
                         ::testing::ValuesIn(checked_sections()),
                         [](const auto& row) { return "Section" + std::string(row.param.name); });

TEST(CoordinationVectorFile, HasExactlyTheSectionsThatTestsKnow) {
  EXPECT_EQ(complaints(load_vectors(), known_names()), std::vector<std::string>{});
}

TEST(CoordinationVectorFile, IsOfTheFormatThatTheLoaderReads) {
  const Json file = load_vectors();
  EXPECT_EQ(file.at("format").at("name"), "cadastre-coordination-vectors");
  EXPECT_EQ(file.at("format").at("version"), 1);
}

TEST(CoordinationVectorLoader, NamesWhatNoTestReadsAndWhatIsMissing) {
  Json file = load_vectors();
  file["sections"][0]["section"] = "99";
  file["sections"][0]["rows"] = Json::array({{{"id", "99-1"}}});
  file["sections"][0]["count"] = 1;
  EXPECT_EQ(complaints(file, known_names()),
            (std::vector<std::string>{"99 is read by no test", "1 is missing"}));
}

TEST(CoordinationVectorLoader, NamesAnEmptySectionAndAWrongCount) {
  Json file = load_vectors();
  file["sections"][0]["rows"] = Json::array();
  EXPECT_EQ(complaints(file, known_names()),
            (std::vector<std::string>{"1 has no rows", "1 does not have the rows it counts"}));
}

TEST(CoordinationVectorLoader, NamesIdsThatAreTakenOrForeign) {
  Json file = load_vectors();
  file["sections"][0]["rows"][1]["id"] = "1-1";
  file["sections"][0]["rows"][2]["id"] = "2-99";
  EXPECT_EQ(complaints(file, known_names()),
            (std::vector<std::string>{"1-1 is there twice", "2-99 is of another section"}));
}

}  // namespace
}  // namespace cadastre::coord::vectors
