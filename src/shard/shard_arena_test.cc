#include "shard/shard_arena.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "shard/bytes_testing.h"
#include "shard/error_text_testing.h"
#include "shard/shard_spec.h"
#include "shard/view_guard.h"

namespace cadastre::shard {
namespace {

using testing::operator""_b;
using testing::repeated;

TEST(ShardArena, KeepsACopyOfAllThreeFields) {
  ShardArena arena(4, 1024);
  base::Bytes start = base::to_owned("apple"_b);
  const auto handle = arena.alloc(ShardSpecRef::must_make(start, "banana"_b, "meta"_b));
  ASSERT_TRUE(handle);
  start[0] = std::byte{'z'};
  EXPECT_EQ(arena.view(*handle), ShardSpecRef::must_make("apple"_b, "banana"_b, "meta"_b));
  EXPECT_EQ(arena.live_specs(), 1U);
  EXPECT_EQ(arena.free_slots(), 3U);
}

TEST(ShardArena, HandsOutTheLowestSlotFirstAndTheLastFreedNext) {
  ShardArena arena(3, 256);
  const auto a = *arena.alloc(ShardSpecRef::unbounded());
  const auto b = *arena.alloc(ShardSpecRef::unbounded());
  EXPECT_EQ(a.slot, 0U);
  EXPECT_EQ(b.slot, 1U);
  EXPECT_TRUE(arena.free(a));
  EXPECT_TRUE(arena.free(b));
  EXPECT_EQ(arena.alloc(ShardSpecRef::unbounded())->slot, 1U);
  arena.clear();
  EXPECT_EQ(arena.alloc(ShardSpecRef::unbounded())->slot, 0U);
}

TEST(ShardArena, SpendsNoBytesOnEmptyFields) {
  ShardArena arena(1, 16);
  EXPECT_TRUE(arena.alloc(ShardSpecRef::unbounded()));
  EXPECT_EQ(arena.slab_stats().live_bytes, 0U);
}

// 9.1 #70
TEST(ShardArena, RefusesStaleForeignFreedAndDefaultHandles) {
  ShardArena arena(2, 256);
  ShardArena other(2, 256);
  const auto spec = ShardSpecRef::must_make("a"_b, "b"_b);
  const auto handle = *arena.alloc(spec);
  const auto foreign = *other.alloc(spec);

  EXPECT_FALSE(arena.try_view(foreign));
  EXPECT_FALSE(arena.free(foreign));
  EXPECT_FALSE(arena.try_view(ShardSpecHandle{}));
  EXPECT_FALSE(arena.free(ShardSpecHandle{}));
  EXPECT_FALSE(arena.try_view({99, handle.generation, handle.arena_id}));

  EXPECT_TRUE(arena.free(handle));
  EXPECT_FALSE(arena.free(handle)) << "a second free is ignored";
  EXPECT_FALSE(arena.try_view(handle));
  const auto reused = *arena.alloc(spec);
  EXPECT_EQ(reused.slot, handle.slot);
  EXPECT_FALSE(arena.try_view(handle)) << "the slot lives again under another generation";
  EXPECT_FALSE(arena.free(handle));
  EXPECT_TRUE(arena.try_view(reused));
}

// 9.1 #70
TEST(ShardArena, ClearMakesEveryHandleStaleFreeSlotsIncluded) {
  ShardArena arena(2, 256);
  const auto spec = ShardSpecRef::must_make("a"_b, "b"_b);
  const auto first = *arena.alloc(spec);
  const auto second = *arena.alloc(spec);
  EXPECT_TRUE(arena.free(second));
  arena.clear();
  EXPECT_EQ(arena.live_specs(), 0U);
  EXPECT_EQ(arena.free_slots(), 2U);
  EXPECT_EQ(arena.slab_stats().live_bytes, 0U);
  EXPECT_FALSE(arena.try_view(first));
  EXPECT_EQ(arena.alloc(spec)->generation, first.generation + 1);
  EXPECT_EQ(arena.alloc(spec)->generation, second.generation + 2);
}

TEST(ShardArena, SaysWhichResourceRanOut) {
  ShardArena slots(1, 1024);
  ASSERT_TRUE(slots.alloc(ShardSpecRef::unbounded()));
  const auto no_slot = slots.alloc(ShardSpecRef::unbounded());
  ASSERT_FALSE(no_slot);
  EXPECT_EQ(no_slot.error(), (ArenaFull{ArenaFull::Resource::kSlots, 1, 0}));
  EXPECT_EQ(text_of(no_slot.error()), "the arena is out of slots: 1 requested, 0 available");

  ShardArena bytes(4, 40);
  const auto no_bytes = bytes.alloc(ShardSpecRef::must_make("a"_b, repeated('b', 33)));
  ASSERT_FALSE(no_bytes);
  EXPECT_EQ(no_bytes.error(), (ArenaFull{ArenaFull::Resource::kBytes, 48, 24}));
}

TEST(ShardArena, LeavesNothingBehindWhereverAnAllocFails) {
  const auto spec = ShardSpecRef::must_make("aaaa"_b, "bbbb"_b, "cccc"_b);
  for (std::uint32_t capacity = 0; capacity < 48; capacity += 16) {
    ShardArena arena(2, capacity);
    const auto before = arena.slab_stats();
    EXPECT_FALSE(arena.alloc(spec)) << capacity;
    EXPECT_EQ(arena.slab_stats(), before) << capacity;
    EXPECT_EQ(arena.live_specs(), 0U);
    EXPECT_EQ(arena.free_slots(), 2U);
    EXPECT_EQ(arena.alloc(ShardSpecRef::unbounded())->slot, 0U);
  }
}

TEST(ShardArena, RetiresASlotThatRanOutOfGenerations) {
  const std::uint32_t last = std::numeric_limits<std::uint32_t>::max() - 1;
  ShardArena arena(2, 64, last);
  const auto handle = *arena.alloc(ShardSpecRef::unbounded());
  EXPECT_EQ(handle.generation, last);
  EXPECT_TRUE(arena.free(handle));
  EXPECT_EQ(arena.free_slots(), 1U) << "slot 0 is never handed out again";
  EXPECT_EQ(arena.alloc(ShardSpecRef::unbounded())->slot, 1U);
  arena.clear();
  EXPECT_EQ(arena.free_slots(), 0U);
  EXPECT_FALSE(arena.alloc(ShardSpecRef::unbounded()));
  EXPECT_FALSE(arena.try_view(handle));
}

TEST(ShardArena, SizesItselfForSpecsOfKnownLimits) {
  const auto bytes = static_cast<std::uint32_t>(arena_bytes_for(10, 17, 33));
  EXPECT_EQ(bytes, 10U * (2 * 32 + 48));
  ShardArena arena(10, bytes);
  const auto start = repeated('a', 17);
  const auto end = repeated('b', 17);
  const auto metadata = repeated('m', 33);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(arena.alloc(ShardSpecRef::must_make(start, end, metadata)));
  }
}

TEST(ShardArenaDeathTest, AbortsOnBrokenContracts) {
  ShardArena arena(1, 64);
  EXPECT_DEATH(std::ignore = arena.alloc(ShardSpecRef::unchecked("b"_b, "a"_b)),
               "an arena stores valid specs");
  EXPECT_DEATH((void)arena.view(ShardSpecHandle{}), "the handle names a live spec");
  const auto handle = *arena.alloc(ShardSpecRef::unbounded());
  EXPECT_DEATH(arena.free({7, handle.generation, handle.arena_id}), "names one of its slots");
  arena.begin_exclusive_use();
  EXPECT_DEATH(arena.begin_exclusive_use(), "one builder at a time");
}

// 9.1 #71
TEST(ShardArenaDeathTest, CheckedViewsNoticeFreeAndClear) {
  if constexpr (kCheckedViews) {
    ShardArena arena(2, 256);
    const auto a = *arena.alloc(ShardSpecRef::must_make("a"_b, "b"_b));
    const auto b = *arena.alloc(ShardSpecRef::must_make("c"_b, "d"_b));
    const ShardSpecRef freed = arena.view(a);
    const ShardSpecRef cleared = arena.view(b);
    EXPECT_TRUE(arena.free(a));
    EXPECT_DEATH((void)freed.start(), "view outlived its arena slot");
    EXPECT_EQ(base::as_text(cleared.start()), "c");
    arena.clear();
    EXPECT_DEATH((void)cleared.end(), "view outlived its arena slot");
  } else {
    EXPECT_EQ(sizeof(ShardSpecRef), 48U);
  }
}

}  // namespace
}  // namespace cadastre::shard
