#include "shard/pooled.h"

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/byte_slab.h"
#include "base/bytes.h"
#include "shard/bytes_testing.h"
#include "shard/cursor.h"
#include "shard/limits.h"
#include "shard/shard_id.h"
#include "shard/shard_spec.h"

namespace cadastre::shard {
namespace {

using testing::operator""_b;
using testing::repeated;

TEST(PooledSpec, KeepsReplacesAndReleasesASpec) {
  base::ByteSlab slab(1024, 8);
  PooledSpec spec;
  EXPECT_TRUE(spec.view(slab).is_unbounded());
  ASSERT_TRUE(spec.update(slab, ShardSpecRef::must_make("a"_b, "b"_b, "m"_b)));
  ASSERT_TRUE(spec.update(slab, ShardSpecRef::must_make("c"_b, ""_b)));
  EXPECT_EQ(spec.view(slab), ShardSpecRef::must_make("c"_b, ""_b));
  EXPECT_EQ(slab.stats().live_count, 1U);
  spec.release(slab);
  spec.release(slab);
  EXPECT_EQ(slab.stats().live_count, 0U) << "a second release does nothing";
}

TEST(PooledSpec, KeepsTheOldValueWhenTheNewOneDoesNotFit) {
  base::ByteSlab slab(128, 8);
  PooledSpec spec;
  const auto old = ShardSpecRef::must_make("a"_b, "b"_b, "m"_b);
  ASSERT_TRUE(spec.update(slab, old));
  const auto before = slab.stats();
  const auto big = repeated('x', 100);
  EXPECT_FALSE(spec.update(slab, ShardSpecRef::must_make("c"_b, "d"_b, big)));
  EXPECT_EQ(spec.view(slab), old);
  EXPECT_EQ(slab.stats(), before);
  spec.release(slab);
}

TEST(PooledSpec, MovesAndLeavesTheSourceEmpty) {
  base::ByteSlab slab(256, 8);
  PooledSpec from;
  ASSERT_TRUE(from.update(slab, ShardSpecRef::must_make("a"_b, "b"_b)));
  PooledSpec to = std::move(from);
  // NOLINTNEXTLINE(bugprone-use-after-move,clang-analyzer-cplusplus.Move): emptiness is the point
  from.release(slab);
  EXPECT_EQ(base::as_text(to.view(slab).start()), "a");
  to.release(slab);
}

TEST(PooledCursor, TellsAbsentFromPresent) {
  base::ByteSlab slab(256, 8);
  PooledCursor cursor;
  EXPECT_EQ(cursor.view(slab), CursorUpdate::initial());
  ASSERT_TRUE(cursor.update(slab, CursorUpdate::make("k"_b, "t"_b)));
  EXPECT_EQ(cursor.view(slab), CursorUpdate::make("k"_b, "t"_b));
  ASSERT_TRUE(cursor.update(slab, CursorUpdate::make("k2"_b)));
  EXPECT_EQ(cursor.view(slab), CursorUpdate::make("k2"_b));
  ASSERT_TRUE(cursor.update(slab, CursorUpdate::initial()));
  EXPECT_EQ(cursor.view(slab), CursorUpdate::initial());
  EXPECT_EQ(slab.stats().live_count, 0U);
}

TEST(PooledSpec, SurvivesAnUpdateFromItsOwnBytes) {
  base::ByteSlab slab(256, 8);
  PooledSpec spec;
  ASSERT_TRUE(spec.update(slab, ShardSpecRef::must_make("a"_b, "z"_b, "m"_b)));
  const auto old = spec.view(slab);
  // The new end borrows the old start's bytes, which must not be overwritten first.
  ASSERT_TRUE(spec.update(slab, ShardSpecRef::must_make("A"_b, old.start(), old.end())));
  EXPECT_EQ(spec.view(slab), ShardSpecRef::must_make("A"_b, "a"_b, "z"_b));
  spec.release(slab);
}

// Section 12 of the coordination vectors: an update makes its new blocks before it frees the old.
TEST(PooledCursor, NeedsRoomForBothWhenATokenComes) {
  base::ByteSlab slab(32, 8);
  PooledCursor cursor;
  ASSERT_TRUE(cursor.update(slab, CursorUpdate::make("aaa"_b)));
  EXPECT_FALSE(cursor.update(slab, CursorUpdate::make("bbb"_b, "tok"_b)));
  EXPECT_EQ(cursor.view(slab), CursorUpdate::make("aaa"_b));
  ASSERT_TRUE(cursor.update(slab, CursorUpdate::make("bbb"_b))) << "the same block serves";
  EXPECT_EQ(cursor.view(slab), CursorUpdate::make("bbb"_b));
  cursor.release(slab);
}

TEST(PooledIdList, GrowsToItsLimitInOrder) {
  base::ByteSlab slab(64U << 10, 8);
  PooledIdList list;
  std::vector<ShardId> ids;
  ids.reserve(kMaxSpawnedPerShard / 2);
  for (std::uint64_t i = 0; i < kMaxSpawnedPerShard / 2; ++i)
    ids.push_back(ShardId::from_raw(kDerivedShardBit | i));
  ASSERT_TRUE(list.append(slab, ids));
  ASSERT_TRUE(list.append(slab, ids));
  EXPECT_EQ(list.size(), kMaxSpawnedPerShard);
  EXPECT_EQ(list.at(slab, 513).raw(), kDerivedShardBit | 1);
  list.release(slab);
  EXPECT_EQ(list.size(), 0U);
}

TEST(PooledIdListDeathTest, AbortsPastItsLimit) {
  base::ByteSlab slab(64U << 10, 8);
  PooledIdList list;
  const std::vector<ShardId> ids(kMaxSpawnedPerShard);
  ASSERT_TRUE(list.append(slab, ids));
  EXPECT_DEATH(std::ignore = list.append(slab, std::vector<ShardId>(1)),
               "the spawn limit is checked");
  EXPECT_DEATH((void)list.at(slab, 5000), "an index inside the list");
  list.release(slab);
}

}  // namespace
}  // namespace cadastre::shard
