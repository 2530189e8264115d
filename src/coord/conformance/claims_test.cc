// Group K: workers take whatever is free.

#include <cstddef>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "coord/backend.h"
#include "coord/conformance/suite_testing.h"
#include "coord/conformance/words_testing.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/shard_record.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"

namespace cadastre::coord::conformance {
namespace {

// Shards with ids from 10 on, up to seven.
std::vector<InitialShardInput> roots(std::size_t count) {
  const std::vector<InitialShardInput> all{{10_id, spec("a"_b, "b"_b)}, {11_id, spec("b"_b, "c"_b)},
                                           {12_id, spec("c"_b, "d"_b)}, {13_id, spec("d"_b, "e"_b)},
                                           {14_id, spec("e"_b, "f"_b)}, {15_id, spec("f"_b, "g"_b)},
                                           {16_id, spec("g"_b, "h"_b)}};
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}

struct Candidates {
  std::vector<ShardId> shards;
  std::optional<LogicalTime> earliest;

  friend bool operator==(const Candidates&, const Candidates&) = default;
};

Candidates candidates_at(Conformance& suite, LogicalTime now, RunId run = kRun) {
  Candidates found{.shards = {99_id}, .earliest = std::nullopt};  // whatever is in it is replaced
  found.earliest = suite
                       .watched({},
                                [&] {
                                  return suite.facade().collect_claim_candidates_into(
                                      now, suite.tenant(), run, found.shards);
                                })
                       .value();
  return found;
}

TEST_P(Conformance, K1ThreeWorkersTwoShards) {
  open_with(roots(2));
  const auto first = claim(10_t, 1_w);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->lease.shard(), 11_id);
  EXPECT_EQ(first->lease.owner(), 1_w);
  EXPECT_EQ(first->lease.fence(), 2_fence);
  EXPECT_EQ(first->snapshot.spec, spec("b"_b, "c"_b));
  EXPECT_EQ(first->capacity, (CapacityHint{1, 110_t}));
  EXPECT_EQ(claim(10_t, 2_w)->lease.shard(), 10_id);
  EXPECT_EQ(refusal(claim(10_t, 3_w)), NoneAvailable{110_t});
}

TEST_P(Conformance, K1AnExpiredShardIsClaimedAgain) {
  const Lease one = claim(10_t, 1_w).value().lease;
  EXPECT_EQ(refusal(claim(109_t, 2_w)), NoneAvailable{110_t});
  const auto two = claim(110_t, 2_w);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->lease.fence(), 3_fence);
  EXPECT_EQ(refusal(checkpoint(111_t, one, "d"_b, 1_op)), (StaleFence{2_fence, 3_fence}));
}

TEST_P(Conformance, K2WorkersStartAtTheirOwnPlace) {
  struct Row {
    WorkerId worker;
    std::size_t count = 0;
    ShardId first;
  };
  const WorkerId last = WorkerId::from_raw(kU64Max);
  for (const Row& row :
       {Row{0_w, 3, 10_id}, Row{1_w, 3, 11_id}, Row{2_w, 3, 12_id}, Row{3_w, 3, 10_id},
        Row{7_w, 5, 12_id}, Row{last, 5, 10_id}, Row{last, 7, 11_id}}) {
    open_with(roots(row.count));
    EXPECT_EQ(claim(10_t, row.worker)->lease.shard(), row.first)
        << row.worker << " of " << row.count;
  }
}

// Candidates are ordered by id, whatever their place in the key space; derived ones come last.
TEST_P(Conformance, K2CandidatesAreOrderedById) {
  open_with(
      {{20_id, spec("a"_b, "f"_b)}, {10_id, spec("f"_b, "m"_b)}, {15_id, spec("m"_b, "z"_b)}});
  EXPECT_EQ(candidates_at(*this, 5_t), (Candidates{{10_id, 15_id, 20_id}, std::nullopt}));
  const auto split = split_residual(11_t, take(10_t, 1_w, 10_id), cut("f"_b, "h"_b, "m"_b), 1_op);
  EXPECT_TRUE(executed(split));
  const ShardId residual = split->value().residual;
  EXPECT_EQ(candidates_at(*this, 11_t), (Candidates{{15_id, 20_id, residual}, 110_t}));
  EXPECT_EQ(candidates_at(*this, 110_t),
            (Candidates{{10_id, 15_id, 20_id, residual}, std::nullopt}));
  EXPECT_EQ(claim(12_t, 2_w)->lease.shard(), residual);
}

TEST_P(Conformance, K3AWorkerCoolsDownAfterAClaim) {
  open_with(roots(5), {.claim_cooldown_interval = 10});
  ASSERT_TRUE(claim(100_t, 1_w));
  EXPECT_EQ(refusal(claim(100_t, 1_w)), Throttled{110_t});
  EXPECT_EQ(refusal(claim(105_t, 1_w)), Throttled{110_t});
  EXPECT_EQ(refusal(claim(109_t, 1_w)), Throttled{110_t});
  EXPECT_TRUE(claim(105_t, 2_w));  // another worker
  EXPECT_TRUE(claim(110_t, 1_w));
  EXPECT_EQ(refusal(claim(119_t, 1_w)), Throttled{120_t});
}

TEST_P(Conformance, K3WhatIsNoClaimNeitherTestsNorStartsIt) {
  open_with(roots(2), {.claim_cooldown_interval = 10});
  const Lease held = take(100_t, 1_w, 10_id);
  const auto claimed = claim(100_t, 1_w);  // an acquisition has not started it
  ASSERT_TRUE(claimed);
  EXPECT_TRUE(executed(release(101_t, held, CursorUpdate::initial(), 1_op)));
  EXPECT_TRUE(acquire(102_t, 1_w, 10_id));  // nor does an acquisition wait
  EXPECT_EQ(refusal(claim(111_t, 1_w)), NoneAvailable{200_t});
  EXPECT_EQ(refusal(claim(111_t, 1_w)), NoneAvailable{200_t});  // nor does a failed claim start it
  EXPECT_TRUE(claim(200_t, 1_w));
}

// The order of 7.3: a worker that is throttled learns nothing else.
TEST_P(Conformance, K3TheCooldownIsToldFirst) {
  open_with(roots(2), {.claim_cooldown_interval = 10});
  ASSERT_TRUE(claim(100_t, 1_w));
  EXPECT_EQ(refusal(claim(105_t, 1_w, 2_run)), Throttled{110_t});
  EXPECT_EQ(refusal(claim(105_t, 2_w, 2_run)), RunNotFound{2_run});
}

// D-20: a tenant cannot throttle another's worker.
TEST_P(Conformance, K3CooldownsAreOfATenantsWorker) {
  open_with(roots(2), {.claim_cooldown_interval = 10});
  ASSERT_TRUE(facade().create_run(1_t, tenant_of(2), kRun, config()));
  ASSERT_TRUE(facade().register_shards(2_t, tenant_of(2), kRun, roots(2), 1_op));
  ASSERT_TRUE(claim(100_t, 1_w));
  EXPECT_TRUE(facade().claim_next_available(100_t, tenant_of(2), kRun, 1_w, scratch()));
  EXPECT_EQ(refusal(claim(105_t, 1_w)), Throttled{110_t});
}

TEST_P(Conformance, K3TheEndOfTimeStopsTheCooldown) {
  open_with(roots(2), {.claim_cooldown_interval = 10});
  const LogicalTime end = LogicalTime::from_raw(kU64Max);
  const LogicalTime late = LogicalTime::from_raw(kU64Max - 5);
  ASSERT_TRUE(claim(late, 1_w));
  EXPECT_EQ(refusal(claim(late, 1_w)), Throttled{end});
  EXPECT_TRUE(claim(end, 1_w));
}

// Whatever others did since a worker looked, a claim takes what is left.
TEST_P(Conformance, K4AClaimTakesWhatOthersLeft) {
  open_with(roots(4));
  EXPECT_EQ(candidates_at(*this, 10_t).shards.size(), 4U);
  const Lease done = take(10_t, 2_w, 10_id);
  EXPECT_TRUE(executed(complete(10_t, done, "a"_b, 1_op)));
  EXPECT_TRUE(executed(park(10_t, take(10_t, 2_w, 11_id), ParkReason::kOther, 1_op)));
  ASSERT_TRUE(acquire(10_t, 2_w, 12_id));
  EXPECT_EQ(claim(10_t, 1_w)->lease.shard(), 13_id);
  EXPECT_EQ(refusal(claim(10_t, 1_w)), NoneAvailable{110_t});
}

TEST_P(Conformance, K5RunsWithoutCandidates) {
  ASSERT_TRUE(create_run(3_t, 2_run, config()));
  EXPECT_EQ(refusal(claim(10_t, 1_w, 2_run)), NoneAvailable{});
  EXPECT_EQ(candidates_at(*this, 10_t, 2_run), Candidates{});
  EXPECT_EQ(refusal(claim(10_t, 1_w, 3_run)), RunNotFound{3_run});
  std::vector<ShardId> out;
  EXPECT_EQ(refusal(facade().collect_claim_candidates_into(10_t, tenant(), 3_run, out)),
            RunNotFound{3_run});
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(complete(11_t, lease, "y"_b, 1_op)));
  EXPECT_EQ(refusal(claim(12_t, 1_w)), NoneAvailable{});
}

// D-8: a run that is over offers nothing, though its shards are free.
TEST_P(Conformance, K5ARunThatIsOverOffersNothing) {
  open_with(roots(3));
  ASSERT_TRUE(acquire(10_t, 1_w, 10_id));
  EXPECT_TRUE(executed(fail_run(11_t, 1_op)));
  EXPECT_EQ(refusal(claim(12_t, 2_w)), NoneAvailable{});
  EXPECT_EQ(candidates_at(*this, 12_t), Candidates{});
  EXPECT_TRUE(acquire(12_t, 2_w, 11_id));  // who knows the shard may still take it
}

TEST_P(Conformance, K6CapacityIsToldAfterAcquireAndRenew) {
  open_with(roots(3));
  EXPECT_EQ(acquire(10_t, 1_w, 10_id)->capacity, (CapacityHint{2, 110_t}));
  const auto second = acquire(20_t, 1_w, 11_id);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->capacity, (CapacityHint{1, 110_t}));
  EXPECT_EQ(renew(30_t, second->lease)->capacity, (CapacityHint{1, 110_t}));
  EXPECT_EQ(renew(110_t, second->lease)->capacity, (CapacityHint{2, 210_t}));  // 10 is free again
  EXPECT_EQ(acquire(111_t, 2_w, 10_id)->capacity, (CapacityHint{1, 210_t}));
  const auto last = acquire(112_t, 2_w, 12_id);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->capacity, (CapacityHint{0, 210_t}));
  EXPECT_TRUE(last->capacity.is_saturated());
}

// `now` may go back: what is free is judged at the time of each request.
TEST_P(Conformance, K6CapacityFollowsTheTimeOfTheRequest) {
  open_with(roots(3));
  const Lease one = take(10_t, 1_w, 10_id);
  const Lease two = take(100_t, 2_w, 11_id);
  EXPECT_EQ(renew(150_t, two)->capacity, (CapacityHint{2, 250_t}));
  EXPECT_EQ(renew(50_t, one)->capacity, (CapacityHint{1, 150_t}));
  EXPECT_EQ(candidates_at(*this, 149_t), (Candidates{{12_id}, 150_t}));
  EXPECT_EQ(candidates_at(*this, 150_t), (Candidates{{10_id, 12_id}, 250_t}));
  EXPECT_EQ(candidates_at(*this, 250_t), (Candidates{{10_id, 11_id, 12_id}, std::nullopt}));
  EXPECT_EQ(candidates_at(*this, 20_t), (Candidates{{12_id}, 150_t}));
}

}  // namespace
}  // namespace cadastre::coord::conformance
