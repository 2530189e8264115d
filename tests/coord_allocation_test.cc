// C-9.4: acquire, renew, checkpoint, complete, park, release and claim allocate nothing once their
// worker has been seen, on success and on refusal.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/memory/memory_backend.h"
#include "coord/shard_record.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"
#include "tests/allocation_guard.h"

namespace cadastre::coord {
namespace {

using cadastre::testing::AllocationGuard;
using cadastre::testing::Expect;
using shard::testing::operator""_b;

constexpr std::size_t kShards = 64;
constexpr RunId kRun = RunId::from_raw(1);

class HotOperations : public ::testing::Test {
 protected:
  HotOperations()
      : backend_({.claim_cooldown_interval = 1}), scratch_(std::make_unique<AcquireScratch>()) {
    EXPECT_TRUE(backend_.create_run(now(), tenant_, kRun, {.lease_duration = 1'000'000}));
    std::vector<base::Bytes> keys;
    for (std::size_t i = 0; i <= kShards; ++i)
      keys.push_back({std::byte{'k'}, std::byte(i)});
    std::vector<InitialShardInput> manifest;
    manifest.reserve(kShards);
    for (std::size_t i = 0; i < kShards; ++i) {
      manifest.push_back({.shard = ShardId::from_raw(i + 1),
                          .spec = ShardSpecRef::unchecked(keys[i], keys[i + 1])});
    }
    EXPECT_TRUE(backend_.register_shards(now(), tenant_, kRun, manifest, op()));
    // Warm: the worker claims once, and gives back.
    const auto claimed = claim();
    EXPECT_TRUE(claimed);
    EXPECT_TRUE(
        backend_.release_shard(now(), tenant_, claimed->lease, CursorUpdate::initial(), op()));
  }

  LogicalTime now() { return LogicalTime::from_raw(++time_); }
  OpId op() { return OpId::from_raw(++op_); }
  Result<AcquireResultView, ClaimError> claim() {
    time_ += 2;  // Past the cooldown.
    return backend_.claim_next_available(now(), tenant_, kRun, kWorker, *scratch_);
  }
  Lease acquire(std::uint64_t shard) {
    return backend_
        .acquire_and_restore_into(now(), tenant_, {kRun, ShardId::from_raw(shard)}, kWorker,
                                  *scratch_)
        ->lease;
  }
  // A key inside shard number `shard`.
  static std::array<std::byte, 3> inside(std::uint64_t shard, int step) {
    return {std::byte{'k'}, std::byte(shard - 1), std::byte(step)};
  }

  static constexpr WorkerId kWorker = WorkerId::from_raw(5);
  std::uint64_t time_ = 0;
  std::uint64_t op_ = 0;
  TenantId tenant_ = TenantId::from_bytes({std::byte{1}});
  memory::MemoryBackend backend_;
  std::unique_ptr<AcquireScratch> scratch_;
};

TEST_F(HotOperations, TheHookIsLive) {
  const AllocationGuard guard(Expect::kSome);
  ASSERT_TRUE(backend_.get_run(tenant_, kRun));
}

TEST_F(HotOperations, AcquireRenewCheckpointAndCompleteAllocateNothing) {
  const AllocationGuard guard(Expect::kNone);
  for (std::uint64_t shard = 1; shard <= kShards / 2; ++shard) {
    const Lease lease = acquire(shard);
    for (int step = 1; step < 40; ++step) {
      const auto key = inside(shard, step);
      ASSERT_TRUE(backend_.checkpoint(now(), tenant_, lease, CursorUpdate::make(key, key), op()));
      ASSERT_TRUE(backend_.renew(now(), tenant_, lease));
    }
    ASSERT_TRUE(
        backend_.complete(now(), tenant_, lease, CursorUpdate::make(inside(shard, 41)), op()));
  }
}

TEST_F(HotOperations, ClaimParkAndReleaseAllocateNothing) {
  const AllocationGuard guard(Expect::kNone);
  for (std::size_t i = 0; i < kShards; ++i) {
    const auto claimed = claim();
    ASSERT_TRUE(claimed);
    if (i % 2 == 0) {
      ASSERT_TRUE(backend_.park_shard(now(), tenant_, claimed->lease, ParkReason::kOther, op()));
    } else {
      ASSERT_TRUE(
          backend_.release_shard(now(), tenant_, claimed->lease, CursorUpdate::initial(), op()));
    }
  }
}

TEST_F(HotOperations, RefusalsAllocateNothing) {
  const Lease lease = acquire(1);
  const base::Bytes too_long(5000, std::byte{'k'});
  const AllocationGuard guard(Expect::kNone);
  EXPECT_TRUE(backend_.checkpoint(now(), tenant_, lease, CursorUpdate::make(too_long), op())
                  .error()
                  .is<CursorKeyTooLarge>());
  EXPECT_TRUE(backend_.checkpoint(now(), tenant_, lease, CursorUpdate::initial(), op())
                  .error()
                  .is<CheckpointMissingKey>());
  EXPECT_TRUE(backend_.checkpoint(now(), tenant_, lease, CursorUpdate::make("a"_b), op())
                  .error()
                  .is<CursorOutOfBounds>());
  EXPECT_TRUE(
      backend_.acquire_and_restore_into(now(), tenant_, lease.shard_key(), kWorker, *scratch_)
          .error()
          .is<AlreadyLeased>());
  time_ += 2'000'000;
  EXPECT_TRUE(backend_.renew(now(), tenant_, lease).error().is<LeaseExpired>());
}

TEST_F(HotOperations, LeasesThatEndAndReturnAllocateNothing) {
  for (std::uint64_t shard = 1; shard <= kShards; ++shard)
    (void)acquire(shard);
  const AllocationGuard guard(Expect::kNone);
  const std::uint64_t held = time_;
  for (std::uint64_t round = 1; round <= 3; ++round) {
    time_ = held + round * 3'000'000;  // All leases have ended.
    const auto late = claim();
    ASSERT_TRUE(late);
    time_ = held;  // And run again: time may go back.
    EXPECT_TRUE(claim().error().is<Throttled>());
    ASSERT_TRUE(backend_.get_run_progress(now(), tenant_, kRun));
  }
}

}  // namespace
}  // namespace cadastre::coord
