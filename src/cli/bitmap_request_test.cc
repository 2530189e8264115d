#include "cli/bitmap_request.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "bitmap/config.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"
#include "cli/bitmap_session.h"
#include "cli/bitmap_sets.h"
#include "cli/command_error.h"
#include "cli/json_fields.h"
#include "cli/limits.h"
#include "cli/options.h"

namespace cadastre::cli {
namespace {

using bitmap::Id;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

JsonLine parsed(std::string_view line) {
  auto parsed = JsonLine::parse(line);
  EXPECT_TRUE(parsed.has_value()) << line;
  return *std::move(parsed);
}

template <class T>
std::string code_of(const Result<T, CommandError>& result) {
  return result ? "fine" : result.error().code;
}

base::Bytes bytes(std::string_view text) {
  return base::to_owned(base::as_bytes(text));
}

Result<BitmapTable, CommandError> table(std::string_view name,
                                        const std::optional<std::string>& shards,
                                        const std::optional<std::string>& segment_bytes) {
  return parse_table({.name = name, .shards = shards, .segment_bytes = segment_bytes});
}

TEST(ParseIds, TakesNumbersAndTheirDigits) {
  const JsonLine line =
      parsed(R"({"ids":[3,"1",0,"18446744073709551615",18446744073709551615,3]})");
  EXPECT_EQ(parse_ids(line.fields()),
            (std::vector<Id>{Id{3}, Id{1}, Id{0}, Id{kMost}, Id{kMost}, Id{3}}));
  EXPECT_EQ(parse_ids(parsed(R"({"ids":[]})").fields()), std::vector<Id>());
}

TEST(ParseIds, RefusesWhatIsNoId) {
  for (const char* const ids :
       {"1", "\"1\"", "{}", "null", "[-1]", "[1.5]", "[1,true]", "[\"\"]", "[\"0x1\"]", "[\"-1\"]",
        "[18446744073709551616]", "[\"18446744073709551616\"]", "[[1]]", "[null]", "[1e3]"}) {
    const JsonLine line = parsed(std::string(R"({"ids":)") + ids + "}");
    EXPECT_EQ(code_of(parse_ids(line.fields())), "bad_request") << ids;
  }
  EXPECT_EQ(code_of(parse_ids(parsed("{}").fields())), "bad_request");
}

TEST(ParseIdPage, HasItsDefaults) {
  const auto bare = parse_id_page(parsed(R"({"from":null})").fields());
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->from, Id{0});
  EXPECT_EQ(bare->limit, kIdsLimitDefault);
  const auto full = parse_id_page(parsed(R"({"from":"18446744073709551615","limit":0})").fields());
  ASSERT_TRUE(full);
  EXPECT_EQ(full->from, Id{kMost});
  EXPECT_EQ(full->limit, 0U);
  EXPECT_EQ(code_of(parse_id_page(parsed(R"({"limit":-1})").fields())), "bad_request");
  EXPECT_EQ(code_of(parse_id_page(parsed(R"({"from":"x"})").fields())), "bad_request");
}

// R-26
TEST(ParseKeyPage, HasItsDefaults) {
  const auto bare = parse_key_page(parsed("{}").fields(), KeyForm::kText);
  ASSERT_TRUE(bare);
  EXPECT_TRUE(bare->prefix.empty());
  EXPECT_FALSE(bare->after);
  EXPECT_EQ(bare->limit, kKeysLimitDefault);
  const auto full = parse_key_page(parsed(R"({"prefix":"61","after":"6162","limit":"7"})").fields(),
                                   KeyForm::kHex);
  ASSERT_TRUE(full);
  EXPECT_EQ(full->prefix, bytes("a"));
  EXPECT_EQ(full->after, bytes("ab"));
  EXPECT_EQ(full->limit, 7U);
}

TEST(ParseKeyPage, APageHasAtLeastOneKey) {
  const JsonLine line = parsed(R"({"limit":0})");
  EXPECT_EQ(code_of(parse_key_page(line.fields(), KeyForm::kText)), "bad_request");
}

TEST(ParseSetRequest, ReadsKeysAndWhatIsWanted) {
  const auto ids =
      parse_set_request(parsed(R"({"keys":["b","a","b"],"limit":5,"from":2})").fields(),
                        SetKind::kXor, KeyForm::kText);
  ASSERT_TRUE(ids);
  EXPECT_EQ(ids->kind, SetKind::kXor);
  EXPECT_EQ(ids->keys, (std::vector<base::Bytes>{bytes("b"), bytes("a"), bytes("b")}));
  EXPECT_EQ(ids->page.limit, 5U);
  EXPECT_EQ(ids->page.from, Id{2});
  EXPECT_EQ(ids->wanted, Wanted::kIds);

  const auto counted = parse_set_request(parsed(R"({"keys":[""],"count_only":true})").fields(),
                                         SetKind::kOr, KeyForm::kText);
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->wanted, Wanted::kCount);
  const auto listed = parse_set_request(parsed(R"({"keys":[""],"count_only":false})").fields(),
                                        SetKind::kOr, KeyForm::kText);
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->wanted, Wanted::kIds);
}

TEST(ParseSetRequest, RefusesWhatIsNoListOfKeys) {
  struct Case {
    const char* line;
    const char* code;
  };
  const std::vector<Case> cases = {
      {R"({})", "bad_request"},
      {R"({"keys":[]})", "bad_request"},
      {R"({"keys":"a"})", "bad_request"},
      {R"({"keys":[1]})", "bad_request"},
      {R"({"keys":["61"],"count_only":1})", "bad_request"},
      {R"({"keys":["zz"]})", "bad_hex"},
  };
  for (const Case& row : cases) {
    const JsonLine line = parsed(row.line);
    EXPECT_EQ(code_of(parse_set_request(line.fields(), SetKind::kAnd, KeyForm::kHex)), row.code)
        << row.line;
  }
}

TEST(ParseTypedIds, RefusesAnythingButDigits) {
  EXPECT_EQ(parse_typed_ids({"1", "18446744073709551615"}), (std::vector<Id>{Id{1}, Id{kMost}}));
  for (const char* const typed : {"-1", "0x1", "", "1.0", "18446744073709551616"})
    EXPECT_EQ(code_of(parse_typed_ids({"1", typed})), "usage") << typed;
}

// B-16
TEST(ParseTable, HoldsSettingsToTheirRanges) {
  const auto plain = table("tags", std::nullopt, std::nullopt);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->config(), bitmap::Config());
  const auto full = table("tags", "65535", "1048560");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->config().shard_count, 65535U);
  EXPECT_EQ(full->config().segment_bytes_max, bitmap::kSegmentBytesMost);
  EXPECT_EQ(code_of(table("tags", "1", "1024")), "fine");
  for (const char* const shards : {"0", "65536", "-1", "x", ""})
    EXPECT_EQ(code_of(table("tags", shards, std::nullopt)), "usage") << shards;
  for (const char* const segment_bytes : {"0", "1023", "1048561", "4k"})
    EXPECT_EQ(code_of(table("tags", std::nullopt, segment_bytes)), "usage") << segment_bytes;
  EXPECT_EQ(code_of(table("\xff", std::nullopt, std::nullopt)), "usage");
}

}  // namespace
}  // namespace cadastre::cli
