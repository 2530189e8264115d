#include "shard/tuple_key.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "shard/hexrun_testing.h"
#include "shard/key_buf.h"
#include "shard/key_range.h"
#include "shard/limits.h"

namespace cadastre::shard {
namespace {

using Code = TupleError::Code;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::optional<TupleError> refusal(std::string_view encoded) {
  const auto verdict = validate_tuple(hex(encoded));
  if (verdict) return std::nullopt;
  return verdict.error();
}

// A tuple nested `depth` deep: depth 0 is flat.
std::string nested(std::size_t depth) {
  const std::string count = std::to_string(depth);
  return depth == 0 ? "14" : "(05*" + count + ")14(00*" + count + ")";
}

// 9.1 #73
TEST(TupleWriter, WritesEveryElementKind) {
  KeyBuf out;
  TupleWriter writer(out);
  writer.null().bytes(hex("6100")).text("b").integer(-1).float64(1.5).boolean(true);
  writer.begin_tuple().null().begin_tuple().end_tuple().end_tuple();
  EXPECT_TRUE(writer.ok());
  EXPECT_EQ(shown(out.view()),
            "00"
            "016100ff00"
            "026200"
            "13fe"
            "21bff8000000000000"
            "27"
            "05"
            "00ff"
            "0500"
            "00");
}

// 9.1 #73: the whole range of 65 bits, each value in its least width.
TEST(TupleWriter, WritesIntegersInTheirLeastWidth) {
  struct Case {
    TupleInteger value;
    std::string_view encoded;
  };
  const std::vector<Case> cases = {
      {{true, kMost}, "0c0000000000000000"},
      {{true, std::uint64_t{1} << 63}, "0c7fffffffffffffff"},
      {{true, 256}, "12feff"},
      {{true, 255}, "1300"},
      {{true, 1}, "13fe"},
      {{false, 0}, "14"},
      {{false, 1}, "1501"},
      {{false, 255}, "15ff"},
      {{false, 256}, "160100"},
      {{false, 65536}, "17010000"},
      {{false, std::uint64_t{1} << 56}, "1c0100000000000000"},
      {{false, kMost}, "1cffffffffffffffff"},
  };
  for (const auto& row : cases) {
    KeyBuf out;
    TupleWriter writer(out);
    EXPECT_TRUE(writer.integer(row.value).ok());
    EXPECT_EQ(shown(out.view()), row.encoded);
    TupleReader reader(out.view());
    const auto token = reader.next();
    ASSERT_TRUE(token.has_value());
    EXPECT_EQ(token->kind, TupleToken::Kind::kInteger);
    EXPECT_EQ(token->integer_value, row.value) << row.encoded;
  }
  EXPECT_EQ(TupleInteger::from(std::numeric_limits<std::int64_t>::min()),
            (TupleInteger{true, std::uint64_t{1} << 63}));
}

TEST(TupleWriter, NestsEightDeepAndNoDeeper) {
  KeyBuf out;
  TupleWriter writer(out);
  for (std::size_t i = 0; i < kTupleDepthMax; ++i)
    writer.begin_tuple();
  for (std::size_t i = 0; i < kTupleDepthMax; ++i)
    writer.end_tuple();
  EXPECT_TRUE(writer.ok());
  EXPECT_EQ(shown(out.view()), shown(hex("(05*8)(00*8)")));

  TupleWriter deeper(out);
  for (std::size_t i = 0; i < kTupleDepthMax + 1; ++i)
    deeper.begin_tuple();
  for (std::size_t i = 0; i < kTupleDepthMax + 1; ++i)
    deeper.end_tuple();
  EXPECT_FALSE(deeper.ok());
}

TEST(TupleWriter, IsNotDoneWithAnOpenTupleNorAfterAStrayEnd) {
  KeyBuf out;
  TupleWriter open(out);
  EXPECT_FALSE(open.begin_tuple().ok());
  EXPECT_TRUE(open.end_tuple().ok());
  EXPECT_FALSE(open.end_tuple().ok());
  EXPECT_FALSE(open.integer(1).ok());
}

TEST(TupleWriter, RefusesWhatDoesNotFit) {
  KeyBuf out;
  EXPECT_TRUE(TupleWriter(out).bytes(hex("(61*4095)")).ok());
  EXPECT_EQ(out.size(), kKeyBufCapacity);
  EXPECT_FALSE(TupleWriter(out).bytes(hex("(61*4096)")).ok());
  EXPECT_FALSE(TupleWriter(out).bytes(hex("(00*2048)")).ok());
}

TEST(TupleKey, LeavesTheBufferEmptyWhereItDoesNotFit) {
  const auto content = hex("(61*4096)");
  const std::array<TupleElement, 1> wide = {TupleElement::bytes(content)};
  KeyBuf out;
  out.assign(hex("61"));
  EXPECT_FALSE((TupleKey{wide}.try_encode_into(out)));
  EXPECT_TRUE(out.empty());

  std::array<TupleElement, 1> deep = {TupleElement::null()};
  std::vector<std::array<TupleElement, 1>> levels(kTupleDepthMax + 1);
  for (auto& level : levels) {
    level = deep;
    deep = {TupleElement::tuple(level)};
  }
  out.assign(hex("61"));
  EXPECT_FALSE((TupleKey{deep}.try_encode_into(out)));  // Nine deep.
  EXPECT_TRUE(out.empty());
  EXPECT_TRUE((TupleKey{levels.back()}.try_encode_into(out)));  // Eight.
  EXPECT_EQ(shown(out.view()), shown(hex("(05*8)00ff(00*8)")));
}

TEST(TupleKey, TheEmptyTupleIsTheEmptyString) {
  KeyBuf out;
  out.assign(hex("61"));
  EXPECT_TRUE(TupleKey{}.try_encode_into(out));
  EXPECT_TRUE(out.empty());
  EXPECT_TRUE(validate_tuple({}).has_value());
}

// 9.1 #73
TEST(TupleReader, RefusesWhatNoWriterWrites) {
  struct Case {
    std::string_view what;
    std::string_view encoded;
    Code code;
    std::uint64_t offset;
  };
  const std::vector<Case> cases = {
      {"a byte string without an end", "0161", Code::kTruncated, 0},
      {"a text without an end",
       "14"
       "02",
       Code::kTruncated, 1},
      {"a string that ends in an escape", "016100ff", Code::kTruncated, 0},
      {"a nested tuple without an end", "0514", Code::kTruncated, 2},
      {"a nested null without a tuple's end", "0500ff", Code::kTruncated, 3},
      {"an integer cut short", "1601", Code::kTruncated, 0},
      {"an integer without any bytes",
       "14"
       "1c",
       Code::kTruncated, 1},
      {"a float cut short", "2180000000000000", Code::kTruncated, 0},
      {"a zero in one byte", "1500", Code::kNonMinimalInteger, 0},
      {"a one in two bytes", "160001", Code::kNonMinimalInteger, 0},
      {"a minus one in two bytes", "12fffe", Code::kNonMinimalInteger, 0},
      {"a minus zero in one byte", "13ff", Code::kNonMinimalInteger, 0},
      {"a wide integer with a zero on top",
       "14"
       "1c00ffffffffffffff",
       Code::kNonMinimalInteger, 1},
      {"integers of nine bytes", "1d010203040506070809", Code::kUnknownCode, 0},
      {"negative ones, too", "0b010203040506070809", Code::kUnknownCode, 0},
      {"a float32", "2080000000", Code::kUnknownCode, 0},
      {"a reserved code", "03", Code::kUnknownCode, 0},
      {"garbage behind an element", "14ff", Code::kUnknownCode, 1},
      {"an escape that escapes nothing",
       "016100"
       "ff",
       Code::kTruncated, 0},
  };
  for (const auto& row : cases)
    EXPECT_EQ(refusal(row.encoded), (TupleError{row.code, row.offset})) << row.what;
}

TEST(TupleReader, RefusesEveryByteThatIsNoCode) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool known = byte <= 0x02 || byte == 0x05 || (byte >= 0x0c && byte <= 0x1c) ||
                       byte == 0x21 || byte == 0x26 || byte == 0x27;
    const base::Bytes one = {static_cast<std::byte>(byte)};
    const auto verdict = validate_tuple(one);
    const bool unknown = !verdict && verdict.error().code == Code::kUnknownCode;
    EXPECT_EQ(unknown, !known) << byte;
  }
}

TEST(TupleReader, NestsEightDeepAndNoDeeper) {
  EXPECT_EQ(refusal(nested(kTupleDepthMax)), std::nullopt);
  EXPECT_EQ(refusal(nested(kTupleDepthMax + 1)), (TupleError{Code::kTooDeep, 8}));
  EXPECT_EQ(refusal("(05*4000)"), (TupleError{Code::kTooDeep, 8}));
  EXPECT_EQ(refusal("050005000500"), std::nullopt);  // Side by side is not deep.
}

// The header's promise: after an error, or after the end, a reader is at its end.
TEST(TupleReader, IsAtItsEndAfterAnError) {
  for (const std::string_view encoded : {"ff1414", "15001414", "(05*9)14(00*9)", "0514", "1601"}) {
    const auto bytes = hex(encoded);
    TupleReader reader(bytes);
    auto token = reader.next();
    while (token && token->kind != TupleToken::Kind::kEnd)
      token = reader.next();
    ASSERT_FALSE(token.has_value()) << encoded;
    const auto after = reader.next();
    ASSERT_TRUE(after.has_value()) << encoded;
    EXPECT_EQ(after->kind, TupleToken::Kind::kEnd) << encoded;
  }
  TupleReader done(base::ByteView{});
  for (int i = 0; i < 2; ++i) {
    const auto token = done.next();
    ASSERT_TRUE(token.has_value());
    EXPECT_EQ(token->kind, TupleToken::Kind::kEnd);
  }
}

TEST(TupleReader, CountsItsDepth) {
  const auto bytes = hex("0505000000");
  TupleReader reader(bytes);
  std::vector<std::size_t> depths;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(reader.next().has_value());
    depths.push_back(reader.depth());
  }
  EXPECT_EQ(depths, (std::vector<std::size_t>{1, 2, 1, 0, 0}));
}

TEST(TupleContent, UnescapesAndRefusesWhatDoesNotFit) {
  KeyBuf out;
  EXPECT_TRUE(unescape_into(hex("6100ff6200ff"), out));
  EXPECT_EQ(shown(out.view()), "61006200");
  EXPECT_TRUE(unescape_into({}, out));
  EXPECT_TRUE(out.empty());
  EXPECT_FALSE(unescape_into(hex("(61*4098)"), out));
}

// 9.1 #73, section 2.5: the byte prefix would also catch the string that continues with a zero.
TEST(TupleChildren, AreExactlyTheTuplesThatContinue) {
  const auto content = hex("61");
  const std::array<TupleElement, 1> parent = {TupleElement::bytes(content)};
  TupleRangeScratch scratch;
  const auto range = tuple_children_range(TupleKey{parent}, scratch);
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(shown(range->start), "01610000");
  EXPECT_EQ(shown(range->end), "016100ff");
  EXPECT_FALSE(contains_key(*range, hex("016100")));            // the tuple itself
  EXPECT_TRUE(contains_key(*range, hex("01610000")));           // and null
  EXPECT_TRUE(contains_key(*range, hex("01610027")));           // and true
  EXPECT_FALSE(contains_key(*range, hex("016100ff00")));        // the bytes 6100
  EXPECT_FALSE(contains_key(*range, hex("016100ff00016200")));  // the bytes 6100, then more
  EXPECT_FALSE(contains_key(*range, hex("01616200")));          // the bytes 6162
}

TEST(TupleChildren, OfTheEmptyTupleAreAllTuples) {
  TupleRangeScratch scratch;
  const auto range = tuple_children_range(TupleKey{}, scratch);
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(shown(range->start), "00");
  EXPECT_EQ(shown(range->end), "ff");
}

TEST(TupleChildren, NeedRoomForOneMoreByte) {
  const auto fits = hex("(61*4093)");
  const auto full = hex("(61*4094)");
  const std::array<TupleElement, 1> narrow = {TupleElement::bytes(fits)};
  const std::array<TupleElement, 1> wide = {TupleElement::bytes(full)};
  TupleRangeScratch scratch;
  EXPECT_TRUE(tuple_children_range(TupleKey{narrow}, scratch).has_value());
  EXPECT_EQ(scratch.start.size(), kMaxKeySize);
  EXPECT_FALSE(tuple_children_range(TupleKey{wide}, scratch).has_value());
}

}  // namespace
}  // namespace cadastre::shard
