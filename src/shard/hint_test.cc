#include "shard/hint.h"

#include <array>
#include <concepts>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "shard/error_text_testing.h"
#include "shard/hexrun_testing.h"
#include "shard/key_buf.h"
#include "shard/limits.h"
#include "shard/shard_spec.h"

namespace cadastre::shard {
namespace {

using EncodeCode = HintEncodeError::Code;
using DecodeCode = HintDecodeError::Code;
using Reason = MetadataDecodeError::Reason;
using RangeCode = HintRangeError::Code;

// A view of that many bytes which nobody may read.
base::ByteView unreadable(std::size_t size) {
  static constexpr std::array<std::byte, 1> kOne{};
  return {kOne.data(), size};
}

TEST(ShardHint, ComparesPrefixesByContent) {
  const auto a = hex("7372632f");
  const auto b = hex("7372632f");
  EXPECT_TRUE(ShardHint::prefix(a) == ShardHint::prefix(b));
  EXPECT_FALSE(ShardHint::prefix(a) == ShardHint::prefix(hex("737263")));
  EXPECT_FALSE(ShardHint::prefix({}) == ShardHint::range());
  EXPECT_TRUE(ShardHint::manifest({1, 2, 3}) == ShardHint::manifest({1, 2, 3}));
  EXPECT_FALSE(ShardHint::manifest({1, 2, 3}) == ShardHint::manifest({1, 2, 4}));
  EXPECT_TRUE(ShardHint() == ShardHint::range());
}

TEST(ShardHintDeathTest, AbortsWhenAskedForWhatItIsNot) {
  EXPECT_EXIT((void)ShardHint::range().prefix_bytes(), testing::KilledBySignal(SIGABRT), "prefix");
  EXPECT_EXIT((void)ShardHint::prefix({}).manifest_rows(), testing::KilledBySignal(SIGABRT),
              "rows");
}

// Section 5.3, row by row: the hint's refusals come before the envelope's.
TEST(HintEncoding, RefusesInTheOrderOfTheTable) {
  struct Case {
    std::string_view what;
    ShardMetadata metadata;
    HintEncodeError error;
  };
  const auto too_long = hex("(70*16380)");
  const auto extra = hex("(ab*20000)");
  constexpr std::uint64_t kFourGiB = std::uint64_t{1} << 32;
  const std::vector<Case> cases = {
      {"inverted rows before the envelope's size",
       {ShardHint::manifest({9, 2, 1}), extra},
       {EncodeCode::kInvertedManifestRows, 2, 1}},
      {"equal rows are inverted",
       {ShardHint::manifest({9, 5, 5}), {}},
       {EncodeCode::kInvertedManifestRows, 5, 5}},
      {"a prefix that the wire cannot count, before the hint's size",
       {ShardHint::prefix(unreadable(kFourGiB)), extra},
       {EncodeCode::kPrefixTooLarge, kFourGiB, kFourGiB - 1}},
      {"a hint above the limit, before the envelope's size",
       {ShardHint::prefix(too_long), extra},
       {EncodeCode::kHintTooLarge, 16385, 16384}},
      {"the largest prefix that the wire can count is a hint too large",
       {ShardHint::prefix(unreadable(kFourGiB - 1)), {}},
       {EncodeCode::kHintTooLarge, kFourGiB + 4, 16384}},
      {"the envelope's size last",
       {ShardHint::range(), extra},
       {EncodeCode::kMetadataTooLarge, 20005, 16384}},
      {"a size that does not wrap",
       {ShardHint::range(), unreadable(std::numeric_limits<std::size_t>::max())},
       {EncodeCode::kMetadataTooLarge, std::numeric_limits<std::size_t>::max(), 16384}},
  };
  for (const auto& row : cases) {
    MetadataBuf out;
    const auto size = encoded_size(row.metadata);
    ASSERT_FALSE(size.has_value()) << row.what;
    EXPECT_EQ(size.error(), row.error) << row.what;
    const auto bytes = encode_into(row.metadata, out);
    ASSERT_FALSE(bytes.has_value()) << row.what;
    EXPECT_EQ(bytes.error(), row.error) << row.what;
  }
}

TEST(HintEncoding, LeavesTheBufferAsItWasOnAnError) {
  MetadataBuf out;
  out.assign(hex("616263"));
  const auto extra = hex("(ab*16380)");
  EXPECT_FALSE(encode_into(ShardHint::manifest({1, 2, 2}), out).has_value());
  EXPECT_FALSE(encode_into(ShardMetadata{ShardHint::range(), extra}, out).has_value());
  EXPECT_FALSE(encode_into(ShardHint::prefix(unreadable(16380)), out).has_value());
  EXPECT_EQ(shown(out.view()), "616263");
}

TEST(HintEncoding, FillsTheBufferToItsLastByte) {
  MetadataBuf out;
  const auto prefix = hex("(70*4096)");
  const auto extra = hex("(ab*12279)");
  const auto bytes = encode_into(ShardMetadata{ShardHint::prefix(prefix), extra}, out);
  ASSERT_TRUE(bytes.has_value());
  EXPECT_EQ(bytes->size(), kMaxMetadataSize);
}

TEST(HintEncodingDeathTest, AbortsWhereItsSourcesOverlapTheBuffer) {
  MetadataBuf out;
  out.assign(hex("6162636465"));
  const auto aborts = testing::KilledBySignal(SIGABRT);
  const base::ByteView inside = out.view().subspan(1, 2);
  EXPECT_EXIT(std::ignore = encode_into(ShardHint::prefix(inside), out), aborts, "overlap");
  EXPECT_EXIT(std::ignore = encode_into(ShardMetadata{ShardHint::prefix(inside), {}}, out), aborts,
              "overlap");
  EXPECT_EXIT(std::ignore = encode_into(ShardMetadata{ShardHint::range(), inside}, out), aborts,
              "overlap");
}

// 9.1 #26
TEST(HintDecoding, HandsOutViewsOfTheInput) {
  const auto bytes = hex("01000000020102feed");
  const auto decoded = decode_hint_frame(bytes);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->consumed, 7U);
  EXPECT_EQ(decoded->hint.prefix_bytes().data(), bytes.data() + 5);
}

// 9.1 #28
TEST(MetadataDecoding, ReadsNoBytesAsAnAbsentEnvelopeWhichIsNeverWritten) {
  const auto absent = decode_metadata_bytes({});
  ASSERT_TRUE(absent.has_value());
  EXPECT_TRUE(absent->hint == ShardHint::range());
  EXPECT_TRUE(absent->connector_extra.empty());
  MetadataBuf out;
  EXPECT_EQ(shown(*encode_into(*absent, out)), "0000000100");
}

// Section 5.4: framing is judged here, meaning is not.
TEST(MetadataDecoding, JudgesNeitherThePrefixNorTheLimit) {
  for (const std::string_view frame : {"000000050100000000", "000000070100000002ffff",
                                       "0000200501"
                                       "00002000"
                                       "(70*8192)"}) {
    EXPECT_TRUE(decode_metadata_bytes(hex(frame)).has_value()) << frame.substr(0, 24);
  }
  EXPECT_TRUE(decode_metadata_bytes(hex("0000000100(ab*20000)")).has_value());
}

// 9.1 #38
TEST(SpecMetadata, HelpersPassEnvelopeErrorsThrough) {
  struct Case {
    std::string_view metadata;
    MetadataDecodeError error;
  };
  const std::vector<Case> cases = {
      {"0000", {Reason::kShortLengthPrefix, {}}},
      {"00000002", {Reason::kLengthExceedsInput, {}}},
      {"0000000200ab", {Reason::kTrailingHintBytes, {}}},
      {"00000001ff", {Reason::kHint, HintDecodeError{DecodeCode::kUnknownTag, 255, 0}}},
  };
  for (const auto& row : cases) {
    const auto bytes = hex(row.metadata);
    const auto spec = ShardSpecRef::unchecked({}, {}, bytes);
    ASSERT_FALSE(decode_metadata(spec).has_value()) << row.metadata;
    EXPECT_EQ(decode_metadata(spec).error(), row.error) << row.metadata;
    EXPECT_EQ(decode_hint(spec).error(), row.error) << row.metadata;
    EXPECT_EQ(decode_connector_extra(spec).error(), row.error) << row.metadata;
    const auto matched = check_hint_matches_range(spec);
    ASSERT_FALSE(matched.has_value()) << row.metadata;
    EXPECT_EQ(matched.error(), (HintRangeError{RangeCode::kMetadataUndecodable, row.error}));
  }
}

// Section 5.4
TEST(HintAndRange, MatchOrSayWhereNot) {
  struct Case {
    std::string_view what;
    ShardHint hint;
    std::string_view start;
    std::string_view end;
    std::string_view code;  // empty: they match
  };
  const auto src = hex("7372632f");
  const auto all_max = hex("ffff");
  const ShardHint rows = ShardHint::manifest({7, 1, 2});
  const std::string_view row_1 = "00000000000000070000000000000001";
  const std::string_view row_2 = "00000000000000070000000000000002";
  const std::string_view other = "00000000000000080000000000000002";
  const std::vector<Case> cases = {
      {"a range says nothing", ShardHint::range(), "61", "", ""},
      {"the prefix's range", ShardHint::prefix(src), "7372632f", "73726330", ""},
      {"another start", ShardHint::prefix(src), "7372632f00", "73726330", "hint_start_mismatch"},
      {"another end", ShardHint::prefix(src), "7372632f", "7372632f7a", "hint_end_mismatch"},
      {"an open end", ShardHint::prefix(src), "7372632f", "", "hint_end_mismatch"},
      {"nothing above", ShardHint::prefix(all_max), "ffff", "", "hint_prefix_unbounded"},
      {"the rows' keys", rows, row_1, row_2, ""},
      {"a start that is no row key", rows, "61", row_2, "hint_start_mismatch"},
      {"another row", rows, row_2, row_2, "hint_start_mismatch"},
      {"another manifest", rows, row_1, other, "hint_end_mismatch"},
      {"open rows", rows, row_1, "", "hint_end_mismatch"},
  };
  for (const auto& row : cases) {
    MetadataBuf metadata;
    ASSERT_TRUE(encode_into(ShardMetadata{row.hint, {}}, metadata).has_value());
    const auto start = hex(row.start);
    const auto end = hex(row.end);
    const auto matched =
        check_hint_matches_range(ShardSpecRef::unchecked(start, end, metadata.view()));
    EXPECT_EQ(matched ? std::string_view{} : code_name(matched.error()), row.code) << row.what;
  }
}

// 9.1 #19: numbers, and only numbers.
TEST(HintErrors, TellTheirNumbers) {
  EXPECT_EQ(text_of(HintEncodeError{EncodeCode::kInvertedManifestRows, 22, 10}),
            "start row 22 is not below end row 10");
  const std::vector<std::string> texts = {
      text_of(HintEncodeError{EncodeCode::kPrefixTooLarge, 123, 456}),
      text_of(HintEncodeError{EncodeCode::kHintTooLarge, 123, 456}),
      text_of(HintEncodeError{EncodeCode::kMetadataTooLarge, 123, 456}),
      text_of(HintDecodeError{DecodeCode::kTruncatedPrefix, 123, 456}),
      text_of(HintDecodeError{DecodeCode::kTruncatedManifest, 123, 456}),
      text_of(HintDecodeError{DecodeCode::kInvertedManifestRows, 123, 456}),
  };
  for (const std::string& text : texts) {
    EXPECT_NE(text.find("123"), std::string::npos) << text;
    EXPECT_NE(text.find("456"), std::string::npos) << text;
  }
  EXPECT_EQ(text_of(HintDecodeError{DecodeCode::kUnknownTag, 255, 0}), "unknown hint tag 255");
}

TEST(HintErrors, AreCutWhereTheBufferEnds) {
  std::array<char, 8> buffer{};
  const HintEncodeError error{EncodeCode::kHintTooLarge, 16385, 16384};
  char* const end = format_to(buffer.data(), buffer.data() + 4, error);
  EXPECT_EQ(std::string(buffer.data(), end), "hint");
  EXPECT_EQ(buffer[4], '\0');
  EXPECT_EQ(format_to(buffer.data(), buffer.data(), error), buffer.data());
}

// 9.1 #20
TEST(HintErrors, CarryTheInnerOneInTheirText) {
  const HintDecodeError inner{DecodeCode::kTruncatedPrefix, 8, 6};
  const MetadataDecodeError metadata{Reason::kHint, inner};
  const HintRangeError outer{RangeCode::kMetadataUndecodable, metadata};
  EXPECT_NE(text_of(metadata).find(text_of(inner)), std::string::npos);
  EXPECT_NE(text_of(outer).find(text_of(metadata)), std::string::npos);
  EXPECT_EQ(code_name(metadata), "truncated_prefix");
  EXPECT_EQ(code_name(outer), "truncated_prefix");
}

template <class E>
constexpr bool kPlainError = std::is_trivially_copyable_v<E> && std::equality_comparable<E>;
static_assert(kPlainError<HintEncodeError> && kPlainError<HintDecodeError>);
static_assert(kPlainError<MetadataDecodeError> && kPlainError<HintRangeError>);

}  // namespace
}  // namespace cadastre::shard
