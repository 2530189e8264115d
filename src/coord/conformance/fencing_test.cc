// Group A, first part: owners, fences, cursors and retries where they meet.

#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/canonical.h"
#include "coord/conformance/suite_testing.h"
#include "coord/conformance/words_testing.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/op_log.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"

namespace cadastre::coord::conformance {
namespace {

TEST_P(Conformance, A1FenceGrowsWithEveryOwnerAndWithNothingElse) {
  EXPECT_EQ(shard().state.fence, 1_fence);
  const Lease one = take(10_t, 1_w);
  EXPECT_EQ(one.fence(), 2_fence);
  expect_became([](ShardDump& shard) {
    shard.state.fence = 2_fence;
    shard.state.lease = LeaseHolder{1_w, 110_t};
  });

  EXPECT_TRUE(executed(checkpoint(20_t, one, "d"_b, 1_op)));
  EXPECT_EQ(shard().state.fence, 2_fence);

  const Lease two = take(110_t, 2_w);
  EXPECT_EQ(two.fence(), 3_fence);
  expect_became([](ShardDump& shard) {
    shard.state.fence = 3_fence;
    shard.state.lease = LeaseHolder{2_w, 210_t};
  });

  EXPECT_TRUE(executed(checkpoint(120_t, two, "f"_b, 2_op)));
  EXPECT_EQ(shard().state.fence, 3_fence);
  EXPECT_TRUE(executed(complete(130_t, two, "y"_b, 3_op)));
  EXPECT_EQ(shard().state.fence, 3_fence);
}

TEST_P(Conformance, A2CursorAndResidualSplitKeepEachOther) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(checkpoint(11_t, lease, "d"_b, 1_op)));
  const auto split = split_residual(12_t, lease, cut("a"_b, "m"_b, "z"_b), 2_op);
  EXPECT_TRUE(executed(split));
  const ShardId residual = split->value().residual;
  expect_became([&](ShardDump& shard) {
    shard.end = base::to_owned("m"_b);
    shard.spawned = {residual};
    shard.state.op_log.push_back_overwrite(
        {.op_id = 2_op,
         .payload_hash = hash_split_residual(cut("a"_b, "m"_b, "z"_b)),
         .executed_at = 12_t,
         .kind = OpKind::kSplitResidual});
  });
  EXPECT_TRUE(executed(checkpoint(13_t, lease, "f"_b, 3_op)));
  EXPECT_EQ(refusal(checkpoint(14_t, lease, "n"_b, 4_op)), (CursorOutOfBounds{1, 1, 1}));
  EXPECT_EQ(shard(residual).last_key, base::Bytes{});
}

TEST_P(Conformance, A3CompletionIsReplayedOnADoneShard) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(complete(11_t, lease, "y"_b, 1_op)));
  EXPECT_EQ(shard().state.status, ShardStatus::kDone);
  EXPECT_TRUE(replayed(complete(12_t, lease, "y"_b, 1_op)));
  EXPECT_TRUE(replayed(complete(500_t, lease, "y"_b, 1_op)));
  EXPECT_EQ(refusal(complete(12_t, lease, "y"_b, 2_op)), (ShardTerminal{kKey, ShardStatus::kDone}));
}

TEST_P(Conformance, A4CheckpointIsReplayedAfterExpiryAndHandOver) {
  const Lease one = take(10_t, 1_w);
  EXPECT_TRUE(executed(checkpoint(11_t, one, "d"_b, 1_op)));
  EXPECT_TRUE(replayed(checkpoint(110_t, one, "d"_b, 1_op)));
  const Lease two = take(110_t, 2_w);
  EXPECT_TRUE(replayed(checkpoint(111_t, one, "d"_b, 1_op)));
  EXPECT_TRUE(replayed(checkpoint(111_t, two, "d"_b, 1_op)));
  EXPECT_EQ(refusal(checkpoint(111_t, one, "e"_b, 2_op)), (StaleFence{2_fence, 3_fence}));
  const auto conflict = refusal(checkpoint(111_t, one, "e"_b, 1_op));
  EXPECT_EQ(conflict, OpIdConflict(1_op, hash_checkpoint(CursorUpdate::make("d"_b)),
                                   hash_checkpoint(CursorUpdate::make("e"_b))));
}

TEST_P(Conformance, A5ResidualSplitSurvivesParkAndUnpark) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(checkpoint(11_t, lease, "d"_b, 1_op)));
  EXPECT_TRUE(executed(split_residual(12_t, lease, cut("a"_b, "m"_b, "z"_b), 2_op)));
  EXPECT_TRUE(executed(park(13_t, lease, ParkReason::kNotFound, 3_op)));
  expect_became([](ShardDump& shard) {
    shard.state.status = ShardStatus::kParked;
    shard.state.park_reason = ParkReason::kNotFound;
    shard.state.lease.reset();
    shard.state.op_log.push_back_overwrite({.op_id = 3_op,
                                            .payload_hash = hash_park(ParkReason::kNotFound),
                                            .executed_at = 13_t,
                                            .kind = OpKind::kPark});
  });
  const auto unparked = unpark(14_t, 4_op);
  EXPECT_TRUE(executed(unparked));
  EXPECT_EQ(unparked->value(), 3_fence);
  expect_became([](ShardDump& shard) {
    shard.state.status = ShardStatus::kActive;
    shard.state.park_reason.reset();
    shard.state.fence = 3_fence;
    shard.state.op_log.push_back_overwrite({.op_id = 4_op,
                                            .payload_hash = hash_unpark(kKey),
                                            .executed_at = 14_t,
                                            .kind = OpKind::kUnpark});
  });
  const auto again = acquire(15_t, 2_w);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->lease.fence(), 4_fence);
  EXPECT_EQ(again->snapshot.spec, spec("a"_b, "m"_b));
  EXPECT_EQ(again->snapshot.cursor, CursorUpdate::make("d"_b));
  EXPECT_EQ(again->snapshot.spawned.size(), 1U);
}

TEST_P(Conformance, A6ForgedOwnerWithTheRightFenceIsStale) {
  const Lease lease = take(10_t, 1_w);
  const Lease thief = forged(lease, 99_w);
  EXPECT_EQ(refusal(checkpoint(11_t, thief, "d"_b, 1_op)), (StaleFence{2_fence, 2_fence}));
  EXPECT_EQ(refusal(renew(11_t, thief)), (StaleFence{2_fence, 2_fence}));
  EXPECT_TRUE(executed(checkpoint(11_t, lease, "d"_b, 1_op)));
}

TEST_P(Conformance, A7EveryEndClearsTheLeaseAndKeepsTheFence) {
  const auto ended = [](ShardStatus status, const OpLogEntry& entry) {
    return [status, entry](ShardDump& shard) {
      shard.state.status = status;
      shard.state.lease.reset();
      shard.state.op_log.push_back_overwrite(entry);
    };
  };
  const CursorUpdate last = CursorUpdate::make("y"_b, "tok"_b);
  EXPECT_TRUE(executed(complete(11_t, take(10_t, 1_w), last, 1_op)));
  expect_became([&](ShardDump& shard) {
    ended(ShardStatus::kDone, {.op_id = 1_op,
                               .payload_hash = hash_complete(last),
                               .executed_at = 11_t,
                               .kind = OpKind::kComplete})(shard);
    shard.last_key = base::to_owned("y"_b);
    shard.token = base::to_owned("tok"_b);
  });

  open();
  EXPECT_TRUE(executed(park(11_t, take(10_t, 1_w), ParkReason::kPoisoned, 1_op)));
  expect_became([&](ShardDump& shard) {
    ended(ShardStatus::kParked, {.op_id = 1_op,
                                 .payload_hash = hash_park(ParkReason::kPoisoned),
                                 .executed_at = 11_t,
                                 .kind = OpKind::kPark})(shard);
    shard.state.park_reason = ParkReason::kPoisoned;
  });

  open();
  const std::vector children{child("a"_b, "m"_b), child("m"_b, "z"_b)};
  const auto split = split_replace(11_t, take(10_t, 1_w), children, 1_op);
  EXPECT_TRUE(executed(split));
  expect_became([&](ShardDump& shard) {
    ended(ShardStatus::kSplit,
          {.op_id = 1_op,
           .payload_hash = hash_split_replace(SplitReplacePlan::try_make(children).value()),
           .executed_at = 11_t,
           .kind = OpKind::kSplitReplace})(shard);
    const auto children_ids = split->value().children.as_span();
    shard.spawned.assign(children_ids.begin(), children_ids.end());
  });
}

// D-9: a clock that steps back neither stops anyone nor disorders the log.
TEST_P(Conformance, A7TimeMayStepBack) {
  const Lease lease = take(50_t, 1_w);
  EXPECT_TRUE(executed(checkpoint(60_t, lease, "d"_b, 1_op)));
  EXPECT_TRUE(executed(checkpoint(5_t, lease, "e"_b, 2_op)));
  expect_became([](ShardDump& shard) {
    shard.last_key = base::to_owned("e"_b);
    shard.state.op_log.push_back_overwrite(
        {.op_id = 2_op,
         .payload_hash = hash_checkpoint(CursorUpdate::make("e"_b)),
         .executed_at = 60_t,
         .kind = OpKind::kCheckpoint});
  });
  EXPECT_EQ(renew(5_t, lease).value().new_deadline, 150_t);  // D-31
  EXPECT_EQ(shard().state.lease, (LeaseHolder{1_w, 150_t}));
}

}  // namespace
}  // namespace cadastre::coord::conformance
