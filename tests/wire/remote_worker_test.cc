// A worker over the wire: its lease is kept, its loss is told once, its end is orderly.

#include "client/remote_worker.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/random.h"
#include "client/lease_keeper.h"
#include "client/remote_coordination.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/snapshot.h"
#include "coord/worker_session.h"
#include "node/lease_keeper_thread.h"
#include "shard/bytes_testing.h"
#include "shard/cursor.h"
#include "shard/manifest.h"
#include "shard/shard_spec.h"
#include "tests/wire/wire_home.h"

namespace cadastre::wire {
namespace {

using client::LeaseKeeper;
using client::RemoteWorker;
using coord::testing::at;
using coord::testing::op;
using coord::testing::tenant_of;
using coord::testing::worker;
using shard::CursorUpdate;
using shard::testing::operator""_b;
using std::chrono::milliseconds;

const coord::TenantId kTenant = tenant_of(1);
const coord::RunId kRun = coord::RunId::from_raw(1);
const coord::ShardKey kKey{kRun, coord::ShardId::from_raw(10)};
constexpr std::uint64_t kLeaseMs = 1000;

// The worker's time is turned by hand and sent with every call.
struct Worker : testing::Test {
  Worker() {
    clock.set(base::Instant(milliseconds(1000)));
    EXPECT_TRUE(facade->create_run(at(1), kTenant, kRun, {.lease_duration = kLeaseMs}));
    const std::vector<shard::InitialShardInput> rows{
        {kKey.shard, shard::ShardSpecRef::unchecked("a"_b, "z"_b)}};
    EXPECT_TRUE(facade->register_shards(at(2), kTenant, kRun, rows, op(1)));
  }
  [[nodiscard]] coord::LogicalTime now() const {
    return at(static_cast<std::uint64_t>(clock.now().time_since_epoch() / milliseconds(1)));
  }
  coord::AcquiredShard take(std::uint64_t id) {
    return coord::AcquiredShard(
        *facade->acquire_and_restore_into(now(), kTenant, kKey, worker(id), *scratch));
  }
  [[nodiscard]] bool is_leased() {
    return facade->get_run_progress(now(), kTenant, kRun)->leased == 1;
  }
  [[nodiscard]] client::WorkerParts parts() { return {*facade, &keeper, clock, random}; }

  WireHome home;
  base::ManualClock clock;
  base::SeededRandom random{7};
  std::unique_ptr<client::RemoteCoordination> remote = home.connect();
  std::unique_ptr<coord::CoordinationFacade> facade = remote->blocking();
  std::unique_ptr<coord::AcquireScratch> scratch = std::make_unique<coord::AcquireScratch>();
  LeaseKeeper keeper{kTenant, milliseconds(kLeaseMs)};
};

TEST_F(Worker, KeepsItsLeaseAsLongAsRoundsAreMade) {
  RemoteWorker work(parts(), take(1));
  for (int i = 0; i < 10; ++i) {
    clock.advance(keeper.interval());
    keeper.round(*facade, now());
  }
  EXPECT_TRUE(work.checkpoint(CursorUpdate::make("k"_b))) << "three leases later";
  EXPECT_TRUE(work.complete(CursorUpdate::make("m"_b)));
  EXPECT_EQ(keeper.held(), 0U);
}

// F1: the fenced worker changes nothing.
TEST_F(Worker, ThatLostItsShardIsRefusedFromThenOn) {
  RemoteWorker work(parts(), take(1));
  clock.advance(milliseconds(kLeaseMs));
  RemoteWorker next(parts(), take(2));
  EXPECT_FALSE(work.is_lost());
  keeper.round(*facade, now());
  EXPECT_TRUE(work.is_lost());
  EXPECT_FALSE(next.is_lost());
  EXPECT_EQ(keeper.held(), 1U) << "the loss is told once";
  const auto moved = work.checkpoint(CursorUpdate::make("k"_b));
  ASSERT_FALSE(moved);
  EXPECT_TRUE(moved.error().is<coord::StaleFence>());
}

TEST_F(Worker, LearnsOfItsLossFromAnOperationToo) {
  RemoteWorker work({*facade, nullptr, clock, random}, take(1));
  clock.advance(milliseconds(kLeaseMs));
  const auto late = work.checkpoint(CursorUpdate::make("k"_b));
  ASSERT_FALSE(late);
  EXPECT_TRUE(late.error().is<coord::LeaseExpired>());
  EXPECT_TRUE(work.is_lost());
  EXPECT_TRUE(work.renew().error().is<coord::StaleFence>()) << "refused, and not sent";
}

// whoever goes gives its shard up at once.
TEST_F(Worker, ThatGoesReleasesItsShard) {
  {
    RemoteWorker work(parts(), take(1));
    ASSERT_TRUE(work.checkpoint(CursorUpdate::make("k"_b)));
    EXPECT_TRUE(is_leased());
  }
  EXPECT_FALSE(is_leased());
  EXPECT_EQ(keeper.held(), 0U);
  EXPECT_EQ(take(2).cursor(), CursorUpdate::make("k"_b)) << "where the last checkpoint stands";
}

TEST_F(Worker, ARoundThatIsNotAnsweredLosesNothing) {
  RemoteWorker work(parts(), take(1));
  home.stop();
  const auto away = home.connect({.address = home.address(), .retry = {.attempts_max = 1}});
  keeper.round(*away->blocking(), now());
  EXPECT_FALSE(work.is_lost());
  EXPECT_EQ(keeper.held(), 1U);
  home.start();
}

TEST_F(Worker, AThreadMakesTheRounds) {
  const auto renewing = home.connect({.address = home.address(), .time = client::TimeOf::kServer});
  const auto backend = renewing->blocking();
  const base::SystemClock system;
  ASSERT_TRUE(
      facade->create_run(at(1), kTenant, coord::RunId::from_raw(2), {.lease_duration = 60'000}));
  const std::vector<shard::InitialShardInput> rows{
      {kKey.shard, shard::ShardSpecRef::unchecked("a"_b, "z"_b)}};
  ASSERT_TRUE(backend->register_shards(at(2), kTenant, coord::RunId::from_raw(2), rows, op(9)));
  const auto granted =
      backend->claim_next_available(at(1), kTenant, coord::RunId::from_raw(2), worker(1), *scratch);
  ASSERT_TRUE(granted);
  LeaseKeeper often(kTenant, milliseconds(30));
  RemoteWorker work({*backend, &often, system, random}, coord::AcquiredShard(*granted));
  const auto first = work.acquired().lease().deadline();
  const auto for_the_thread = renewing->blocking();
  const node::LeaseKeeperThread thread(often, *for_the_thread, system);
  const auto deadline = [&] {
    return facade->get_shard(kTenant, {coord::RunId::from_raw(2), kKey.shard})
        ->state.lease->deadline;
  };
  const base::Elapsed until = system.elapsed() + std::chrono::seconds(30);
  while (deadline() <= first && system.elapsed() < until) {}
  EXPECT_GT(deadline(), first);
}

}  // namespace
}  // namespace cadastre::wire
