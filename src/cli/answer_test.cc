#include "cli/answer.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "cli/options.h"
#include "shard/hint.h"

namespace cadastre::cli {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
constexpr Form kJsonText{Format::kJson, KeyForm::kText};
constexpr Form kJsonHex{Format::kJson, KeyForm::kHex};
constexpr Form kHumanText{Format::kHuman, KeyForm::kText};

TEST(KeyAnswer, IsAKeyOrNone) {
  EXPECT_EQ(key_answer(std::nullopt, kJsonText), R"({"key":null})");
  EXPECT_EQ(key_answer(std::nullopt, kHumanText), "none");
  EXPECT_EQ(key_answer(base::as_bytes("a\"b"), kJsonText), R"({"key":"a\"b"})");
  EXPECT_EQ(key_answer(base::as_bytes("a\"b"), kJsonHex), R"({"key":"612262"})");
  EXPECT_EQ(key_answer(base::as_bytes("a\n"), kHumanText), R"(a\x0a)");
}

TEST(KeyAnswer, AsksForHexadecimalWhereTextCannotHoldTheKey) {
  const auto answer = key_answer(base::as_bytes("\xff"), kJsonText);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, "not_utf8");
  EXPECT_NE(answer.error().detail.find("--hex"), std::string::npos);
  EXPECT_EQ(key_answer(base::as_bytes("\xff"), kJsonHex), R"({"key":"ff"})");
}

TEST(RowAnswer, WritesLargeNumbersAsDigits) {
  EXPECT_EQ(row_answer({1, kMax}, Format::kJson), R"({"manifest":1,"row":"18446744073709551615"})");
  EXPECT_EQ(row_answer({1, kMax}, Format::kHuman), "manifest 1, row 18446744073709551615");
}

TEST(HintAnswer, HasEachKind) {
  const auto prefix = shard::ShardHint::prefix(base::as_bytes("ab"));
  const auto manifest = shard::ShardHint::manifest({7, 0, kMax});
  EXPECT_EQ(hint_answer(shard::ShardHint::range(), Format::kJson), R"({"hint":{"kind":"range"}})");
  EXPECT_EQ(hint_answer(prefix, Format::kJson), R"({"hint":{"kind":"prefix","prefix":"6162"}})");
  EXPECT_EQ(
      hint_answer(manifest, Format::kJson),
      R"({"hint":{"kind":"manifest","manifest":7,"start_row":0,"end_row":"18446744073709551615"}})");
  EXPECT_EQ(hint_answer(prefix, Format::kHuman), "prefix 6162");
}

TEST(DecodedAnswer, HasTheConnectorsBytes) {
  const shard::ShardMetadata metadata{shard::ShardHint::range(), base::as_bytes("\x01")};
  EXPECT_EQ(decoded_answer(metadata, Format::kJson), R"({"hint":{"kind":"range"},"extra":"01"})");
  EXPECT_EQ(decoded_answer({}, Format::kJson), R"({"hint":{"kind":"range"},"extra":""})");
  EXPECT_EQ(decoded_answer({}, Format::kHuman), "hint   range\nextra  none");
}

TEST(ValidAnswer, Counts) {
  EXPECT_EQ(valid_answer(2, Format::kJson), R"({"valid":true,"shards":2})");
  EXPECT_EQ(valid_answer(1, Format::kHuman), "a valid manifest of 1 shard");
}

}  // namespace
}  // namespace cadastre::cli
