#include "shard/split_hints.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "shard/bytes_testing.h"
#include "shard/cursor.h"
#include "shard/hint.h"
#include "shard/hint_propagation.h"
#include "shard/hint_shards.h"
#include "shard/key_buf.h"
#include "shard/shard_arena.h"
#include "shard/shard_spec.h"
#include "shard/split_plan.h"
#include "shard/typed_keys.h"

namespace cadastre::shard {
namespace {

using testing::operator""_b;
using Code = PlanError::Code;

const auto kNoCursor = [](std::size_t /*index*/, const ShardSpecRef& /*child*/) {
  return CursorUpdate::initial();
};

class SplitHints : public ::testing::Test {
 protected:
  ByteView row(std::uint64_t manifest, std::uint64_t number, KeyBuf& out) const {
    ManifestRowKey{manifest, number}.encode_into(out);
    return out.view();
  }

  ShardArena arena_{8, 4096};
  ShardSpecScratch scratch_;
  KeyBuf point_;
};

TEST_F(SplitHints, GivesChildrenOfAPrefixARangeHintAndTheConnectorsBytes) {
  const auto parent = *prefix_shard_ref("src/"_b, "bucket=prod"_b, scratch_);
  const std::vector<ByteView> points{"src/m"_b};
  const auto hinted = plan_split_replace_with_hints(parent, points, kNoCursor, arena_);
  ASSERT_TRUE(hinted);
  for (const auto& child : hinted->plan.children()) {
    const auto metadata = decode_metadata(child.spec);
    ASSERT_TRUE(metadata);
    EXPECT_EQ(metadata->hint, ShardHint::range());
    EXPECT_EQ(base::as_text(metadata->connector_extra), "bucket=prod");
    EXPECT_TRUE(check_hint_matches_range(child.spec));
  }
  EXPECT_EQ(arena_.live_specs(), 2U);
}

TEST_F(SplitHints, NarrowsTheRowsOfAManifest) {
  const auto parent = *manifest_shard_ref({7, 0, 100}, {}, scratch_);
  const auto hinted = plan_split_residual_with_hints(parent, row(7, 40, point_), arena_);
  ASSERT_TRUE(hinted);
  EXPECT_EQ(*decode_hint(hinted->plan.new_parent()), ShardHint::manifest({7, 0, 40}));
  EXPECT_EQ(*decode_hint(hinted->plan.residual()), ShardHint::manifest({7, 40, 100}));
  EXPECT_TRUE(check_hint_matches_range(hinted->plan.residual()));
}

TEST_F(SplitHints, ReleaseGivesEverySpecBack) {
  const auto parent = *prefix_shard_ref("src/"_b, {}, scratch_);
  const std::vector<ByteView> points{"src/g"_b, "src/m"_b};
  auto replace = plan_split_replace_with_hints(parent, points, kNoCursor, arena_);
  auto residual = plan_split_residual_with_hints(parent, "src/m"_b, arena_);
  ASSERT_TRUE(replace);
  ASSERT_TRUE(residual);
  EXPECT_EQ(arena_.live_specs(), 5U);
  replace->release(arena_);
  residual->release(arena_);
  EXPECT_EQ(arena_.live_specs(), 0U);
  EXPECT_EQ(arena_.slab_stats().live_bytes, 0U);
}

TEST_F(SplitHints, ReportsShapeThenMetadataThenCoverageThenPropagation) {
  const auto never = [](std::size_t, const ShardSpecRef&) -> CursorUpdate {
    ADD_FAILURE() << "no cursor is asked for a plan that fails";
    return CursorUpdate::initial();
  };
  const auto broken = ShardSpecRef::must_make("a"_b, "z"_b, "\0\0"_b);
  EXPECT_EQ(plan_split_replace_with_hints(broken, {}, never, arena_).error().code,
            Code::kTooFewChildren);
  const std::vector<ByteView> duplicate{"g"_b, "g"_b};
  const auto undecodable = plan_split_replace_with_hints(broken, duplicate, never, arena_);
  EXPECT_EQ(undecodable.error().code, Code::kMetadataUndecodable);
  EXPECT_EQ(code_name(undecodable.error()), "short_length_prefix");

  const auto manifest = *manifest_shard_ref({7, 0, 100}, {}, scratch_);
  const std::vector<ByteView> outside{"zzz"_b};
  EXPECT_EQ(plan_split_replace_with_hints(manifest, outside, never, arena_).error().code,
            Code::kInvalidCoverage);

  KeyBuf odd;
  ByteView key = row(7, 5, odd);
  ASSERT_TRUE(odd.append(0));  // Inside the range, and no row key.
  key = odd.view();
  const auto refused =
      plan_split_replace_with_hints(manifest, std::vector<ByteView>{key}, never, arena_);
  EXPECT_EQ(refused.error().code, Code::kHintPropagation);
  EXPECT_EQ(refused.error().child_index, 0U);
  EXPECT_EQ(refused.error().propagation.code, PropagationError::Code::kInvalidManifestBoundary);
  EXPECT_EQ(arena_.live_specs(), 0U);
}

TEST_F(SplitHints, FreesWhatItStoredWhereverTheArenaRunsOut) {
  const auto parent = *manifest_shard_ref({7, 0, 100}, "extra"_b, scratch_);
  for (std::uint32_t slots = 0; slots < 2; ++slots) {
    ShardArena small(slots, 4096);
    const auto refused = plan_split_residual_with_hints(parent, row(7, 40, point_), small);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().arena.resource, ArenaFull::Resource::kSlots);
    EXPECT_EQ(small.live_specs(), 0U);
    EXPECT_EQ(small.slab_stats().live_bytes, 0U);
  }
  for (std::uint32_t bytes = 0; bytes < 160; bytes += 16) {
    ShardArena small(4, bytes);
    const auto refused = plan_split_residual_with_hints(parent, row(7, 40, point_), small);
    if (refused) continue;
    EXPECT_EQ(refused.error().code, Code::kArena) << bytes;
    EXPECT_EQ(small.live_specs(), 0U) << bytes;
    EXPECT_EQ(small.slab_stats().bump_offset, 0U) << bytes;
  }
}

TEST_F(SplitHints, SplitsBehindTheCursorWithHints) {
  const auto parent = *prefix_shard_ref("src/"_b, {}, scratch_);
  const auto hinted =
      plan_split_residual_from_cursor_with_hints(parent, CursorUpdate::make("src/k"_b), arena_);
  ASSERT_TRUE(hinted);
  EXPECT_EQ(base::as_text(hinted->plan.residual().start()), std::string_view("src/k\0", 6));
  EXPECT_EQ(plan_split_residual_from_cursor_with_hints(parent, CursorUpdate::initial(), arena_)
                .error()
                .code,
            Code::kMissingCursor);
}

TEST_F(SplitHints, CutsAManifestAtItsMiddleRow) {
  const auto parent = *manifest_shard_ref({7, 10, 21}, {}, scratch_);
  const auto cut = split_point_for(parent, point_);
  ASSERT_TRUE(cut);
  EXPECT_EQ(decode_manifest_row_key(*cut), (ManifestRowKey{7, 15}));
  const auto single = *manifest_shard_ref({7, 10, 11}, {}, scratch_);
  EXPECT_FALSE(split_point_for(single, point_)) << "one row cannot be cut";
}

TEST_F(SplitHints, CutsOtherShardsAtTheirBalancedPoint) {
  const auto parent = *prefix_shard_ref("src/"_b, {}, scratch_);
  EXPECT_EQ(base::to_hex(*split_point_for(parent, point_)), "7372632f80");
  EXPECT_EQ(base::to_hex(*split_point_for(ShardSpecRef::unbounded(), point_)), "80");
  EXPECT_FALSE(split_point_for(ShardSpecRef::must_make("a"_b, "z"_b, "\xff"_b), point_))
      << "metadata that does not decode";
}

}  // namespace
}  // namespace cadastre::shard
