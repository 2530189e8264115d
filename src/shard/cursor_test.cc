#include "shard/cursor.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "shard/bytes_testing.h"
#include "shard/error_text_testing.h"
#include "shard/limits.h"
#include "shard/shard_spec.h"

namespace cadastre::shard {
namespace {

using testing::operator""_b;
using testing::repeated;

TEST(CursorUpdate, HasNoTokenWithoutAKeyAndNoEmptyToken) {
  EXPECT_FALSE(CursorUpdate::initial().last_key());
  EXPECT_FALSE(CursorUpdate::initial().token());
  const auto bare = CursorUpdate::make("k"_b);
  EXPECT_EQ(base::as_text(*bare.last_key()), "k");
  EXPECT_FALSE(bare.token());
  EXPECT_FALSE(CursorUpdate::make("k"_b, ""_b).token()) << "an empty token is an absent one";
  EXPECT_EQ(base::as_text(*CursorUpdate::make("k"_b, "t"_b).token()), "t");
}

TEST(CursorUpdate, RefusesInTheOrderKeyEmptyKeySizeTokenSize) {
  const auto big_key = repeated('k', kMaxKeySize + 1);
  const auto big_token = repeated('t', kMaxTokenSize + 1);
  using Code = CursorError::Code;
  EXPECT_EQ(CursorUpdate::try_make({}, big_token).error(),
            (CursorError{Code::kEmptyLastKey, 0, 0}));
  EXPECT_EQ(CursorUpdate::try_make(big_key, big_token).error(),
            (CursorError{Code::kKeyTooLarge, 4097, 4096}));
  EXPECT_EQ(CursorUpdate::try_make("k"_b, big_token).error(),
            (CursorError{Code::kTokenTooLarge, 16385, 16384}));
  const auto key = repeated('k', kMaxKeySize);
  const auto token = repeated('t', kMaxTokenSize);
  EXPECT_TRUE(CursorUpdate::try_make(key, token));
  EXPECT_EQ(text_of(CursorUpdate::try_make(big_key).error()),
            "cursor key of 4097 bytes exceeds the limit of 4096");
}

TEST(CursorUpdate, ComparesByContent) {
  const auto other_k = base::to_owned("k"_b);
  EXPECT_EQ(CursorUpdate::make("k"_b, "t"_b), CursorUpdate::make(other_k, "t"_b));
  EXPECT_FALSE(CursorUpdate::make("k"_b) == CursorUpdate::make("k"_b, "t"_b));
  EXPECT_FALSE(CursorUpdate::initial() == CursorUpdate::make("k"_b));
}

TEST(CursorUpdateDeathTest, AbortsOnAnEmptyKeyFromATrustedCaller) {
  EXPECT_DEATH((void)CursorUpdate::make({}), "last key is not empty");
}

TEST(CursorSemantics, ParsesItsStoredValuesOnly) {
  EXPECT_EQ(parse_cursor_semantics(0), CursorSemantics::kCompleted);
  EXPECT_EQ(parse_cursor_semantics(1), CursorSemantics::kDispatched);
  EXPECT_EQ(parse_cursor_semantics(2), std::nullopt);
  EXPECT_EQ(parse_cursor_semantics(255), std::nullopt);
}

struct AdvanceCase {
  std::string_view what;
  CursorUpdate before;
  CursorUpdate after;
  CursorAdvance verdict;
};

TEST(CheckCursorAdvance, JudgesByKeysAlone) {
  const auto none = CursorUpdate::initial();
  const std::vector<AdvanceCase> cases = {
      {"a first key is forward", none, CursorUpdate::make("a"_b), CursorAdvance::kForward},
      {"nothing after nothing is forward", none, none, CursorAdvance::kForward},
      {"losing the key is a reset", CursorUpdate::make("a"_b), none, CursorAdvance::kResetToNone},
      {"the same key is a retry", CursorUpdate::make("a"_b), CursorUpdate::make("a"_b, "t"_b),
       CursorAdvance::kForward},
      {"a longer key is forward", CursorUpdate::make("a"_b), CursorUpdate::make("a\0"_b),
       CursorAdvance::kForward},
      {"80 comes after 7f", CursorUpdate::make("\x7f"_b), CursorUpdate::make("\x80"_b),
       CursorAdvance::kForward},
      {"a smaller key is a regression", CursorUpdate::make("b"_b), CursorUpdate::make("a"_b),
       CursorAdvance::kRegression},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(check_cursor_advance(one.before, one.after), one.verdict) << one.what;
  }
}

// 9.1 #67 for the corners; the property is in planning_prop_test.cc.
TEST(CheckCursorBounds, IsInBoundsExactlyWhereTheSpecContainsTheKey) {
  const auto spec = ShardSpecRef::must_make("b"_b, "d"_b);
  EXPECT_EQ(check_cursor_bounds(CursorUpdate::initial(), spec), CursorBounds::kNoKey);
  EXPECT_EQ(check_cursor_bounds(CursorUpdate::make("a"_b), spec), CursorBounds::kBelowRange);
  EXPECT_EQ(check_cursor_bounds(CursorUpdate::make("b"_b), spec), CursorBounds::kInBounds);
  EXPECT_EQ(check_cursor_bounds(CursorUpdate::make("c\xff"_b), spec), CursorBounds::kInBounds);
  EXPECT_EQ(check_cursor_bounds(CursorUpdate::make("d"_b), spec), CursorBounds::kAboveRange);
  const auto open = ShardSpecRef::must_make("b"_b, ""_b);
  EXPECT_EQ(check_cursor_bounds(CursorUpdate::make("zzz"_b), open), CursorBounds::kInBounds);
}

TEST(RestoredShardState, OwnsWhatAWorkerNeeds) {
  auto key = base::to_owned("k"_b);
  const RestoredShardState state(*ShardSpec::try_from(ShardSpecRef::must_make("a"_b, "z"_b)),
                                 CursorUpdate::make(key, "t"_b), CursorSemantics::kDispatched);
  key[0] = std::byte{'x'};
  EXPECT_EQ(state.cursor(), CursorUpdate::make("k"_b, "t"_b));
  EXPECT_EQ(base::as_text(state.spec().start()), "a");
  EXPECT_EQ(state.semantics(), CursorSemantics::kDispatched);
  const RestoredShardState fresh(ShardSpec(), CursorUpdate::initial(), CursorSemantics::kCompleted);
  EXPECT_EQ(fresh.cursor(), CursorUpdate::initial());
}

}  // namespace
}  // namespace cadastre::shard
