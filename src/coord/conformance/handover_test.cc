// an orderly hand-over, and many leases renewed at once.

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/canonical.h"
#include "coord/conformance/suite_testing.h"
#include "coord/conformance/words_testing.h"
#include "coord/errors.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "coord/op_log.h"
#include "coord/shard_record.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"

namespace cadastre::coord::conformance {
namespace {

TEST_P(Conformance, R24ReleaseEndsTheLeaseAndNothingElse) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(checkpoint(11_t, lease, CursorUpdate::make("d"_b, "tok"_b), 1_op)));
  EXPECT_TRUE(executed(release(12_t, lease, CursorUpdate::initial(), 2_op)));
  expect_became([](ShardDump& shard) {
    shard.state.lease.reset();
    shard.state.op_log.push_back_overwrite({.op_id = 2_op,
                                            .payload_hash = hash_release(CursorUpdate::initial()),
                                            .executed_at = 12_t,
                                            .kind = OpKind::kRelease});
  });
}

TEST_P(Conformance, R24ReleaseMayCarryACheckpoint) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(checkpoint(11_t, lease, CursorUpdate::make("d"_b, "tok"_b), 1_op)));
  EXPECT_TRUE(executed(release(12_t, lease, CursorUpdate::make("f"_b), 2_op)));
  expect_became([](ShardDump& shard) {
    shard.state.lease.reset();
    shard.last_key = base::to_owned("f"_b);
    shard.token = {};
    shard.state.op_log.push_back_overwrite({.op_id = 2_op,
                                            .payload_hash = hash_release(CursorUpdate::make("f"_b)),
                                            .executed_at = 12_t,
                                            .kind = OpKind::kRelease});
  });
}

TEST_P(Conformance, R24WhatIsReleasedIsClaimedAtOnce) {
  const Lease one = take(10_t, 1_w);
  EXPECT_EQ(refusal(claim(11_t, 2_w)), NoneAvailable{110_t});
  EXPECT_TRUE(executed(release(12_t, one, CursorUpdate::make("f"_b), 1_op)));
  const auto two = claim(12_t, 2_w);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->lease.fence(), 3_fence);
  EXPECT_EQ(two->snapshot.cursor, CursorUpdate::make("f"_b));
}

TEST_P(Conformance, R24WhoReleasedIsOut) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(release(12_t, lease, CursorUpdate::initial(), 1_op)));
  EXPECT_EQ(refusal(checkpoint(13_t, lease, "d"_b, 2_op)), (StaleFence{2_fence, 2_fence}));
  EXPECT_EQ(refusal(renew(13_t, lease)), (StaleFence{2_fence, 2_fence}));
  EXPECT_EQ(refusal(release(13_t, lease, CursorUpdate::initial(), 2_op)),
            (StaleFence{2_fence, 2_fence}));
  EXPECT_EQ(take(13_t, 1_w).fence(), 3_fence);
}

TEST_P(Conformance, R24ARetryOfAReleaseLeavesTheNextOwnerAlone) {
  const Lease one = take(10_t, 1_w);
  EXPECT_TRUE(executed(release(12_t, one, CursorUpdate::make("f"_b), 1_op)));
  const Lease two = take(13_t, 2_w);
  EXPECT_TRUE(replayed(release(14_t, one, CursorUpdate::make("f"_b), 1_op)));
  EXPECT_TRUE(executed(checkpoint(15_t, two, "g"_b, 2_op)));
  EXPECT_EQ(refusal(release(16_t, one, CursorUpdate::initial(), 1_op)),
            OpIdConflict(1_op, hash_release(CursorUpdate::make("f"_b)),
                         hash_release(CursorUpdate::initial())));
}

TEST_P(Conformance, R24RenewManyAnswersEachLeaseInOrder) {
  open_with({{10_id, spec("a"_b, "g"_b)},
             {11_id, spec("g"_b, "m"_b)},
             {12_id, spec("m"_b, "t"_b)},
             {13_id, spec("t"_b, "z"_b)}});
  const Lease good = take(10_t, 1_w, 10_id);
  const Lease done = take(10_t, 1_w, 11_id);
  EXPECT_TRUE(executed(complete(11_t, done, "h"_b, 1_op)));
  const Lease expired = take(10_t, 1_w, 12_id);
  const Lease late = take(50_t, 1_w, 13_id);
  ASSERT_TRUE(renew(105_t, good));
  const Lease unknown = Lease::granted({tenant(), {kRun, 99_id}, 1_w, 2_fence, 1000_t});
  const std::vector leases{late, expired, unknown, good, done, late};
  const auto answers = facade().renew_many(120_t, tenant(), leases);
  ASSERT_TRUE(answers);
  ASSERT_EQ(answers->size(), 6U);
  // What a renewal sees beside it is a hint, and a backend may renew several at a time: deadlines are exact.
  const auto renewed = [&](std::size_t place) {
    return answers->at(place)->new_deadline;
  };
  ASSERT_TRUE(answers->at(0) && answers->at(3) && answers->at(5));
  EXPECT_EQ(renewed(0), 220_t);
  EXPECT_EQ(refusal(answers->at(1)), (LeaseExpired{110_t, 120_t}));
  EXPECT_EQ(refusal(answers->at(2)), (ShardNotFound{{kRun, 99_id}}));
  EXPECT_EQ(renewed(3), 220_t);
  EXPECT_EQ(refusal(answers->at(4)), (ShardTerminal{{kRun, 11_id}, ShardStatus::kDone}));
  EXPECT_EQ(renewed(5), 220_t);
  EXPECT_EQ(answers->at(5)->capacity.available_count, 1U);
  EXPECT_EQ(shard(10_id).state.lease, (LeaseHolder{1_w, 220_t}));
  EXPECT_EQ(shard(12_id).state.lease, (LeaseHolder{1_w, 110_t}));
  EXPECT_EQ(shard(13_id).state.lease, (LeaseHolder{1_w, 220_t}));
}

TEST_P(Conformance, R24RenewManyTakes1024Leases) {
  const Lease lease = take(10_t, 1_w);
  const auto renew_times = [&](std::size_t count) {
    return watched({.shard = kKey}, [&] {
      return facade().renew_many(20_t, tenant(), std::vector<Lease>(count, lease));
    });
  };
  EXPECT_EQ(refusal(renew_times(kRenewManyMax + 1)), (TooManyLeases{1025, 1024}));
  EXPECT_TRUE(renew_times(0)->empty());
  EXPECT_EQ(shard().state.lease, (LeaseHolder{1_w, 110_t}));
  EXPECT_EQ(renew_times(kRenewManyMax)->size(), 1024U);
  EXPECT_EQ(shard().state.lease, (LeaseHolder{1_w, 120_t}));
}

}  // namespace
}  // namespace cadastre::coord::conformance
