#include "coord/etcd/run_memory.h"

#include <chrono>
#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include "coord/conformance/words_testing.h"
#include "coord/etcd/limits.h"
#include "coord/etcd/prospects.h"
#include "coord/etcd/records.h"
#include "coord/etcd/spare_leases.h"
#include "coord/etcd/store.h"
#include "coord/identity.h"

namespace cadastre::coord::etcd {
namespace {

using conformance::operator""_id;
using conformance::operator""_t;
using conformance::operator""_w;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kStart{1'000};

RunName name_of(std::uint64_t run) {
  return {TenantId{}, RunId::from_raw(run)};
}

ProspectReading reading_of(ShardId free) {
  return {.free = {free}, .shards = 1, .now = 10_t, .revision = Revision(1)};
}

TEST(RunMemory, TheRunThatWasUsedLongestAgoMakesRoom) {
  RunMemory memory(2);
  memory.remember(name_of(1), {.lease_duration = 1});
  memory.remember(name_of(2), {.lease_duration = 2});
  EXPECT_TRUE(memory.facts(name_of(1)).has_value());
  memory.remember(name_of(3), {.lease_duration = 3});
  EXPECT_TRUE(memory.facts(name_of(1)).has_value());
  EXPECT_FALSE(memory.facts(name_of(2)).has_value());
  EXPECT_EQ(memory.facts(name_of(3))->lease_duration, 3U);
}

TEST(RunMemory, AReadingFromBeforeTheRunWasForgottenShowsNothing) {
  RunMemory memory(2);
  const auto before = memory.begin_reading(name_of(1));
  memory.forget(name_of(1));
  memory.show(name_of(1), before, reading_of(2_id), kStart);
  EXPECT_EQ(memory.take(name_of(1), {1_w, 10_t}, kStart), std::nullopt);
  const auto after = memory.begin_reading(name_of(1));
  memory.show(name_of(1), before, reading_of(2_id), kStart);
  memory.fail_reading(name_of(1), before);
  EXPECT_EQ(memory.take(name_of(1), {1_w, 10_t}, kStart), std::nullopt);
  memory.show(name_of(1), after, reading_of(4_id), kStart);
  EXPECT_EQ(memory.take(name_of(1), {1_w, 10_t}, kStart), 4_id);
}

TEST(RunMemory, ACountServesForAWhileWhereNoClaimHasLooked) {
  RunMemory memory(2);
  EXPECT_EQ(memory.free_count(name_of(1), kStart), std::nullopt);
  memory.remember_count(name_of(1), 7, kStart);
  EXPECT_EQ(memory.free_count(name_of(1), kStart + kCountKept), 7U);
  EXPECT_EQ(memory.free_count(name_of(1), kStart + kCountKept + milliseconds{1}), std::nullopt);
  memory.show(name_of(1), memory.begin_reading(name_of(1)), reading_of(2_id), kStart);
  EXPECT_EQ(memory.free_count(name_of(1), kStart), 1U);  // what a claim saw is better
}

TEST(RunMemory, OneRunsShardsAreNotAnothers) {
  RunMemory memory(2);
  memory.show(name_of(1), memory.begin_reading(name_of(1)), reading_of(2_id), kStart);
  memory.is_free(TenantId{}, {RunId::from_raw(2), 4_id});
  memory.is_over(TenantId{}, {RunId::from_raw(2), 2_id});
  EXPECT_EQ(memory.free_count(name_of(1), kStart), 1U);
  memory.is_held(TenantId{}, {RunId::from_raw(1), 2_id}, 20_t);
  EXPECT_EQ(memory.free_count(name_of(1), kStart), 0U);
}

TEST(SpareLeases, ALeaseIsUsedAgainWhileItIsNearlyNew) {
  SpareLeases spares(2, seconds{5});
  EXPECT_TRUE(spares.put({LeaseId{1}, kStart}, kStart + seconds{5}));
  EXPECT_FALSE(spares.put({LeaseId{2}, kStart}, kStart + seconds{6}));
  EXPECT_EQ(spares.take(kStart + seconds{5}).lease, (GrantedLease{LeaseId{1}, kStart}));
  EXPECT_EQ(spares.take(kStart).lease, std::nullopt);
}

TEST(SpareLeases, WhatHasBecomeTooOldIsHandedOutToBeRevoked) {
  SpareLeases spares(2, seconds{5});
  ASSERT_TRUE(spares.put({LeaseId{1}, kStart}, kStart));
  ASSERT_TRUE(spares.put({LeaseId{2}, kStart}, kStart));
  EXPECT_FALSE(spares.put({LeaseId{3}, kStart}, kStart));  // there are enough
  const auto taken = spares.take(kStart + seconds{6});
  EXPECT_EQ(taken.lease, std::nullopt);
  EXPECT_EQ(taken.old, (std::vector{LeaseId{2}, LeaseId{1}}));
}

}  // namespace
}  // namespace cadastre::coord::etcd
