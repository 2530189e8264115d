#include "cli/json_fields.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "cli/options.h"

namespace cadastre::cli {
namespace {

JsonLine line(std::string_view text) {
  auto parsed = JsonLine::parse(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return *std::move(parsed);
}

std::string code_of(std::string_view text) {
  const auto parsed = JsonLine::parse(text);
  return parsed ? "fine" : parsed.error().code;
}

std::string repeat(std::string_view part, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i)
    out += part;
  return out;
}

TEST(JsonLine, TellsJsonFromWhatIsNone) {
  struct Case {
    std::string_view text;
    std::string_view code;
  };
  const std::vector<Case> cases = {
      {"{}", "fine"},
      {" { \"a\" : 1 } \r", "fine"},
      {"", "not_json"},
      {"{", "not_json"},
      {"{} {}", "not_json"},
      {"{\"a\":NaN}", "not_json"},
      {"{\"a\":01}", "not_json"},
      {"{\"a\":\"\xff\"}", "not_json"},
      {"{\"a\":\"\\ud800\"}", "not_json"},
      {"{\"a\":1,}", "not_json"},
      {"5", "bad_request"},
      {"null", "bad_request"},
      {"\"x\"", "bad_request"},
      {"[{}]", "bad_request"},
      {"{\"a\":1e999}", "bad_request"},
      {"{\"a\":1e-999}", "fine"},
  };
  for (const auto& row : cases)
    EXPECT_EQ(code_of(row.text), row.code) << row.text;
}

TEST(JsonLine, RefusesDepthWithoutKeepingIt) {
  constexpr std::size_t kDepth = 300'000;
  EXPECT_EQ(code_of(repeat("[", kDepth)), "not_json");
  EXPECT_EQ(code_of(repeat("[", kDepth) + repeat("]", kDepth)), "bad_request");
  EXPECT_EQ(code_of(repeat("{\"a\":", kDepth) + "1" + repeat("}", kDepth)), "bad_request");
  EXPECT_EQ(code_of("{\"a\":" + repeat("[", 15) + repeat("]", 15) + "}"), "fine");
  EXPECT_EQ(code_of("{\"a\":" + repeat("[", 16) + repeat("]", 16) + "}"), "bad_request");
}

TEST(JsonFields, ReadAnIntegerAsNumberOrDigits) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  const auto parsed = line(
      R"({"zero":0,"max":18446744073709551615,"digits":"18446744073709551615","over":18446744073709551616,)"
      R"("over_digits":"18446744073709551616","minus":-1,"half":0.5,"whole":1.0,"empty":"","word":"x","no":null,"yes":true})");
  const JsonFields fields = parsed.fields();
  EXPECT_EQ(fields.u64("zero"), 0U);
  EXPECT_EQ(fields.u64("max"), kMax);
  EXPECT_EQ(fields.u64("digits"), kMax);
  for (const char* const name :
       {"over", "over_digits", "minus", "half", "whole", "empty", "word", "no", "yes", "absent"}) {
    const auto value = fields.u64(name);
    ASSERT_FALSE(value) << name;
    EXPECT_EQ(value.error().code, "bad_request") << name;
    EXPECT_NE(value.error().detail.find(name), std::string::npos) << name;
  }
}

TEST(JsonFields, ReadKeysInTheirForm) {
  const auto parsed = line(R"({"k":"6162","z":"zz","n":7})");
  const JsonFields fields = parsed.fields();
  EXPECT_EQ(base::to_hex(*fields.key("k", KeyForm::kText)), "36313632");
  EXPECT_EQ(base::to_hex(*fields.key("k", KeyForm::kHex)), "6162");
  EXPECT_EQ(base::to_hex(*fields.hex("k")), "6162");
  EXPECT_EQ(fields.hex("z").error().code, "bad_hex");
  EXPECT_EQ(fields.key("n", KeyForm::kText).error().detail, "the field \"n\" is not a string");
  EXPECT_EQ(fields.key("m", KeyForm::kText).error().detail, "the field \"m\" is missing");
}

TEST(JsonFields, ReadObjectsAndKnowWhatIsThere) {
  const auto parsed = line(R"({"hint":{"kind":"range"},"null":null,"list":[]})");
  const JsonFields fields = parsed.fields();
  EXPECT_EQ(fields.object("hint")->text("kind"), "range");
  EXPECT_EQ(fields.object("list").error().detail, "the field \"list\" is not an object");
  EXPECT_TRUE(fields.has("hint"));
  EXPECT_FALSE(fields.has("null"));
  EXPECT_FALSE(fields.has("absent"));
}

TEST(JsonFields, TakeTheLastOfTwoWithOneName) {
  const auto parsed = line(R"({"a":"first","a":"last"})");
  EXPECT_EQ(parsed.fields().text("a"), "last");
}

}  // namespace
}  // namespace cadastre::cli
