// Group B, first part: deadlines, retries at the edge of the log, parking, completion.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/endian.h"
#include "coord/backend.h"
#include "coord/canonical.h"
#include "coord/conformance/suite_testing.h"
#include "coord/conformance/words_testing.h"
#include "coord/cursor_rules.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/op_log.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"

namespace cadastre::coord::conformance {
namespace {

TEST_P(Conformance, B1SemanticsAreSeenThroughAShardsWholeLife) {
  for (const auto semantics : {CursorSemantics::kCompleted, CursorSemantics::kDispatched}) {
    open({}, semantics);
    EXPECT_EQ(run().config.cursor_semantics, semantics);
    const auto acquired = acquire(10_t, 1_w);
    ASSERT_TRUE(acquired);
    EXPECT_EQ(acquired->snapshot.semantics, semantics);
    const Lease lease = acquired->lease;
    EXPECT_TRUE(executed(checkpoint(11_t, lease, "d"_b, 1_op)));
    const auto split = split_residual(12_t, lease, cut("a"_b, "m"_b, "z"_b), 2_op);
    EXPECT_TRUE(executed(split));
    EXPECT_EQ(shard(split->value().residual).state.semantics, semantics);
    EXPECT_TRUE(executed(complete(13_t, lease, "l"_b, 3_op)));
    EXPECT_EQ(shard().state.semantics, semantics);
    EXPECT_EQ(acquire(14_t, 2_w, split->value().residual)->snapshot.semantics, semantics);
  }
}

TEST_P(Conformance, B2ALeaseEndsAtItsDeadline) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(checkpoint(109_t, lease, "d"_b, 1_op)));
  EXPECT_EQ(refusal(acquire(109_t, 2_w)), AlreadyLeased(1_w, 110_t));
  EXPECT_EQ(refusal(checkpoint(110_t, lease, "e"_b, 2_op)), (LeaseExpired{110_t, 110_t}));
  EXPECT_EQ(refusal(renew(111_t, lease)), (LeaseExpired{110_t, 111_t}));
  const auto taken = acquire(110_t, 2_w);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->lease.deadline(), 210_t);
  EXPECT_EQ(taken->snapshot.cursor, CursorUpdate::make("d"_b));
}

// A worker's copy of the deadline counts for nothing, whichever way it is wrong (3.2).
TEST_P(Conformance, B2TheStoredDeadlineCounts) {
  const Lease lease = take(10_t, 1_w);
  LeaseParts parts = parts_of(lease);
  parts.deadline = 1000_t;
  EXPECT_EQ(refusal(checkpoint(110_t, Lease::granted(parts), "d"_b, 1_op)),
            (LeaseExpired{110_t, 110_t}));
  ASSERT_TRUE(renew(100_t, lease));
  EXPECT_TRUE(executed(checkpoint(199_t, lease, "d"_b, 1_op)));
}

// 'a' and a number, so that greater numbers have greater keys.
std::array<std::byte, 9> numbered_key(std::uint64_t number) {
  std::array<std::byte, 9> key{std::byte{'a'}};
  base::store_be(key.data() + 1, number);
  return key;
}

TEST_P(Conformance, B4TheLogRemembersSixteenRequests) {
  const Lease lease = take(10_t, 1_w);
  const auto move = [&](std::uint64_t op, std::uint64_t key) {
    return checkpoint(LogicalTime::from_raw(10 + op), lease, numbered_key(key), OpId::from_raw(op));
  };
  for (std::uint64_t i = 1; i <= 17; ++i)
    EXPECT_TRUE(executed(move(i, i)));
  EXPECT_EQ(shard().state.op_log.size(), 16U);
  EXPECT_TRUE(replayed(move(16, 16)));
  EXPECT_TRUE(replayed(move(2, 2)));
  EXPECT_EQ(refusal(move(1, 1)), (CursorRegression{9, 9}));
  EXPECT_TRUE(executed(move(1, 19)));
  EXPECT_TRUE(refusal(move(17, 18))->is<OpIdConflict>());
  EXPECT_EQ(shard().state.op_log.get(15)->op_id, 1_op);
}

TEST_P(Conformance, B5UnparkGivesTheShardBackWhereItStood) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(checkpoint(11_t, lease, CursorUpdate::make("d"_b, "tok"_b), 1_op)));
  EXPECT_TRUE(executed(park(12_t, lease, ParkReason::kTooManyErrors, 2_op)));
  EXPECT_EQ(refusal(acquire(13_t, 2_w)), (ShardTerminal{kKey, ShardStatus::kParked}));
  const auto unparked = unpark(14_t, 3_op);
  EXPECT_TRUE(executed(unparked));
  EXPECT_EQ(unparked->value(), 3_fence);
  EXPECT_TRUE(replayed(unpark(15_t, 3_op)));
  EXPECT_EQ(refusal(unpark(15_t, 4_op)), NotParked{ShardStatus::kActive});
  const auto taken = acquire(16_t, 2_w);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->lease.fence(), 4_fence);
  EXPECT_EQ(taken->snapshot.cursor, CursorUpdate::make("d"_b, "tok"_b));
}

TEST_P(Conformance, B5OnlyAParkedShardIsUnparked) {
  EXPECT_EQ(refusal(unpark(10_t, 1_op)), NotParked{ShardStatus::kActive});
  EXPECT_EQ(refusal(unpark(10_t, 1_op, 11_id)), (ShardNotFound{{kRun, 11_id}}));
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(complete(11_t, lease, "y"_b, 2_op)));
  EXPECT_EQ(refusal(unpark(12_t, 3_op)), NotParked{ShardStatus::kDone});
  EXPECT_EQ(refusal(unpark(12_t, 2_op)), RunOpIdConflict{2_op});
}

TEST_P(Conformance, B6TheSameWorkerMayComeBackUnderANewFence) {
  const Lease old = take(10_t, 1_w);
  const Lease fresh = take(110_t, 1_w);
  EXPECT_EQ(fresh.fence(), 3_fence);
  EXPECT_EQ(refusal(checkpoint(111_t, old, "d"_b, 1_op)), (StaleFence{2_fence, 3_fence}));
  EXPECT_TRUE(executed(checkpoint(111_t, fresh, "d"_b, 1_op)));
}

TEST_P(Conformance, B7NobodyAcquiresWhatIsLeasedNotEvenItsOwner) {
  EXPECT_EQ(refusal(acquire(10_t, 1_w, 11_id)), (ShardNotFound{{kRun, 11_id}}));
  (void)take(10_t, 1_w);
  const auto refused = refusal(acquire(50_t, 1_w));
  EXPECT_EQ(refused, AlreadyLeased(1_w, 110_t));
  EXPECT_EQ(refusal(acquire(50_t, 2_w)), AlreadyLeased(1_w, 110_t));
}

TEST_P(Conformance, B8RenewMovesTheDeadlineAndNothingElse) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_EQ(renew(60_t, lease).value().new_deadline, 160_t);
  expect_became([](ShardDump& shard) { shard.state.lease->deadline = 160_t; });
  EXPECT_EQ(renew(60_t, lease).value().new_deadline, 160_t);
  expect_became([](ShardDump&) {});
  EXPECT_EQ(renew(159_t, lease).value().new_deadline, 259_t);
  EXPECT_EQ(refusal(renew(259_t, lease)), (LeaseExpired{259_t, 259_t}));
}

TEST_P(Conformance, B8DeadlinesStopAtTheEndOfTime) {
  const LogicalTime late = LogicalTime::from_raw(kU64Max - 49);
  const LogicalTime end = LogicalTime::from_raw(kU64Max);
  const Lease lease = take(late, 1_w);
  EXPECT_EQ(lease.deadline(), end);
  EXPECT_EQ(renew(LogicalTime::from_raw(kU64Max - 1), lease).value().new_deadline, end);
  EXPECT_EQ(refusal(renew(end, lease)), (LeaseExpired{end, end}));
}

TEST_P(Conformance, B14ParkKeepsTheReasonAndShutsTheWorkerOut) {
  for (const auto reason :
       {ParkReason::kPermissionDenied, ParkReason::kNotFound, ParkReason::kPoisoned,
        ParkReason::kTooManyErrors, ParkReason::kOther}) {
    open();
    const Lease lease = take(10_t, 1_w);
    EXPECT_TRUE(executed(park(11_t, lease, reason, 1_op)));
    EXPECT_EQ(shard().state.park_reason, reason);
    EXPECT_TRUE(replayed(park(12_t, lease, reason, 1_op)));
    const auto other = reason == ParkReason::kOther ? ParkReason::kPoisoned : ParkReason::kOther;
    EXPECT_EQ(refusal(park(12_t, lease, other, 1_op)),
              OpIdConflict(1_op, hash_park(reason), hash_park(other)));
    EXPECT_EQ(refusal(park(12_t, lease, reason, 2_op)),
              (ShardTerminal{kKey, ShardStatus::kParked}));
    EXPECT_EQ(refusal(checkpoint(12_t, lease, "d"_b, 3_op)),
              (ShardTerminal{kKey, ShardStatus::kParked}));
    EXPECT_TRUE(executed(unpark(13_t, 4_op)));
    EXPECT_EQ(refusal(checkpoint(14_t, lease, "d"_b, 3_op)), (StaleFence{2_fence, 3_fence}));
    EXPECT_TRUE(replayed(park(14_t, lease, reason, 1_op)));
  }
}

TEST_P(Conformance, B15CompletionNeedsAKey) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_EQ(refusal(complete(11_t, lease, CursorUpdate::initial(), 1_op)), CheckpointMissingKey{});
  EXPECT_TRUE(executed(complete(11_t, lease, "y"_b, 1_op)));
}

// D-13: whoever found nothing completes at the start, or where the shard stood.
TEST_P(Conformance, B15AnEmptyShardCompletesAtItsStart) {
  const auto acquired = acquire(10_t, 1_w);
  ASSERT_TRUE(acquired);
  const CursorUpdate nothing = empty_completion(acquired->snapshot.spec, acquired->snapshot.cursor);
  EXPECT_TRUE(executed(complete(11_t, acquired->lease, nothing, 1_op)));
  EXPECT_EQ(shard().last_key, base::to_owned("a"_b));

  open();
  EXPECT_TRUE(executed(checkpoint(11_t, take(10_t, 1_w), "d"_b, 1_op)));
  const auto second = acquire(110_t, 2_w);
  ASSERT_TRUE(second);
  const CursorUpdate no_more = empty_completion(second->snapshot.spec, second->snapshot.cursor);
  EXPECT_TRUE(executed(complete(111_t, second->lease, no_more, 2_op)));
  EXPECT_EQ(shard().last_key, base::to_owned("d"_b));
}

}  // namespace
}  // namespace cadastre::coord::conformance
