#include "shard/prealloc_builder.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/byte_slab.h"
#include "base/bytes.h"
#include "shard/bytes_testing.h"
#include "shard/cursor.h"
#include "shard/error_text_testing.h"
#include "shard/hint.h"
#include "shard/limits.h"
#include "shard/manifest.h"
#include "shard/shard_arena.h"
#include "shard/shard_id.h"
#include "shard/shard_spec.h"
#include "shard/spec_error.h"
#include "shard/spec_from_keys.h"
#include "shard/typed_keys.h"
#include "shard/view_guard.h"

namespace cadastre::shard {
namespace {

using testing::operator""_b;
using testing::repeated;
using Builder = PreallocShardBuilder<300>;
using Code = BuilderError::Code;

constexpr std::uint64_t kRowMax = std::numeric_limits<std::uint64_t>::max();

class PreallocBuilder : public ::testing::Test {
 protected:
  PreallocBuilder() { EXPECT_TRUE(builder_.init(300)); }

  ShardArena arena_{400, 1U << 20};
  Builder builder_{arena_};
  Builder::Rows rows_;
};

// 9.1 #41, #42, #43
TEST_F(PreallocBuilder, BuildsAMixOfRangePrefixAndManifestShards) {
  EXPECT_EQ(builder_.add_range({"a"_b, "b"_b}, {})->raw(), 0U);
  EXPECT_EQ(builder_.add_prefix("src/"_b, "ctx"_b)->raw(), 1U);
  EXPECT_EQ(builder_.add_manifest({7, 0, 10}, {})->raw(), 2U);
  ASSERT_TRUE(builder_.build_inputs(rows_));
  ASSERT_EQ(rows_.size(), 3U);
  EXPECT_EQ(*decode_hint(rows_[0].spec), ShardHint::range());
  EXPECT_EQ(*decode_hint(rows_[1].spec), ShardHint::prefix("src/"_b));
  EXPECT_EQ(base::as_text(rows_[1].spec.end()), "src0");
  EXPECT_EQ(*decode_hint(rows_[2].spec), ShardHint::manifest({7, 0, 10}));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    EXPECT_EQ(rows_[i].shard.raw(), i);
    EXPECT_EQ(rows_[i].cursor, CursorUpdate::initial());
    EXPECT_TRUE(check_hint_matches_range(rows_[i].spec));
  }
}

// 9.1 #44, #45
TEST_F(PreallocBuilder, KeepsCursorsAndJudgesThemAtBuildTime) {
  ASSERT_TRUE(builder_.add_range({"a"_b, "c"_b}, {}, CursorUpdate::make("b"_b, "token"_b)));
  ASSERT_TRUE(
      builder_.add_spec_ref(ShardSpecRef::must_make("c"_b, "e"_b), CursorUpdate::make("d"_b)));
  ASSERT_TRUE(builder_.build_inputs(rows_));
  EXPECT_EQ(rows_[0].cursor, CursorUpdate::make("b"_b, "token"_b));
  EXPECT_EQ(rows_[1].cursor, CursorUpdate::make("d"_b));
  EXPECT_TRUE(builder_.add_range({"e"_b, "f"_b}, {}, CursorUpdate::make("x"_b)))
      << "not at add time";
  const auto refused = builder_.build_inputs(rows_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().manifest.code, ManifestError::Code::kCursorOutOfBounds);
  EXPECT_EQ(refused.error().manifest.shard.raw(), 2U);
  EXPECT_TRUE(rows_.empty()) << "an error leaves no rows";
}

// 9.1 #46, #47
TEST_F(PreallocBuilder, RefusesOverlapOpenRangesAndEmptinessAtBuildTime) {
  EXPECT_EQ(builder_.build_inputs(rows_).error().manifest.code, ManifestError::Code::kEmpty);
  ASSERT_TRUE(builder_.add_range({"a"_b, "m"_b}, {}));
  ASSERT_TRUE(builder_.add_range({"l"_b, "z"_b}, {}));
  EXPECT_EQ(builder_.build_inputs(rows_).error().manifest.code,
            ManifestError::Code::kOverlappingRanges);
  builder_.reset();
  ASSERT_TRUE(builder_.add_range({"a"_b, ""_b}, {}));
  EXPECT_EQ(builder_.build_inputs(rows_).error().manifest.code,
            ManifestError::Code::kUnboundedRange);
}

// 9.1 #48
TEST_F(PreallocBuilder, BuildsEqualRowsTwice) {
  ASSERT_TRUE(builder_.add_prefix("a"_b, "x"_b));
  ASSERT_TRUE(builder_.add_prefix("b"_b, "y"_b));
  Builder::Rows again;
  ASSERT_TRUE(builder_.build_inputs(rows_));
  ASSERT_TRUE(builder_.build_inputs(again));
  EXPECT_EQ(rows_, again);
}

// 9.1 #49
TEST(PreallocBuilderLimits, EnforcesTheEntryLimitWithExactNumbers) {
  ShardArena arena(8, 4096);
  PreallocShardBuilder<8> builder(arena);
  ASSERT_TRUE(builder.init(2));
  EXPECT_EQ(builder.entry_limit(), 2U);
  ASSERT_TRUE(builder.add_prefix("a"_b, {}));
  EXPECT_EQ(builder.remaining_entries(), 1U);
  ASSERT_TRUE(builder.add_prefix("b"_b, {}));
  const auto error = builder.add_prefix(""_b, {}).error();
  EXPECT_EQ(error.code, Code::kCapacityExceeded) << "the budget is the first check";
  EXPECT_EQ(error.limit, 2U);
  EXPECT_EQ(error.current, 2U);
  EXPECT_EQ(error.additional, 1U);
  EXPECT_EQ(text_of(error), "2 staged and 1 more exceed the entry limit of 2");
}

// 9.1 #54
TEST(PreallocBuilderLimits, RefusesAnEntryLimitOfZeroAndAboveCap) {
  ShardArena arena(8, 4096);
  PreallocShardBuilder<8> builder(arena);
  EXPECT_EQ(builder.init(0).error().code, Code::kEntryLimitZero);
  const auto error = builder.init(9).error();
  EXPECT_EQ(error.code, Code::kCapMismatch);
  EXPECT_EQ(error.limit, 9U);
  EXPECT_EQ(error.current, 8U);
  EXPECT_TRUE(builder.init(8));
}

// 9.1 #50
TEST(PreallocBuilderLimits, SurfacesArenaExhaustionForEveryKindOfAdd) {
  const auto spec = ShardSpecRef::must_make("a"_b, "b"_b);
  for (const std::uint32_t slots : {0U, 8U}) {
    ShardArena arena(slots, slots == 0 ? 4096 : 16);
    PreallocShardBuilder<8> builder(arena);
    ASSERT_TRUE(builder.init(8));
    const auto resource = slots == 0 ? ArenaFull::Resource::kSlots : ArenaFull::Resource::kBytes;
    for (const auto& result : {builder.add_range({"a"_b, "b"_b}, {}), builder.add_prefix("a"_b, {}),
                               builder.add_manifest({1, 0, 1}, {}), builder.add_spec_ref(spec)}) {
      ASSERT_FALSE(result);
      EXPECT_EQ(result.error().code, Code::kArena);
      EXPECT_EQ(result.error().arena.resource, resource);
    }
    EXPECT_TRUE(builder.empty());
    EXPECT_EQ(arena.live_specs(), 0U);
  }
}

// 9.1 #51
TEST_F(PreallocBuilder, AdoptsLiveHandlesAndRefusesAllOthers) {
  ShardArena other(2, 256);
  const auto spec = ShardSpecRef::must_make("a"_b, "b"_b);
  const auto handle = *arena_.alloc(spec);
  const auto freed = *arena_.alloc(spec);
  EXPECT_TRUE(arena_.free(freed));
  EXPECT_EQ(builder_.add_spec_handle(*other.alloc(spec)).error().code, Code::kInvalidSpecHandle);
  EXPECT_EQ(builder_.add_spec_handle(freed).error().code, Code::kInvalidSpecHandle);
  EXPECT_EQ(builder_.add_spec_handle({}).error().code, Code::kInvalidSpecHandle);
  EXPECT_EQ(builder_.add_spec_handle(handle, CursorUpdate::make("a"_b))->raw(), 0U);
  EXPECT_EQ(builder_.add_spec_handle(handle).error().code, Code::kInvalidSpecHandle)
      << "staged before";
  EXPECT_EQ(builder_.size(), 1U);
  ASSERT_TRUE(builder_.build_inputs(rows_));
  EXPECT_TRUE(arena_.free(handle));
  EXPECT_EQ(builder_.build_inputs(rows_).error().code, Code::kInvalidSpecHandle)
      << "freed behind its back";
}

// 9.1 #52
TEST_F(PreallocBuilder, ResetFreesEverythingAndStartsAtIdZero) {
  const auto adopted = *arena_.alloc(ShardSpecRef::must_make("a"_b, "b"_b));
  ASSERT_TRUE(builder_.add_spec_handle(adopted));
  ASSERT_TRUE(builder_.add_prefix("c"_b, {}));
  builder_.reset();
  EXPECT_TRUE(builder_.empty());
  EXPECT_EQ(arena_.live_specs(), 0U);
  EXPECT_FALSE(arena_.try_view(adopted));
  EXPECT_EQ(builder_.add_prefix("d"_b, {})->raw(), 0U);
}

// 9.1 #53
TEST_F(PreallocBuilder, ValidatesAndCopiesASpecByReference) {
  auto start = base::to_owned("a"_b);
  ASSERT_TRUE(builder_.add_spec_ref(ShardSpecRef::must_make(start, "b"_b, "raw"_b)));
  start[0] = std::byte{'x'};
  ASSERT_TRUE(builder_.build_inputs(rows_));
  EXPECT_EQ(rows_[0].spec, ShardSpecRef::must_make("a"_b, "b"_b, "raw"_b));
  const auto error = builder_.add_spec_ref(ShardSpecRef::unchecked("b"_b, "a"_b)).error();
  EXPECT_EQ(error.code, Code::kSpecInvalid);
  EXPECT_EQ(error.spec, SpecError::inverted_range(1, 1));
}

// 9.1 #55, #20
TEST_F(PreallocBuilder, MapsConstructorErrorsToItsOwn) {
  const auto range = builder_.add_range({"b"_b, "a"_b}, {}).error();
  EXPECT_EQ(range.code, Code::kRangeInvalid);
  EXPECT_EQ(range.spec, SpecError::inverted_range(1, 1));
  const auto prefix = builder_.add_prefix("\xff"_b, {}).error();
  EXPECT_EQ(prefix.code, Code::kPrefixInvalid);
  EXPECT_EQ(prefix.prefix.code, PrefixShardError::Code::kNoSuccessor);
  const auto manifest = builder_.add_manifest({1, 5, 5}, {}).error();
  EXPECT_EQ(manifest.code, Code::kManifestCtorInvalid);
  EXPECT_EQ(manifest.spec, SpecError::inverted_range(16, 16));
  const auto extra = repeated('e', kMaxMetadataSize);
  EXPECT_EQ(builder_.add_range({"a"_b, "b"_b}, extra).error().spec,
            SpecError::metadata_too_large(16384 + 5, 16384));
  EXPECT_TRUE(builder_.empty());
}

// 9.1 #56
TEST_F(PreallocBuilder, SplitsARangeAtItsBoundaries) {
  const std::vector<ByteView> points{"g"_b, "p"_b};
  ASSERT_TRUE(builder_.add_prefix("0"_b, {}));
  ASSERT_TRUE(builder_.split_range_by_boundaries({"a"_b, "z"_b}, points, "ctx"_b));
  ASSERT_TRUE(builder_.build_inputs(rows_));
  ASSERT_EQ(rows_.size(), 4U);
  EXPECT_EQ(base::as_text(rows_[2].spec.start()), "g");
  EXPECT_EQ(base::as_text(rows_[2].spec.end()), "p");
  EXPECT_EQ(rows_[3].shard.raw(), 3U);
  EXPECT_EQ(base::as_text(*decode_connector_extra(rows_[3].spec)), "ctx");
  EXPECT_TRUE(builder_.split_range_by_boundaries({"zz"_b, "zzz"_b}, {}, {}))
      << "no point, one child";
  EXPECT_EQ(builder_.size(), 5U);
}

// 9.1 #56, #63
TEST_F(PreallocBuilder, RefusesABadRangeSplitWithoutEffect) {
  const auto stats = arena_.slab_stats();
  const std::vector<ByteView> too_many(256, "g"_b);
  const auto fan_out = builder_.split_range_by_boundaries({"a"_b, "z"_b}, too_many, {}).error();
  EXPECT_EQ(fan_out.code, Code::kFanOutExceeded);
  EXPECT_EQ(fan_out.limit, 256U);
  EXPECT_EQ(fan_out.additional, 257U);

  const std::vector<ByteView> with_empty{"gg"_b, ""_b};
  const auto empty = builder_.split_range_by_boundaries({"a"_b, "z"_b}, with_empty, {}).error();
  EXPECT_EQ(empty.code, Code::kRangeInvalid);
  EXPECT_EQ(empty.spec, SpecError::inverted_range(2, 0));

  const std::vector<ByteView> disorder{"p"_b, "g"_b};
  EXPECT_EQ(builder_.split_range_by_boundaries({"a"_b, "z"_b}, disorder, {}).error().spec,
            SpecError::inverted_range(1, 1));
  EXPECT_TRUE(builder_.empty());
  EXPECT_EQ(arena_.slab_stats(), stats);
}

TEST(PreallocBuilderLimits, RefusesABulkSplitOverTheBudgetWithoutEffect) {
  ShardArena arena(8, 4096);
  PreallocShardBuilder<8> builder(arena);
  ASSERT_TRUE(builder.init(3));
  ASSERT_TRUE(builder.add_prefix("a"_b, {}));
  const std::vector<ByteView> points{"g"_b, "p"_b};
  const auto range = builder.split_range_by_boundaries({"b"_b, "z"_b}, points, {}).error();
  EXPECT_EQ(range.code, Code::kCapacityExceeded);
  EXPECT_EQ(range.current, 1U);
  EXPECT_EQ(range.additional, 3U);
  EXPECT_EQ(builder.split_manifest_by_rows({1, 0, 3}, 1, {}).error().code, Code::kCapacityExceeded);
  EXPECT_EQ(builder.size(), 1U);
}

// 9.1 #57
TEST_F(PreallocBuilder, SplitsAManifestIntoChunksWithAShortTail) {
  ASSERT_TRUE(builder_.split_manifest_by_rows({7, 10, 35}, 10, "ctx"_b));
  ASSERT_TRUE(builder_.build_inputs(rows_));
  ASSERT_EQ(rows_.size(), 3U);
  const std::vector<ManifestRows> expected = {{7, 10, 20}, {7, 20, 30}, {7, 30, 35}};
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    EXPECT_EQ(*decode_hint(rows_[i].spec), ShardHint::manifest(expected[i]));
    EXPECT_TRUE(check_hint_matches_range(rows_[i].spec));
  }
}

TEST_F(PreallocBuilder, RefusesABadManifestSplitInOrder) {
  EXPECT_EQ(builder_.split_manifest_by_rows({7, 5, 5}, 1, {}).error().spec,
            SpecError::inverted_range(16, 16));
  EXPECT_EQ(builder_.split_manifest_by_rows({7, 0, 5}, 0, {}).error().spec,
            SpecError::inverted_range(16, 16));
  const auto fan_out = builder_.split_manifest_by_rows({7, 0, kRowMax}, 1, {}).error();
  EXPECT_EQ(fan_out.code, Code::kFanOutExceeded);
  EXPECT_EQ(fan_out.additional, kRowMax);
  const auto extra = repeated('e', 16356);
  const auto metadata = builder_.split_manifest_by_rows({7, 0, 5}, 5, extra).error();
  EXPECT_EQ(metadata.code, Code::kManifestCtorInvalid);
  EXPECT_EQ(metadata.spec, SpecError::metadata_too_large(16385, 16384));
  EXPECT_TRUE(builder_.empty());
}

// 9.1 #58
TEST_F(PreallocBuilder, DoesNotWrapNextToTheLastRow) {
  ASSERT_TRUE(builder_.split_manifest_by_rows({7, kRowMax - 5, kRowMax}, 4, {}));
  ASSERT_TRUE(builder_.split_manifest_by_rows({8, 0, kRowMax}, kRowMax / 2 + 1, {}));
  ASSERT_TRUE(builder_.build_inputs(rows_));
  ASSERT_EQ(rows_.size(), 4U);
  EXPECT_EQ(*decode_hint(rows_[1].spec), ShardHint::manifest({7, kRowMax - 1, kRowMax}));
  EXPECT_EQ(*decode_hint(rows_[3].spec), ShardHint::manifest({8, kRowMax / 2 + 1, kRowMax}));
}

// Everything a caller can observe of builder and arena, slot generations apart.
struct Observed {
  std::size_t size = 0;
  std::uint32_t live_specs = 0;
  std::uint32_t free_slots = 0;
  base::SlabStats slab;
  friend bool operator==(const Observed&, const Observed&) = default;
};

template <class AnyBuilder>
Observed observe(const AnyBuilder& builder, const ShardArena& arena) {
  return {builder.size(), arena.live_specs(), arena.free_slots(), arena.slab_stats()};
}

// The slots that the arena will hand out next, in order.
std::vector<std::uint32_t> slot_order(ShardArena& arena) {
  std::vector<ShardSpecHandle> handles;
  std::vector<std::uint32_t> order;
  while (const auto handle = arena.alloc(ShardSpecRef::unbounded())) {
    handles.push_back(*handle);
    order.push_back(handle->slot);
  }
  for (std::size_t i = handles.size(); i > 0; --i)
    arena.free(handles[i - 1]);
  return order;
}

constexpr std::uint32_t kChildBytes = 48;  // start, end and metadata: 16 each

// An arena with room for one staged prefix and `children` more specs, by slots or by bytes.
struct ArenaSize {
  std::uint32_t slots;
  std::uint32_t bytes;
};

// A bulk split of six children does not fit `size` and leaves everything as it was.
void expect_failed_split_without_effect(ArenaSize size) {
  ShardArena arena(size.slots, size.bytes);
  PreallocShardBuilder<64> builder(arena, BuilderEnd::kFreeStagedOnly);
  ASSERT_TRUE(builder.init(64));
  // A freed spec in front leaves a hole, so that the failing split also uses the free list.
  const auto hole = arena.alloc(ShardSpecRef::must_make("A"_b, "B"_b, "hole"_b));
  ASSERT_TRUE(hole);
  std::ignore =
      builder.add_prefix("0"_b, {});  // Does not fit beside the hole in the smallest arena.
  arena.free(*hole);
  const auto before = observe(builder, arena);
  const auto order = slot_order(arena);

  const std::vector<ByteView> points{"c"_b, "e"_b, "g"_b, "i"_b, "k"_b};
  const auto range = builder.split_range_by_boundaries({"a"_b, "z"_b}, points, {});
  ASSERT_FALSE(range);
  EXPECT_EQ(range.error().code, Code::kArena);
  EXPECT_EQ(observe(builder, arena), before);
  EXPECT_EQ(slot_order(arena), order);

  const auto manifest = builder.split_manifest_by_rows({9, 0, 60}, 10, "ctx"_b);
  ASSERT_FALSE(manifest);
  EXPECT_EQ(observe(builder, arena), before);
  EXPECT_EQ(slot_order(arena), order);
}

// 9.1 #62: a bulk split that fails at child k, for every k, by slots and by bytes.
TEST(PreallocBuilderTransactions, RestoresEverythingWhereverABulkSplitFails) {
  for (std::uint32_t k = 0; k < 6; ++k) {
    SCOPED_TRACE("child " + std::to_string(k));
    expect_failed_split_without_effect({.slots = k + 1, .bytes = 4096});
    for (const std::uint32_t fields : {0U, 16U, 32U}) {
      expect_failed_split_without_effect({.slots = 20, .bytes = kChildBytes * (k + 1) + fields});
    }
  }
}

TEST(PreallocBuilderTransactions, AFailedCallConsumesNoId) {
  ShardArena arena(2, 4096);
  PreallocShardBuilder<8> builder(arena);
  ASSERT_TRUE(builder.init(8));
  const std::vector<ByteView> points{"c"_b, "e"_b};
  EXPECT_FALSE(builder.split_range_by_boundaries({"a"_b, "z"_b}, points, {}));
  EXPECT_FALSE(builder.add_prefix(""_b, {}));
  EXPECT_EQ(builder.add_prefix("a"_b, {})->raw(), 0U);
  EXPECT_EQ(builder.add_prefix("b"_b, {})->raw(), 1U);
}

TEST(PreallocBuilderEnd, ClearsTheWholeArenaByDefault) {
  ShardArena arena(4, 1024);
  const auto foreign = *arena.alloc(ShardSpecRef::unbounded());
  {
    PreallocShardBuilder<4> builder(arena);
    ASSERT_TRUE(builder.init(4));
    ASSERT_TRUE(builder.add_prefix("a"_b, {}));
  }
  EXPECT_EQ(arena.live_specs(), 0U);
  EXPECT_FALSE(arena.try_view(foreign));
}

TEST(PreallocBuilderEnd, FreesOnlyWhatIsStagedWhenAsked) {
  ShardArena arena(4, 1024);
  const auto foreign = *arena.alloc(ShardSpecRef::unbounded());
  {
    PreallocShardBuilder<4> builder(arena, BuilderEnd::kFreeStagedOnly);
    ASSERT_TRUE(builder.init(4));
    ASSERT_TRUE(builder.add_prefix("a"_b, {}));
    EXPECT_EQ(arena.live_specs(), 2U);
  }
  EXPECT_EQ(arena.live_specs(), 1U);
  EXPECT_TRUE(arena.try_view(foreign));
}

TEST(PreallocBuilderEnd, ReleaseLeavesTheSpecsToTheArenasOwner) {
  ShardArena arena(4, 1024);
  {
    PreallocShardBuilder<4> builder(arena);
    ASSERT_TRUE(builder.init(4));
    ASSERT_TRUE(builder.add_prefix("a"_b, {}));
    builder.release();
    PreallocShardBuilder<4> next(arena, BuilderEnd::kFreeStagedOnly);
    EXPECT_TRUE(next.init(4)) << "the arena is free for another builder";
  }
  EXPECT_EQ(arena.live_specs(), 1U);
}

TEST(PreallocBuilderDeathTest, AbortsBeforeInitAndAfterRelease) {
  ShardArena arena(4, 1024);
  PreallocShardBuilder<4> builder(arena);
  EXPECT_DEATH(std::ignore = builder.add_prefix("a"_b, {}), "init\\(\\) comes before any use");
  EXPECT_DEATH(const PreallocShardBuilder<4> second(arena), "one builder at a time");
  ASSERT_TRUE(builder.init(4));
  EXPECT_DEATH(std::ignore = builder.init(4), "initialised once");
  builder.release();
  EXPECT_DEATH(std::ignore = builder.add_prefix("a"_b, {}), "a released builder is at its end");
}

// 9.1 #71
TEST(PreallocBuilderDeathTest, CheckedRowsNoticeAChangeOfTheBuilder) {
  ShardArena arena(4, 1024);
  PreallocShardBuilder<4> builder(arena);
  ASSERT_TRUE(builder.init(4));
  ASSERT_TRUE(builder.add_prefix("a"_b, {}));
  PreallocShardBuilder<4>::Rows rows;
  ASSERT_TRUE(builder.build_inputs(rows));
  EXPECT_EQ(base::as_text(rows[0].spec.start()), "a");
  ASSERT_TRUE(builder.add_prefix("b"_b, {}));
  if constexpr (kCheckedViews) {
    EXPECT_DEATH((void)rows[0].spec.start(), "view outlived a builder change");
  }
  ASSERT_TRUE(builder.build_inputs(rows));
  EXPECT_EQ(rows.size(), 2U);
}

}  // namespace
}  // namespace cadastre::shard
