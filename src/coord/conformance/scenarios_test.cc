// Stories of several steps, as they happen to people.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/conformance/suite_testing.h"
#include "coord/conformance/words_testing.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/progress.h"
#include "coord/shard_record.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"

namespace cadastre::coord::conformance {
namespace {

// S7b: whatever was split, the shards that are not Split tile [a, z).
void expect_tiled(const Conformance& suite) {
  std::vector<ShardDump> shards = suite.introspection().dump_shards();
  std::erase_if(shards,
                [](const ShardDump& shard) { return shard.state.status == ShardStatus::kSplit; });
  std::ranges::sort(
      shards, [](const ShardDump& a, const ShardDump& b) { return base::less(a.start, b.start); });
  base::Bytes reached = base::to_owned("a"_b);
  for (const ShardDump& shard : shards) {
    EXPECT_EQ(shard.start, reached);
    reached = shard.end;
  }
  EXPECT_EQ(reached, base::to_owned("z"_b));
}

RunProgress progress_of(Conformance& suite, LogicalTime now) {
  return suite.facade().get_run_progress(now, suite.tenant(), kRun).value();
}

TEST_P(Conformance, StoryAFullRun) {
  open_with({{10_id, spec("a"_b, "m"_b)}, {11_id, spec("m"_b, "z"_b)}});
  const Lease right = claim(10_t, 1_w).value().lease;
  const Lease left = claim(11_t, 2_w).value().lease;
  EXPECT_TRUE(executed(checkpoint(20_t, left, "d"_b, 1_op)));
  EXPECT_TRUE(executed(checkpoint(21_t, right, "p"_b, 1_op)));
  EXPECT_EQ(renew(90_t, left).value().new_deadline, 190_t);
  EXPECT_TRUE(executed(complete(91_t, left, "l"_b, 2_op)));
  EXPECT_EQ(evaluate_run_terminal(progress_of(*this, 91_t)), RunEvaluation::kStillActive);
  EXPECT_TRUE(executed(complete(92_t, right, "y"_b, 2_op)));
  EXPECT_EQ(evaluate_run_terminal(progress_of(*this, 92_t)), RunEvaluation::kAllDone);
  EXPECT_TRUE(executed(complete_run(93_t, 3_op)));
  EXPECT_EQ(run().completed_at, 93_t);
  EXPECT_EQ(refusal(claim(94_t, 3_w)), NoneAvailable{});
}

TEST_P(Conformance, StoryAWorkerVanishesAndAnotherTakesOver) {
  const Lease lost = take(10_t, 1_w);
  EXPECT_TRUE(executed(checkpoint(50_t, lost, CursorUpdate::make("k"_b, "page 7"_b), 1_op)));
  EXPECT_EQ(refusal(claim(109_t, 2_w)), NoneAvailable{110_t});
  const auto found = claim(110_t, 2_w);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->snapshot.cursor, CursorUpdate::make("k"_b, "page 7"_b));
  const Lease heir = found->lease;
  EXPECT_TRUE(executed(checkpoint(111_t, heir, "l"_b, 2_op)));
  // The first one wakes up: it can neither move nor end anything, but its old request is known.
  EXPECT_EQ(refusal(checkpoint(112_t, lost, "y"_b, 3_op)), (StaleFence{2_fence, 3_fence}));
  EXPECT_EQ(refusal(complete(112_t, lost, "y"_b, 4_op)), (StaleFence{2_fence, 3_fence}));
  EXPECT_EQ(refusal(renew(112_t, lost)), (StaleFence{2_fence, 3_fence}));
  EXPECT_TRUE(replayed(checkpoint(112_t, lost, CursorUpdate::make("k"_b, "page 7"_b), 1_op)));
  EXPECT_TRUE(executed(complete(120_t, heir, "y"_b, 5_op)));
}

TEST_P(Conformance, StoryTwoWorkersFinishASplitShard) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(checkpoint(11_t, lease, "d"_b, 1_op)));
  const std::vector children{child("a"_b, "m"_b, CursorUpdate::make("d"_b)), child("m"_b, "z"_b)};
  const auto split = split_replace(12_t, lease, children, 2_op);
  EXPECT_TRUE(executed(split));
  expect_tiled(*this);
  const auto left = acquire(13_t, 1_w, split->value().children[0]);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->snapshot.cursor, CursorUpdate::make("d"_b));
  const Lease left_lease = left->lease;
  const Lease right_lease = take(13_t, 2_w, split->value().children[1]);
  EXPECT_TRUE(executed(complete(14_t, left_lease, "l"_b, 3_op)));
  EXPECT_TRUE(executed(complete(15_t, right_lease, "y"_b, 3_op)));
  EXPECT_EQ(refusal(acquire(16_t, 3_w)), (ShardTerminal{kKey, ShardStatus::kSplit}));
  EXPECT_EQ(evaluate_run_terminal(progress_of(*this, 16_t)), RunEvaluation::kAllDone);
}

TEST_P(Conformance, StoryAShardGivesAwayItsRightPartTwice) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(checkpoint(11_t, lease, "d"_b, 1_op)));
  const auto first = split_residual(12_t, lease, cut("a"_b, "m"_b, "z"_b), 2_op);
  const auto second = split_residual(13_t, lease, cut("a"_b, "j"_b, "m"_b), 3_op);
  EXPECT_TRUE(executed(first));
  EXPECT_TRUE(executed(second));
  EXPECT_NE(first->value(), second->value());
  EXPECT_EQ(shard().spawned, (std::vector{first->value().residual, second->value().residual}));
  expect_tiled(*this);
  EXPECT_EQ(refusal(checkpoint(14_t, lease, "j"_b, 4_op)), (CursorOutOfBounds{1, 1, 1}));
  EXPECT_TRUE(executed(complete(15_t, lease, "i"_b, 5_op)));
  EXPECT_TRUE(executed(complete(16_t, take(16_t, 2_w, first->value().residual), "y"_b, 1_op)));
  EXPECT_TRUE(executed(complete(16_t, take(16_t, 3_w, second->value().residual), "l"_b, 1_op)));
  EXPECT_EQ(progress_of(*this, 17_t).done, 3U);
}

// Section 9 of the vectors: whatever left the log is harmless to repeat.
TEST_P(Conformance, StoryARetryComesTooLate) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(checkpoint(11_t, lease, "b"_b, 1_op)));
  for (std::uint64_t i = 2; i <= 17; ++i)
    EXPECT_TRUE(executed(checkpoint(12_t, lease, "d"_b, OpId::from_raw(i))));
  EXPECT_EQ(refusal(checkpoint(13_t, lease, "b"_b, 1_op)), (CursorRegression{1, 1}));
  EXPECT_TRUE(replayed(checkpoint(13_t, lease, "d"_b, 2_op)));
}

TEST_P(Conformance, StoryARunIsCancelledBeforeItsShardsAreKnown) {
  ASSERT_TRUE(create_run(5_t, 2_run, config()));
  EXPECT_TRUE(executed(cancel_run(6_t, 1_op, 2_run)));
  EXPECT_EQ(refusal(register_shards(7_t, 2_run, {{10_id, spec("a"_b, "z"_b)}}, 2_op)),
            (WrongStatus{RunStatus::kCancelled, std::nullopt}));
  EXPECT_EQ(refusal(claim(8_t, 1_w, 2_run)), NoneAvailable{});
}

TEST_P(Conformance, StoryAWorkerComesBackToItsOwnShard) {
  const Lease before = take(10_t, 1_w);
  EXPECT_TRUE(executed(checkpoint(20_t, before, "d"_b, 1_op)));
  EXPECT_EQ(refusal(acquire(30_t, 1_w)), AlreadyLeased(1_w, 110_t));  // it lost track of its lease
  const auto after = acquire(110_t, 1_w);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->lease.fence(), 3_fence);
  EXPECT_EQ(after->snapshot.cursor, CursorUpdate::make("d"_b));
  const Lease lease = after->lease;
  EXPECT_TRUE(replayed(checkpoint(111_t, before, "d"_b, 1_op)));
  EXPECT_EQ(refusal(checkpoint(111_t, before, "e"_b, 2_op)), (StaleFence{2_fence, 3_fence}));
  EXPECT_TRUE(executed(complete(112_t, lease, "y"_b, 3_op)));
}

TEST_P(Conformance, StoryManyWorkersContendForFewShards) {
  open_with(
      {{10_id, spec("a"_b, "g"_b)}, {11_id, spec("g"_b, "q"_b)}, {12_id, spec("q"_b, "z"_b)}});
  std::vector<ShardId> taken;
  for (std::uint64_t worker = 1; worker <= 10; ++worker) {
    const auto claimed = claim(10_t, WorkerId::from_raw(worker));
    if (claimed) {
      taken.push_back(claimed->lease.shard());
    } else {
      EXPECT_EQ(refusal(claimed), NoneAvailable{110_t});
    }
  }
  EXPECT_EQ(taken.size(), 3U);
  std::ranges::sort(taken);
  EXPECT_EQ(taken, (std::vector{10_id, 11_id, 12_id}));
}

}  // namespace
}  // namespace cadastre::coord::conformance
