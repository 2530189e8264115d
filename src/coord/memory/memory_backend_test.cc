#include "coord/memory/memory_backend.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/shard_record.h"
#include "coord/shard_summary.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"
#include "shard/shard_spec.h"
#include "shard/split_plan.h"

namespace cadastre::coord::memory {
namespace {

using shard::testing::operator""_b;

LogicalTime at(std::uint64_t time) {
  return LogicalTime::from_raw(time);
}

OpId op(std::uint64_t id) {
  return OpId::from_raw(id);
}

// The conformance fixture: run 1 with shard 10 over [a, z), leases of 100.
class Timeline : public testing::Test {
 protected:
  Timeline() : backend_(MemoryOptions{}), scratch_(std::make_unique<AcquireScratch>()) {
    TenantId::Bytes bytes{};
    bytes.fill(std::byte{1});
    tenant_ = TenantId::from_bytes(bytes);
    EXPECT_TRUE(backend_.create_run(at(1), tenant_, kRun, {.lease_duration = 100}));
    const std::array manifest{
        InitialShardInput{ShardId::from_raw(10), ShardSpecRef::must_make("a"_b, "z"_b)}};
    EXPECT_TRUE(backend_.register_shards(at(2), tenant_, kRun, manifest,
                                         op(std::numeric_limits<std::uint64_t>::max())));
  }

  auto acquire(std::uint64_t now, std::uint64_t worker) {
    return backend_.acquire_and_restore_into(at(now), tenant_, kKey, WorkerId::from_raw(worker),
                                             *scratch_);
  }
  auto checkpoint(std::uint64_t now, const Lease& lease, base::ByteView key, std::uint64_t id) {
    return backend_.checkpoint(at(now), tenant_, lease, CursorUpdate::make(key), op(id));
  }

  static constexpr RunId kRun = RunId::from_raw(1);
  static constexpr ShardKey kKey{RunId::from_raw(1), ShardId::from_raw(10)};
  TenantId tenant_;
  MemoryBackend backend_;
  std::unique_ptr<AcquireScratch> scratch_;
};

// Section 9 of the vectors, row by row.
TEST_F(Timeline, GoesAsTheTableSays) {
  const auto first = acquire(10, 1);
  ASSERT_TRUE(first);
  const Lease one = first->lease;
  EXPECT_EQ(one.fence().raw(), 2U);
  EXPECT_EQ(one.deadline(), at(110));
  EXPECT_EQ(first->capacity, (CapacityHint{0, at(110)}));
  EXPECT_EQ(acquire(10, 1).error(), AlreadyLeased(WorkerId::from_raw(1), at(110)));
  EXPECT_TRUE(checkpoint(109, one, "d"_b, 1)->is_executed());
  EXPECT_EQ(checkpoint(110, one, "e"_b, 2).error(), (LeaseExpired{at(110), at(110)}));
  EXPECT_TRUE(checkpoint(110, one, "d"_b, 1)->is_replay());

  const auto second = acquire(110, 2);
  ASSERT_TRUE(second);
  const Lease two = second->lease;
  EXPECT_EQ(two.fence().raw(), 3U);
  EXPECT_EQ(two.deadline(), at(210));
  EXPECT_EQ(second->snapshot.cursor, CursorUpdate::make("d"_b));
  EXPECT_EQ(checkpoint(111, one, "e"_b, 3).error(),
            (StaleFence{FenceEpoch::from_raw(2), FenceEpoch::from_raw(3)}));
  EXPECT_TRUE(checkpoint(111, one, "d"_b, 1)->is_replay());
  EXPECT_TRUE(checkpoint(111, two, "x"_b, 1).error().is<OpIdConflict>());
  EXPECT_EQ(backend_.renew(at(150), tenant_, two)->new_deadline, at(250));
  const Lease forged =
      Lease::granted({tenant_, kKey, WorkerId::from_raw(99), two.fence(), at(250)});
  EXPECT_EQ(checkpoint(151, forged, "e"_b, 4).error(), (StaleFence{two.fence(), two.fence()}));
  EXPECT_TRUE(
      backend_.park_shard(at(152), tenant_, two, ParkReason::kTooManyErrors, op(5))->is_executed());
  EXPECT_EQ(backend_.renew(at(153), tenant_, two).error(),
            (ShardTerminal{kKey, ShardStatus::kParked}));
  EXPECT_EQ(backend_.unpark_shard(at(154), tenant_, kKey, op(6))->value().raw(), 4U);
  EXPECT_EQ(backend_.unpark_shard(at(155), tenant_, kKey, op(7)).error(),
            NotParked{ShardStatus::kActive});
  EXPECT_EQ(checkpoint(156, two, "e"_b, 8).error(),
            (StaleFence{FenceEpoch::from_raw(3), FenceEpoch::from_raw(4)}));
  EXPECT_EQ(acquire(157, 2)->lease.fence().raw(), 5U);
  std::vector<ShardSummary> shards;
  ASSERT_TRUE(backend_.list_shards_into(at(157), tenant_, kRun, {}, {}, shards));
  EXPECT_EQ(shards.at(0).acquire_count, 4U);
  backend_.verify();
}

TEST_F(Timeline, SplitsInBothWays) {
  const Lease lease = acquire(10, 1)->lease;
  const auto residual = *SplitResidualPlan::try_make(ShardSpecRef::must_make("a"_b, "m"_b),
                                                     ShardSpecRef::must_make("m"_b, "z"_b));
  const auto cut = backend_.split_residual(at(11), tenant_, lease, residual, op(2));
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->value().residual.raw(), 0xc9982bbef6c2b181U);
  EXPECT_TRUE(backend_.split_residual(at(11), tenant_, lease, residual, op(2))->is_replay());
  const std::array children{shard::SplitReplaceChild{ShardSpecRef::must_make("g"_b, "m"_b)},
                            shard::SplitReplaceChild{ShardSpecRef::must_make("a"_b, "g"_b)}};
  const auto plan = SplitReplacePlan::try_make(children);
  const auto split = backend_.split_replace(at(12), tenant_, lease, *plan, op(3));
  ASSERT_TRUE(split);
  EXPECT_EQ(split->value().children[0].raw(), 0xbc812733081ce7c6U);
  EXPECT_EQ(split->value().children[1].raw(), 0xa3ab34526fcf66e5U);
  backend_.verify();
  const auto progress = backend_.get_run_progress(at(12), tenant_, kRun);
  EXPECT_EQ(progress->total, 4U);
  EXPECT_EQ(progress->active, 3U);
  EXPECT_EQ(progress->split, 1U);
}

TEST_F(Timeline, ShowsOneRecord) {
  const Lease lease = acquire(10, 1)->lease;
  ASSERT_TRUE(checkpoint(11, lease, "d"_b, 1));
  const auto shard = backend_.get_shard(tenant_, kKey);
  ASSERT_TRUE(shard);
  EXPECT_EQ(*shard, backend_.dump_shards().at(0));
  EXPECT_EQ(shard->last_key, base::to_owned("d"_b));
}

TEST_F(Timeline, ShowsNoRecordOfAnotherTenant) {  // SEC-1
  EXPECT_EQ(backend_.get_shard(TenantId(), kKey).error(), ShardNotFound{kKey});
  const ShardKey other{kKey.run, ShardId::from_raw(11)};
  EXPECT_EQ(backend_.get_shard(tenant_, other).error(), ShardNotFound{other});
}

TEST_F(Timeline, VisitsTheRecordsThatItDumps) {
  const Lease lease = acquire(10, 1)->lease;
  const auto residual = *SplitResidualPlan::try_make(ShardSpecRef::must_make("a"_b, "m"_b),
                                                     ShardSpecRef::must_make("m"_b, "z"_b));
  ASSERT_TRUE(backend_.split_residual(at(11), tenant_, lease, residual, op(2)));
  std::vector<ShardDump> visited;
  backend_.visit_shards([&](const ShardRecordView& record) { visited.push_back(dump(record)); });
  EXPECT_EQ(visited.size(), 2U);
  EXPECT_EQ(visited, backend_.dump_shards());  // the roots come first in both orders
}

}  // namespace
}  // namespace cadastre::coord::memory
