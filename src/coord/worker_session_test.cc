#include "coord/worker_session.h"

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/memory/memory_backend.h"
#include "coord/one_shard_testing.h"
#include "coord/shard_record.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"
#include "shard/shard_spec.h"
#include "shard/split_plan.h"

namespace cadastre::coord {
namespace {

using testing::at;
using testing::op;
using testing::worker;
using testing::operator""_b;

class WorkerSessionTest : public testing::OneShard {
 protected:
  auto open(std::uint64_t now = 10) {
    return WorkerSession::open(backend_, at(now), tenant_, kKey, worker(7));
  }
};

TEST_F(WorkerSessionTest, HoldsWhatWasAcquired) {
  const auto session = open();
  ASSERT_TRUE(session);
  EXPECT_EQ(session->worker(), worker(7));
  EXPECT_EQ(session->tenant(), tenant_);
  EXPECT_EQ(session->shard_key(), kKey);
  EXPECT_EQ(session->lease().fence().raw(), 2U);
  EXPECT_EQ(session->spec(), ShardSpecRef::must_make("a"_b, "z"_b));
  EXPECT_EQ(session->cursor(), CursorUpdate::initial());
  EXPECT_EQ(session->capacity().earliest_deadline, at(110));
  EXPECT_TRUE(open(11).error().is<AlreadyLeased>()) << "dropping nothing, the shard is taken";
}

TEST_F(WorkerSessionTest, RenewsTheLeaseAndNothingElse) {
  auto session = open();
  ASSERT_TRUE(session->checkpoint(at(11), CursorUpdate::make("d"_b), op(1)));
  ASSERT_TRUE(session->renew(at(50)));
  EXPECT_EQ(session->lease().deadline(), at(150));
  EXPECT_EQ(session->cursor(), CursorUpdate::initial()) << "the snapshot is of the acquisition";
}

TEST_F(WorkerSessionTest, NarrowsItsSpecWhenASplitIsExecuted) {
  auto session = open();
  const auto plan = *SplitResidualPlan::try_make(ShardSpecRef::must_make("a"_b, "m"_b),
                                                 ShardSpecRef::must_make("m"_b, "z"_b));
  ASSERT_TRUE(session->split_residual(at(11), plan, op(2))->is_executed());
  EXPECT_EQ(session->spec(), ShardSpecRef::must_make("a"_b, "m"_b));
  EXPECT_EQ(session->initial_snapshot().spawned().size(), 1U);
  ASSERT_TRUE(session->split_residual(at(12), plan, op(2))->is_replay());
  EXPECT_EQ(session->initial_snapshot().spawned().size(), 1U) << "a replay has narrowed it before";
}

TEST_F(WorkerSessionTest, IsConsumedByItsEnd) {
  auto session = open();
  ASSERT_TRUE(std::move(*session).complete(at(11), CursorUpdate::make("y"_b), op(1)));
  // NOLINTNEXTLINE(bugprone-use-after-move): that this aborts is the point
  EXPECT_DEATH((void)session->lease(), "until it is consumed or moved");
}

TEST_F(WorkerSessionTest, GivesBackAHandleWhenItsEndFails) {
  auto session = open();
  const auto failed = std::move(*session).complete(at(110), CursorUpdate::make("y"_b), op(1));
  ASSERT_FALSE(failed);
  EXPECT_TRUE(failed.error().error.is<LeaseExpired>());
  const RetryHandle& handle = failed.error().retry_handle;
  EXPECT_TRUE(
      backend_.complete(at(109), handle.tenant, handle.lease, CursorUpdate::make("y"_b), op(1))
          ->is_executed())
      << "the same op id, on the backend itself";
}

// C-4.4, D-13
TEST_F(WorkerSessionTest, CompletesAnEmptyShardAtItsStart) {
  auto session = open();
  ASSERT_TRUE(std::move(*session).complete_empty(at(11), op(1)));
  EXPECT_EQ(backend_.dump_shards().at(0).state.status, ShardStatus::kDone);
  EXPECT_EQ(base::as_text(backend_.dump_shards().at(0).last_key), "a");
}

TEST_F(WorkerSessionTest, CompletesWhereTheCursorStood) {
  {
    auto session = open();
    ASSERT_TRUE(session->checkpoint(at(11), CursorUpdate::make("d"_b, "tok"_b), op(1)));
  }
  auto session = open(200);
  ASSERT_TRUE(std::move(*session).complete_empty(at(201), op(2)));
  EXPECT_EQ(base::as_text(backend_.dump_shards().at(0).last_key), "d");
}

TEST_F(WorkerSessionTest, ParksReleasesAndSplits) {
  auto parked = open();
  ASSERT_TRUE(std::move(*parked).park(at(11), ParkReason::kPoisoned, op(1)));
  ASSERT_TRUE(backend_.unpark_shard(at(12), tenant_, kKey, op(2)));
  auto released = open(13);
  ASSERT_TRUE(std::move(*released).release(at(14), CursorUpdate::make("c"_b), op(3)));
  auto split = open(15);
  ASSERT_TRUE(split) << "a release does not wait out the lease";
  EXPECT_EQ(split->cursor(), CursorUpdate::make("c"_b));
  const std::array children{shard::SplitReplaceChild{ShardSpecRef::must_make("a"_b, "m"_b)},
                            shard::SplitReplaceChild{ShardSpecRef::must_make("m"_b, "z"_b)}};
  const auto plan = SplitReplacePlan::try_make(children);
  const auto result = std::move(*split).split_replace(at(16), *plan, op(4));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->value().children.size(), 2U);
}

TEST_F(WorkerSessionTest, TakesOverAClaim) {
  const auto claimed = backend_.claim_next_available(at(10), tenant_, kRun, worker(3), *scratch_);
  auto session = WorkerSession::from_acquired(backend_, AcquiredShard(*claimed));
  EXPECT_EQ(session.worker(), worker(3));
  EXPECT_EQ(backend_.open_sessions(), 1U);
  auto moved = std::move(session);
  EXPECT_EQ(backend_.open_sessions(), 1U) << "a move opens none";
  ASSERT_TRUE(std::move(moved).release(at(11), CursorUpdate::initial(), op(1)));
  EXPECT_EQ(backend_.open_sessions(), 0U);
}

}  // namespace
}  // namespace cadastre::coord
