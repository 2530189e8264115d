#include "base/bytes.h"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <ios>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace cadastre::base {
namespace {

using std::string_view_literals::operator""sv;

// 9.1 #75
TEST(BytesOrder, ComparesUnsignedWithTheShorterFirst) {
  struct Case {
    std::string_view what;
    std::string_view less;
    std::string_view greater;
  };
  const std::vector<Case> cases = {
      {"a signed char would put 80 before 7f", "\x7f"sv, "\x80"sv},
      {"and ff before 00", "\x00"sv, "\xff"sv},
      {"in the middle, too", "a\x7fz"sv, "a\x80"sv},
      {"a prefix is smaller", "ab"sv, "ab\0"sv},
      {"empty is smallest", ""sv, "\0"sv},
      {"the first difference decides, not the length", "azzz"sv, "b"sv},
  };
  for (const auto& row : cases) {
    const auto a = as_bytes(row.less);
    const auto b = as_bytes(row.greater);
    EXPECT_EQ(compare(a, b), std::strong_ordering::less) << row.what;
    EXPECT_EQ(compare(b, a), std::strong_ordering::greater) << row.what;
    EXPECT_EQ(compare(a, a), std::strong_ordering::equal) << row.what;
    EXPECT_TRUE(less(a, b)) << row.what;
    EXPECT_FALSE(less(b, a)) << row.what;
    EXPECT_FALSE(less(a, a)) << row.what;
    EXPECT_FALSE(equal(a, b)) << row.what;
    EXPECT_TRUE(equal(b, b)) << row.what;
  }
}

// 9.1 #75
TEST(BytesOrder, OrdersEveryPairOfSingleBytesByValue) {
  for (unsigned i = 0; i < 256; ++i) {
    for (unsigned j = 0; j < 256; ++j) {
      const std::array<std::byte, 1> a{static_cast<std::byte>(i)};
      const std::array<std::byte, 1> b{static_cast<std::byte>(j)};
      ASSERT_EQ(compare(a, b), i <=> j) << i << " and " << j;
    }
  }
}

// 9.1 #75
TEST(BytesOrder, ANullViewEqualsEveryEmptyView) {
  const ByteView null;
  const std::array<std::byte, 1> one{};
  const ByteView empty(one.data(), 0);
  ASSERT_EQ(null.data(), nullptr);
  EXPECT_TRUE(equal(null, empty));
  EXPECT_TRUE(equal(empty, null));
  EXPECT_TRUE(equal(null, null));
  EXPECT_EQ(compare(null, one), std::strong_ordering::less);
  EXPECT_EQ(compare(one, null), std::strong_ordering::greater);
  EXPECT_EQ(as_text(null), "");
  EXPECT_TRUE(to_owned(null).empty());
  EXPECT_EQ(to_hex(null), "");
  EXPECT_EQ(find_invalid_utf8(null), std::nullopt);
}

TEST(BytesOrder, IsTheSameInConstantEvaluation) {
  constexpr std::array<std::byte, 2> kLow{std::byte{0x7f}, std::byte{0xff}};
  constexpr std::array<std::byte, 2> kHigh{std::byte{0x80}, std::byte{0x00}};
  static_assert(less(kLow, kHigh) && !less(kHigh, kLow) && equal(kLow, kLow));
  static_assert(less(ByteView(kLow).first(1), kLow));
  EXPECT_TRUE(less(kLow, kHigh));
}

TEST(BytesOverlap, NeedsASharedByte) {
  const std::array<std::byte, 8> memory{};
  const ByteView all(memory);
  EXPECT_TRUE(overlaps(all, all));
  EXPECT_TRUE(overlaps(all.first(5), all.last(4)));
  EXPECT_TRUE(overlaps(all.subspan(2, 1), all));
  EXPECT_FALSE(overlaps(all.first(4), all.last(4)));
  EXPECT_FALSE(overlaps(all.last(4), all.first(4)));
  EXPECT_FALSE(overlaps(all.subspan(3, 0), all));
  EXPECT_FALSE(overlaps(ByteView(), ByteView()));
}

TEST(BytesViews, TextAndNumbersSeeTheSameMemory) {
  const std::string text = "a\xff";
  const std::vector<std::uint8_t> numbers{0x61, 0xff};
  EXPECT_TRUE(equal(as_bytes(text), as_bytes(numbers)));
  EXPECT_EQ(as_text(as_bytes(text)), text);
  EXPECT_EQ(as_text(as_bytes(text)).data(), text.data());
  const Bytes owned = to_owned(as_bytes(text));
  EXPECT_TRUE(equal(owned, as_bytes(text)));
  EXPECT_FALSE(overlaps(owned, as_bytes(text)));
}

TEST(Hex, WritesTwoLowerCaseDigitsForEachByte) {
  EXPECT_EQ(to_hex(as_bytes("\x00\x0f\xa0\xff"sv)), "000fa0ff");
  std::string out = "0x";
  append_hex(out, as_bytes("\x12"sv));
  append_hex(out, {});
  EXPECT_EQ(out, "0x12");
}

TEST(Hex, ReadsBackEveryByteInBothCases) {
  for (unsigned value = 0; value < 256; ++value) {
    const std::array<std::byte, 1> byte{static_cast<std::byte>(value)};
    EXPECT_EQ(from_hex(to_hex(byte)), to_owned(byte));
  }
  EXPECT_EQ(from_hex("aBcDeF"), from_hex("AbCdEf"));
  EXPECT_EQ(from_hex(""), Bytes{});
}

TEST(Hex, RefusesOddLengthsAndForeignCharacters) {
  for (const auto digits : {"0"sv, "000"sv, "0g"sv, "g0"sv, " 0"sv, "0x"sv, "@0"sv, "`0"sv, "/0"sv,
                            ":0"sv, "0\0"sv, "\xb0\x30"sv}) {
    EXPECT_EQ(from_hex(digits), std::nullopt) << digits;
  }
}

TEST(Utf8, FindsTheFirstByteThatIsNotWellFormed) {
  struct Case {
    std::string_view what;
    std::string_view text;
    std::optional<std::size_t> invalid;
  };
  const std::vector<Case> cases = {
      {"nothing", ""sv, std::nullopt},
      {"ASCII, NUL included", "a\0\x7f"sv, std::nullopt},
      {"the first of two bytes", "\xc2\x80"sv, std::nullopt},
      {"the last of two bytes", "\xdf\xbf"sv, std::nullopt},
      {"the first of three bytes", "\xe0\xa0\x80"sv, std::nullopt},
      {"the last before the surrogates", "\xed\x9f\xbf"sv, std::nullopt},
      {"the first behind them", "\xee\x80\x80"sv, std::nullopt},
      {"the last of three bytes", "\xef\xbf\xbf"sv, std::nullopt},
      {"the first of four bytes", "\xf0\x90\x80\x80"sv, std::nullopt},
      {"U+10FFFF", "\xf4\x8f\xbf\xbf"sv, std::nullopt},
      {"words", "naïve Ελλάδα 漢字 😀"sv, std::nullopt},
      {"overlong slash in two bytes", "a\xc0\xaf"sv, 1},
      {"overlong in two bytes, the largest", "\xc1\xbf"sv, 0},
      {"overlong in three bytes", "\xe0\x9f\xbf"sv, 0},
      {"overlong in four bytes", "\xf0\x8f\xbf\xbf"sv, 0},
      {"the first surrogate", "\xed\xa0\x80"sv, 0},
      {"the last surrogate", "ab\xed\xbf\xbf"sv, 2},
      {"above U+10FFFF", "\xf4\x90\x80\x80"sv, 0},
      {"a lead byte that is never used", "\xf5\x80\x80\x80"sv, 0},
      {"the byte ff", "ok\xff"sv, 2},
      {"a continuation without a lead", "\x80"sv, 0},
      {"two bytes, cut", "\xc2"sv, 0},
      {"three bytes, cut after two", "x\xe2\x82"sv, 1},
      {"four bytes, cut after three", "\xf0\x90\x80"sv, 0},
      {"ASCII in place of the second byte", "\xc2z"sv, 0},
      {"ASCII in place of the third byte", "\xe2\x82z"sv, 0},
      {"a lead in place of the fourth byte", "\xf0\x90\x80\xc2"sv, 0},
      {"good characters before a bad one", "é\xc2\x80\x80"sv, 4},
  };
  for (const auto& row : cases) {
    EXPECT_EQ(find_invalid_utf8(as_bytes(row.text)), row.invalid) << row.what;
  }
}

// Encodes a number as UTF-8 would, without asking whether it may.
std::string encode(std::uint32_t scalar) {
  const auto tail = [&](int shift) {
    return static_cast<char>(0x80 | ((scalar >> shift) & 0x3f));
  };
  if (scalar < 0x80) return {static_cast<char>(scalar)};
  if (scalar < 0x800) return {static_cast<char>(0xc0 | (scalar >> 6)), tail(0)};
  if (scalar < 0x10000) return {static_cast<char>(0xe0 | (scalar >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | (scalar >> 18)), tail(12), tail(6), tail(0)};
}

TEST(Utf8, TakesExactlyTheScalarValues) {
  for (std::uint32_t scalar = 0; scalar < 0x120000; ++scalar) {
    const bool legal = scalar < 0xd800 || (scalar > 0xdfff && scalar <= 0x10ffff);
    ASSERT_EQ(!find_invalid_utf8(as_bytes(encode(scalar))), legal) << std::hex << scalar;
  }
}

}  // namespace
}  // namespace cadastre::base
