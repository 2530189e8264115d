#include "cli/run_work.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "coord/identity.h"
#include "coord/progress.h"
#include "coord/shard_summary.h"
#include "coord/states.h"
#include "shard/key_buf.h"
#include "shard/typed_keys.h"

namespace cadastre::cli {
namespace {

using coord::ShardStatus;

coord::FixedKey row_key(std::uint64_t row, std::uint64_t manifest = 7) {
  shard::KeyBuf key;
  shard::ManifestRowKey{manifest, row}.encode_into(key);
  return coord::FixedKey(key.view());
}

coord::ShardSummary rows(std::uint64_t start, std::uint64_t end, ShardStatus status) {
  coord::ShardSummary shard;
  shard.status = status;
  shard.start = row_key(start);
  shard.end = row_key(end);
  return shard;
}

TEST(WorkOf, CountsRowsUpToTheCursor) {
  auto begun = rows(100, 200, ShardStatus::kActive);
  begun.last_key = row_key(124);
  const std::vector shards = {rows(0, 100, ShardStatus::kDone), begun,
                              rows(200, 300, ShardStatus::kActive)};
  EXPECT_EQ(work_of(shards), (RunWork{WorkUnit::kRows, 125, 300}));
}

TEST(WorkOf, CountsASplitParentByItsChildren) {
  const std::vector shards = {rows(0, 100, ShardStatus::kSplit), rows(0, 50, ShardStatus::kDone),
                              rows(50, 100, ShardStatus::kActive)};
  EXPECT_EQ(work_of(shards), (RunWork{WorkUnit::kRows, 50, 100}));
}

TEST(WorkOf, CountsShardsWhereOneRangeIsNotOfRows) {
  coord::ShardSummary text;
  text.status = ShardStatus::kDone;
  text.start = coord::FixedKey(base::as_bytes("a"));
  text.end = coord::FixedKey(base::as_bytes("m"));
  const std::vector shards = {rows(0, 100, ShardStatus::kActive), text,
                              rows(100, 200, ShardStatus::kDone)};
  EXPECT_EQ(work_of(shards), (RunWork{WorkUnit::kShards, 2, 3}));
}

TEST(WorkOf, OfARunWithoutShardsIsNothing) {
  EXPECT_EQ(work_of({}), (RunWork{WorkUnit::kShards, 0, 0}));
}

TEST(PaceBetween, IsTheDifferenceOverTheTime) {
  const WorkSample earlier{{WorkUnit::kRows, 100, 1000}, std::chrono::seconds(10)};
  const WorkSample later{{WorkUnit::kRows, 400, 1000}, std::chrono::seconds(12)};
  const auto pace = pace_between(earlier, later);
  ASSERT_TRUE(pace);
  EXPECT_DOUBLE_EQ(pace->per_second, 150);
  ASSERT_TRUE(pace->seconds_left);
  EXPECT_DOUBLE_EQ(*pace->seconds_left, 4);
}

TEST(PaceBetween, KnowsNoEndWhileNothingMoves) {
  const WorkSample earlier{{WorkUnit::kRows, 100, 1000}, std::chrono::seconds(10)};
  const WorkSample later{{WorkUnit::kRows, 100, 1000}, std::chrono::seconds(12)};
  const auto pace = pace_between(earlier, later);
  ASSERT_TRUE(pace);
  EXPECT_FALSE(pace->seconds_left);
}

TEST(PaceBetween, IsNothingWhereTheLooksDoNotCompare) {
  const WorkSample look{{WorkUnit::kRows, 100, 1000}, std::chrono::seconds(10)};
  EXPECT_FALSE(pace_between(look, look));
  const WorkSample in_shards{{WorkUnit::kShards, 200, 1000}, std::chrono::seconds(12)};
  EXPECT_FALSE(pace_between(look, in_shards));
  const WorkSample fewer{{WorkUnit::kRows, 50, 1000}, std::chrono::seconds(12)};
  EXPECT_FALSE(pace_between(look, fewer));
}

TEST(WorkBar, FillsAsTheWorkIsDone) {
  EXPECT_EQ(work_bar({WorkUnit::kRows, 0, 0}), "[....................]   0 %");
  EXPECT_EQ(work_bar({WorkUnit::kRows, 1, 4}), "[#####...............]  25 %");
  EXPECT_EQ(work_bar({WorkUnit::kRows, 4, 4}), "[####################] 100 %");
}

TEST(DurationText, SpeaksInTheLargestUnits) {
  EXPECT_EQ(duration_text(41.2), "42 s");
  EXPECT_EQ(duration_text(200), "3 min 20 s");
  EXPECT_EQ(duration_text(18'600), "5 h 10 min");
}

}  // namespace
}  // namespace cadastre::cli
