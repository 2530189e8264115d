#include "coord/cursor_rules.h"

#include <gtest/gtest.h>

#include "coord/errors.h"
#include "coord/held_shard_testing.h"
#include "coord/shard_record.h"
#include "shard/bytes_testing.h"

// The table over bounded shards is conformance case B9. A manifest has no others, so shards without a
// bound are asked about here.

namespace cadastre::coord {
namespace {

using shard::testing::operator""_b;
using testing::HeldShard;

// D-13, every row.
TEST(EmptyCompletion, IsTheStoredKeyElseTheStartElseTheLeastKey) {
  const auto bounded = ShardSpecRef::must_make("a"_b, "z"_b);
  const auto unbounded = ShardSpecRef::must_make(""_b, "z"_b);
  const auto initial = CursorUpdate::initial();
  EXPECT_EQ(empty_completion(bounded, initial), CursorUpdate::make("a"_b));
  EXPECT_EQ(empty_completion(unbounded, initial), CursorUpdate::make("\0"_b));
  EXPECT_EQ(empty_completion(bounded, CursorUpdate::make("d"_b)), CursorUpdate::make("d"_b));
  EXPECT_EQ(empty_completion(unbounded, CursorUpdate::make("d"_b)), CursorUpdate::make("d"_b));
}

TEST(EmptyCompletion, LeavesTheTokenBehind) {
  const auto spec = ShardSpecRef::must_make("a"_b, "z"_b);
  EXPECT_EQ(empty_completion(spec, CursorUpdate::make("d"_b, "tok"_b)), CursorUpdate::make("d"_b));
}

TEST(EmptyCompletion, IsAcceptedByTheRules) {
  for (const auto& spec :
       {ShardSpecRef::must_make("a"_b, "z"_b), ShardSpecRef::must_make(""_b, "z"_b),
        ShardSpecRef::must_make("a"_b, ""_b), ShardSpecRef::unbounded()}) {
    HeldShard shard;
    shard.set_spec(spec);
    const ShardRecordView record = shard.view();
    EXPECT_TRUE(check_cursor(record, empty_completion(record.spec, record.cursor)));
  }
}

TEST(CheckCursor, AMissingBoundBoundsNothing) {
  HeldShard shard;
  shard.set_spec(ShardSpecRef::must_make(""_b, "m"_b));
  EXPECT_TRUE(check_cursor(shard.view(), CursorUpdate::make("\0"_b)));
  EXPECT_EQ(check_cursor(shard.view(), CursorUpdate::make("m"_b)).error(),
            (CursorOutOfBounds{1, 0, 1}));
  shard.set_spec(ShardSpecRef::must_make("m"_b, ""_b));
  EXPECT_TRUE(check_cursor(shard.view(), CursorUpdate::make("\xff\xff"_b)));
  EXPECT_EQ(check_cursor(shard.view(), CursorUpdate::make("l"_b)).error(),
            (CursorOutOfBounds{1, 1, 0}));
}

}  // namespace
}  // namespace cadastre::coord
