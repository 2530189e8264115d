#include "cli/key_text.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "cli/options.h"

namespace cadastre::cli {
namespace {

using std::string_view_literals::operator""sv;

// The bytes in hexadecimal, or the error's code.
std::string parsed(std::string_view typed, KeyForm form) {
  const auto key = parse_key(typed, form, "K");
  return key ? base::to_hex(*key) : key.error().code;
}

TEST(ParseKey, TakesTextOrHexadecimal) {
  EXPECT_EQ(parsed("", KeyForm::kText), "");
  EXPECT_EQ(parsed("6a", KeyForm::kText), "3661");
  EXPECT_EQ(parsed("é", KeyForm::kText), "c3a9");
  EXPECT_EQ(parsed("", KeyForm::kHex), "");
  EXPECT_EQ(parsed("6A", KeyForm::kHex), "6a");
}

TEST(ParseKey, RefusesWhatItsFormCannotHold) {
  EXPECT_EQ(parsed("\xff", KeyForm::kText), "not_utf8");
  EXPECT_EQ(parsed("6", KeyForm::kHex), "bad_hex");
  EXPECT_EQ(parsed("zz", KeyForm::kHex), "bad_hex");
  EXPECT_EQ(parsed("0x61", KeyForm::kHex), "bad_hex");
}

TEST(ParseKey, SaysWhichArgumentAndWhatToDo) {
  EXPECT_EQ(parse_key("\xff", KeyForm::kText, "A").error().detail,
            "A is not valid UTF-8: use --hex");
  EXPECT_EQ(parse_hex("z", "--extra").error().detail,
            "--extra is not hexadecimal: two digits for each byte");
}

TEST(ParseU64, TakesDigitsAndNothingElse) {
  struct Case {
    std::string_view digits;
    std::optional<std::uint64_t> value;
  };
  const std::vector<Case> cases = {
      {"0", 0},
      {"18446744073709551615", std::numeric_limits<std::uint64_t>::max()},
      {"18446744073709551616", std::nullopt},
      {"99999999999999999999999999", std::nullopt},
      {"", std::nullopt},
      {"+1", std::nullopt},
      {"-1", std::nullopt},
      {" 1", std::nullopt},
      {"1 ", std::nullopt},
      {"1x", std::nullopt},
      {"0x1", std::nullopt},
      {"1.0", std::nullopt},
  };
  for (const auto& row : cases)
    EXPECT_EQ(parse_u64(row.digits), row.value) << '"' << row.digits << '"';
}

TEST(VisibleText, ShowsEveryByteThatATerminalWouldSwallow) {
  EXPECT_EQ(visible_text("a\0b"sv), R"(a\x00b)");
  EXPECT_EQ(visible_text("é\x1b\x7f"), R"(é\x1b\x7f)");
  EXPECT_EQ(visible_text("a\\b"), R"(a\x5cb)");
  EXPECT_EQ(visible_text("\xff\xfe-\xc3"), R"(\xff\xfe-\xc3)");
  EXPECT_EQ(visible_text(""), "");
}

TEST(ColumnCount, CountsCodePoints) {
  EXPECT_EQ(column_count(""), 0U);
  EXPECT_EQ(column_count("abc"), 3U);
  EXPECT_EQ(column_count("éa€"), 3U);
}

}  // namespace
}  // namespace cadastre::cli
