#include "cli/json_text.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

namespace cadastre::cli {
namespace {

using std::string_view_literals::operator""sv;

std::string as_json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonString, EscapesWhatJsonForbids) {
  struct Case {
    std::string_view what;
    std::string_view text;
    std::string_view json;
  };
  const std::vector<Case> cases = {
      {"empty", ""sv, R"("")"sv},
      {"plain", "abc"sv, R"("abc")"sv},
      {"quotes and backslashes", R"(a"b\c)"sv, R"("a\"b\\c")"sv},
      {"an escape first and last", "\"a\""sv, R"("\"a\"")"sv},
      {"short escapes", "\b\f\n\r\t"sv, R"("\b\f\n\r\t")"sv},
      {"other controls", "\0\x01\x1f"sv, R"("\u0000\u0001\u001f")"sv},
      {"other text as it is", "é\x7f"sv, "\"é\x7f\""sv},
  };
  for (const auto& row : cases)
    EXPECT_EQ(as_json(row.text), row.json) << row.what;
}

TEST(JsonString, ReadsBackForEveryAsciiCharacter) {
  std::string all;
  for (int value = 0; value < 128; ++value)
    all += static_cast<char>(value);
  EXPECT_EQ(nlohmann::json::parse(as_json(all)).get<std::string>(), all);
}

TEST(JsonU64, IsANumberWhereEveryReaderHoldsItExactly) {
  struct Case {
    std::uint64_t value;
    std::string_view json;
  };
  const std::vector<Case> cases = {
      {0, "0"},
      {9007199254740991U, "9007199254740991"},
      {9007199254740992U, "\"9007199254740992\""},
      {std::numeric_limits<std::uint64_t>::max(), "\"18446744073709551615\""},
  };
  for (const auto& row : cases) {
    std::string out;
    append_json_u64(out, row.value);
    EXPECT_EQ(out, row.json);
  }
}

}  // namespace
}  // namespace cadastre::cli
