#include "server/claim_streams.h"

#include <chrono>
#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include "cadastre/v1/coordination.pb.h"

#include "client/wire_error.h"
#include "coord/identity.h"
#include "coord/tenant_name.h"
#include "server/claim_waiters.h"
#include "server/coordination_handlers.h"
#include "server/handlers_testing.h"
#include "tests/server/scene.h"

namespace cadastre::server {
namespace {

using std::chrono::milliseconds;

RunName run_of(std::uint64_t run) {
  return {coord::tenant_named("acme"), coord::RunId::from_raw(run)};
}

// A stream that has been tried once.
WaiterId open(Scene& scene, RecordingSink& sink, std::uint64_t worker, std::uint64_t run = 1) {
  const auto waiter = scene.streams.open(run_of(run), coord::WorkerId::from_raw(worker), sink);
  EXPECT_TRUE(waiter);
  scene.streams.run();
  scene.deliver();
  return *waiter;
}

std::string end_run(Scene& scene, std::uint64_t run) {
  v1::EndRunRequest request;
  request.set_tenant(tenant_bytes("acme"));
  request.set_run(run);
  request.set_op_id(77);
  v1::OutcomeResponse answer;
  return code_of(scene.call(&CoordinationHandlers::cancel_run, request, answer));
}

TEST(ClaimStreams, GrantAtOnceWhatIsFree) {
  Scene scene;
  scene.make_run(1, 1);
  RecordingSink sink;
  (void)open(scene, sink, 5);
  ASSERT_EQ(sink.leases.size(), 1U);
  EXPECT_EQ(sink.leases[0].owner(), coord::WorkerId::from_raw(5));
}

TEST(ClaimStreams, AReleaseReachesTheOneThatWaitedLongest) {
  Scene scene;
  scene.make_run(1, 1);
  const v1::Grant held = scene.claim(1, 1);
  RecordingSink first;
  RecordingSink second;
  (void)open(scene, first, 2);
  (void)open(scene, second, 3);
  EXPECT_EQ(first.leases.size() + second.leases.size(), 0U);
  EXPECT_EQ(scene.release(held.lease(), 4), "ok");
  EXPECT_EQ(first.leases.size(), 1U);
  EXPECT_EQ(second.leases.size(), 0U);
}

TEST(ClaimStreams, AnEndedLeaseIsClaimedAtItsDeadline) {
  Scene scene;
  scene.make_run(1, 1, 1000);
  (void)scene.claim(1, 1);
  RecordingSink sink;
  (void)open(scene, sink, 2);
  EXPECT_EQ(scene.alarm.at, coord::LogicalTime::from_raw(1'001'000));
  scene.advance(milliseconds(999));
  EXPECT_EQ(sink.leases.size(), 0U);
  scene.advance(milliseconds(1));
  EXPECT_EQ(sink.leases.size(), 1U);
}

TEST(ClaimStreams, ARegistrationAndASplitWakeTheRun) {
  Scene scene;
  v1::CreateRunRequest create;
  create.set_tenant(tenant_bytes("acme"));
  create.set_run(2);
  create.mutable_config()->set_cursor_semantics(v1::CURSOR_SEMANTICS_COMPLETED);
  create.mutable_config()->set_lease_duration(1000);
  v1::Run created;
  ASSERT_EQ(code_of(scene.call(&CoordinationHandlers::create_run, create, created)), "ok");
  RecordingSink early;
  (void)open(scene, early, 2, 2);
  EXPECT_FALSE(early.ended);
  v1::RegisterShardsRequest request;
  request.set_tenant(tenant_bytes("acme"));
  request.set_run(2);
  request.set_op_id(1);
  v1::InitialShard& shard = *request.add_shards();
  shard.set_shard(1);
  shard.mutable_spec()->set_start("a");
  shard.mutable_spec()->set_end("z");
  v1::RegisterShardsResponse registered;
  ASSERT_EQ(code_of(scene.call(&CoordinationHandlers::register_shards, request, registered)), "ok");
  ASSERT_EQ(early.leases.size(), 1U);

  RecordingSink late;
  (void)open(scene, late, 3, 2);
  v1::SplitResidualRequest split;
  split.set_tenant(tenant_bytes("acme"));
  v1::Lease& lease = *split.mutable_lease();
  lease.set_run(2);
  lease.set_shard(1);
  lease.set_worker(2);
  lease.set_fence(early.leases[0].fence().raw());
  lease.set_deadline(early.leases[0].deadline().raw());
  split.mutable_new_parent()->set_start("a");
  split.mutable_new_parent()->set_end("m");
  split.mutable_residual()->set_start("m");
  split.mutable_residual()->set_end("z");
  split.set_op_id(5);
  v1::SplitResidualResponse answer;
  ASSERT_EQ(code_of(scene.call(&CoordinationHandlers::split_residual, split, answer)), "ok");
  EXPECT_EQ(late.leases.size(), 1U);
}

TEST(ClaimStreams, TheEndOfTheRunEndsThemInOrder) {
  Scene scene;
  scene.make_run(1, 1);
  (void)scene.claim(1, 1);
  RecordingSink first;
  RecordingSink second;
  (void)open(scene, first, 2);
  (void)open(scene, second, 3);
  EXPECT_EQ(end_run(scene, 1), "ok");
  ASSERT_TRUE(first.ended && second.ended);
  EXPECT_EQ(first.ended->code, client::StatusCode::kOk);
  EXPECT_EQ(second.ended->code, client::StatusCode::kOk);
  EXPECT_EQ(scene.streams.size(), 0U);
  RecordingSink third;
  (void)open(scene, third, 4);
  EXPECT_TRUE(third.ended && third.ended->code == client::StatusCode::kOk);
}

TEST(ClaimStreams, ARunThatIsNotThereIsAnError) {
  Scene scene;
  RecordingSink sink;
  (void)open(scene, sink, 2, 9);
  ASSERT_TRUE(sink.ended);
  EXPECT_EQ(code_of(*sink.ended), "run_not_found");
}

// A claim committed for a caller that left is released: the next one gets the shard without waiting.
TEST(ClaimStreams, AShardClaimedForOneWhoLeftGoesToTheNext) {
  Scene scene;
  scene.make_run(1, 1);
  RecordingSink gone;
  const auto waiter = scene.streams.open(run_of(1), coord::WorkerId::from_raw(2), gone);
  ASSERT_TRUE(waiter);
  scene.streams.run();  // The claim has taken effect; its answer waits.
  EXPECT_EQ(scene.streams.leave(*waiter), ClaimWaiters::Leaving::kBeingTried);
  RecordingSink next;
  (void)scene.streams.open(run_of(1), coord::WorkerId::from_raw(3), next);
  scene.deliver();
  EXPECT_EQ(gone.leases.size(), 0U);
  ASSERT_TRUE(gone.ended);
  EXPECT_EQ(gone.ended->code, client::StatusCode::kCancelled);
  ASSERT_EQ(next.leases.size(), 1U);
}

TEST(ClaimStreams, AGrantThatWasNotDeliveredIsGivenBack) {
  Scene scene;
  scene.make_run(1, 1);
  RecordingSink sink;
  const WaiterId waiter = open(scene, sink, 2);
  ASSERT_EQ(sink.leases.size(), 1U);
  scene.streams.give_back(sink.leases[0]);
  scene.streams.close(waiter);
  scene.deliver();
  EXPECT_EQ(scene.claim(1, 3).lease().worker(), 3U);
}

TEST(ClaimStreams, AStopEndsThemAndRefusesOthers) {
  Scene scene;
  scene.make_run(1, 1);
  const v1::Grant held = scene.claim(1, 1);
  RecordingSink tried;
  (void)open(scene, tried, 2);
  RecordingSink waiting;
  (void)scene.streams.open(run_of(1), coord::WorkerId::from_raw(3), waiting);
  scene.streams.run();  // The one who waited longest is tried.
  scene.streams.stop();
  ASSERT_TRUE(waiting.ended);
  EXPECT_EQ(waiting.ended->code, client::StatusCode::kUnavailable);
  EXPECT_FALSE(tried.ended);
  scene.deliver();
  ASSERT_TRUE(tried.ended);
  EXPECT_EQ(tried.ended->code, client::StatusCode::kUnavailable);
  RecordingSink late;
  const auto refused = scene.streams.open(run_of(1), coord::WorkerId::from_raw(4), late);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ClaimStreams::OpenError::kStopping);
  EXPECT_EQ(scene.streams.size(), 0U);
}

TEST(ClaimStreams, AThrottledWorkerWaitsForItsTime) {
  Scene scene("", {.claim_cooldown_interval = 50});
  scene.make_run(1, 2);
  (void)scene.claim(1, 2);
  RecordingSink sink;
  (void)open(scene, sink, 2);
  EXPECT_EQ(sink.leases.size(), 0U);
  scene.advance(milliseconds(50));
  EXPECT_EQ(sink.leases.size(), 1U);
}

}  // namespace
}  // namespace cadastre::server
