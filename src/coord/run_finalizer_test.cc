#include "coord/run_finalizer.h"

#include <array>
#include <cstdint>

#include <gtest/gtest.h>

#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/lease.h"
#include "coord/one_shard_testing.h"
#include "coord/retry_policy.h"
#include "coord/run_creation.h"
#include "coord/shard_record.h"
#include "coord/shard_summary.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"

namespace cadastre::coord {
namespace {

using testing::at;
using testing::op;
using testing::worker;
using testing::operator""_b;

// D-8
class RunFinalizer : public testing::OneShard {
 protected:
  Lease acquire(std::uint64_t now) {
    return backend_.acquire_and_restore_into(at(now), tenant_, kKey, worker(1), *scratch_)->lease;
  }
};

TEST_F(RunFinalizer, WaitsForActiveShards) {
  EXPECT_EQ(finalize_run(backend_, at(10), tenant_, kRun, op(9)).error(), (RunNotSettled{1, 0}));
  EXPECT_EQ(complete_run_strictly(backend_, at(10), tenant_, kRun, op(9)).error(),
            (RunNotSettled{1, 0}));
}

TEST_F(RunFinalizer, CompletesWhatIsDone) {
  const Lease lease = acquire(10);
  ASSERT_TRUE(backend_.complete(at(11), tenant_, lease, CursorUpdate::make("y"_b), op(1)));
  EXPECT_EQ(finalize_run(backend_, at(12), tenant_, kRun, op(9)), RunStatus::kDone);
  EXPECT_EQ(finalize_run(backend_, at(13), tenant_, kRun, op(9)), RunStatus::kDone) << "a retry";
  EXPECT_EQ(finalize_run(backend_, at(13), tenant_, kRun, op(10)).error(),
            RunTerminal{RunStatus::kDone});
}

TEST_F(RunFinalizer, FailsWhatIsParkedAndStrictCompletionRefuses) {
  const Lease lease = acquire(10);
  ASSERT_TRUE(backend_.park_shard(at(11), tenant_, lease, ParkReason::kOther, op(1)));
  EXPECT_EQ(complete_run_strictly(backend_, at(12), tenant_, kRun, op(8)).error(),
            (RunNotSettled{0, 1}));
  EXPECT_EQ(finalize_run(backend_, at(12), tenant_, kRun, op(9)), RunStatus::kFailed);
}

// C8
TEST_F(RunFinalizer, ARunIsCreatedWithItsShardsInOneCall) {
  const std::array manifest{
      InitialShardInput{ShardId::from_raw(1), ShardSpecRef::must_make("a"_b, "b"_b)}};
  NewRun run{RunId::from_raw(5), {.lease_duration = 10}, manifest};
  ASSERT_TRUE(backend_.create_run(at(3), tenant_, run.run, run.config)) << "a crash came between";
  const auto created = create_run_with_shards(backend_, at(4), tenant_, run, op(1));
  ASSERT_TRUE(created);
  EXPECT_TRUE(created->is_executed());
  EXPECT_EQ(created->value().status, RunStatus::kActive);
  EXPECT_TRUE(create_run_with_shards(backend_, at(5), tenant_, run, op(1))->is_replay());
  run.config.lease_duration = 11;
  EXPECT_EQ(create_run_with_shards(backend_, at(5), tenant_, run, op(1)).error(),
            ConfigMismatch{run.run});
  run.config.lease_duration = 0;
  EXPECT_TRUE(
      create_run_with_shards(backend_, at(5), tenant_, run, op(1)).error().is<InvalidConfig>());
}

// D-43
TEST(RetryPolicy, UnparksOnlyWhatHadTooManyErrorsAndOnlySoOften) {
  ShardSummary shard;
  shard.status = ShardStatus::kParked;
  shard.park_reason = ParkReason::kTooManyErrors;
  const RetryPolicy policy{.unpark_delay = 10, .unparks_max = 2};
  EXPECT_FALSE(should_unpark(shard, {at(100), 0}, policy, at(109)));
  EXPECT_TRUE(should_unpark(shard, {at(100), 0}, policy, at(110)));
  EXPECT_TRUE(should_unpark(shard, {at(100), 1}, policy, at(110)));
  EXPECT_FALSE(should_unpark(shard, {at(100), 2}, policy, at(110)));
  shard.park_reason = ParkReason::kPoisoned;
  EXPECT_FALSE(should_unpark(shard, {at(100), 0}, policy, at(110)));
  shard.status = ShardStatus::kActive;
  EXPECT_FALSE(should_unpark(shard, {at(100), 0}, policy, at(110)));
}

// D-7
TEST(RetryPolicy, CountsHandOversWithoutUnparks) {
  ShardSummary shard;
  shard.acquire_count = 7;
  const RunConfig config{.lease_duration = 1, .max_shard_retries = 5};
  EXPECT_TRUE(should_park(shard, 0, config));
  EXPECT_TRUE(should_park(shard, 1, config));
  EXPECT_FALSE(should_park(shard, 2, config));
  EXPECT_FALSE(should_park(shard, 9, config));
  EXPECT_FALSE(should_park(shard, 0, RunConfig{.lease_duration = 1})) << "without bound";
  shard.status = ShardStatus::kDone;
  EXPECT_FALSE(should_park(shard, 0, config));
}

}  // namespace
}  // namespace cadastre::coord
