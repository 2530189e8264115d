#include "coord/etcd/prospects.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "coord/conformance/words_testing.h"
#include "coord/etcd/limits.h"
#include "coord/etcd/store.h"
#include "coord/identity.h"

namespace cadastre::coord::etcd {
namespace {

using conformance::operator""_id;
using conformance::operator""_t;
using conformance::operator""_w;
using std::chrono::milliseconds;

constexpr milliseconds kStart{1'000};

ProspectReading reading_of(std::vector<ShardId> free, std::int64_t revision = 1) {
  return {.free = std::move(free), .shards = 4, .now = 10_t, .revision = Revision(revision)};
}

Prospects shown(const ProspectReading& reading) {
  Prospects prospects;
  prospects.begin_reading();
  prospects.show(reading, kStart);
  return prospects;
}

TEST(Prospects, NothingIsOfferedBeforeTheRunWasRead) {
  Prospects prospects;
  EXPECT_TRUE(prospects.wants_reading(kStart));
  prospects.put_back(3_id);
  EXPECT_EQ(prospects.take(1_w, 10_t, kStart), std::nullopt);
  EXPECT_EQ(prospects.count(kStart), std::nullopt);
}

// 7.3: the place is the worker's number modulo how many are free.
TEST(Prospects, AWorkerIsOfferedTheShardAtItsPlace) {
  const std::vector<ShardId> free{2_id, 4_id, 6_id};
  for (const auto& [worker, offered] : std::map<std::uint64_t, ShardId>{
           {3, 2_id}, {1, 4_id}, {5, 6_id}, {std::uint64_t{1} << 63U, 6_id}}) {
    Prospects prospects = shown(reading_of(free));
    EXPECT_EQ(prospects.take(WorkerId::from_raw(worker), 10_t, kStart), offered);
    EXPECT_EQ(prospects.count(kStart), 2U);
  }
}

TEST(Prospects, NoShardIsOfferedTwice) {
  Prospects prospects = shown(reading_of({2_id, 4_id}));
  const auto first = prospects.take(1_w, 10_t, kStart);
  const auto second = prospects.take(1_w, 10_t, kStart);
  EXPECT_NE(first, second);
  EXPECT_EQ(prospects.take(1_w, 10_t, kStart), std::nullopt);
}

TEST(Prospects, WhatIsGivenBackIsOfferedInItsOldPlace) {
  Prospects prospects = shown(reading_of({2_id, 6_id}));
  prospects.put_back(4_id);
  prospects.put_back(4_id);
  EXPECT_EQ(prospects.count(kStart), 3U);
  EXPECT_EQ(prospects.take(1_w, 10_t, kStart), 4_id);
}

// D-19: a lease that ends makes a shard free that memory does not have.
TEST(Prospects, TheFirstDeadlineEndsWhatIsKnown) {
  ProspectReading reading = reading_of({2_id, 4_id});
  reading.earliest_deadline = 100_t;
  Prospects prospects = shown(reading);
  EXPECT_EQ(prospects.take(2_w, 100_t, kStart), std::nullopt);
  EXPECT_EQ(prospects.take(2_w, 99_t, kStart), 2_id);
  prospects.remove(2_id, 50_t);
  EXPECT_EQ(prospects.take(2_w, 50_t, kStart), std::nullopt);
  EXPECT_EQ(prospects.take(2_w, 49_t, kStart), 4_id);
}

// A lease that had ended at the time of the reading may still run before it.
TEST(Prospects, AnEarlierTimeIsNotAnsweredFromALaterReading) {
  Prospects prospects = shown(reading_of({2_id}));
  EXPECT_EQ(prospects.take(1_w, 9_t, kStart), std::nullopt);
  EXPECT_EQ(prospects.take(1_w, 10_t, kStart), 2_id);
}

TEST(Prospects, OneReadsAgainWhileTheOthersGoOnForAsLongAgain) {
  Prospects prospects = shown(reading_of({2_id, 4_id, 6_id}));
  const auto kept = kept_for(4);
  EXPECT_FALSE(prospects.wants_reading(kStart + kept));
  EXPECT_TRUE(prospects.wants_reading(kStart + kept + milliseconds{1}));
  prospects.begin_reading();
  EXPECT_FALSE(prospects.wants_reading(kStart + kept + milliseconds{1}));
  EXPECT_TRUE(prospects.take(1_w, 10_t, kStart + 2 * kept).has_value());
  EXPECT_EQ(prospects.take(1_w, 10_t, kStart + 2 * kept + milliseconds{1}), std::nullopt);
  prospects.fail_reading();
  EXPECT_TRUE(prospects.wants_reading(kStart + kept + milliseconds{1}));
}

TEST(Prospects, WhatHappensDuringAReadingIsNewerThanIt) {
  Prospects prospects = shown(reading_of({2_id, 4_id}));
  prospects.begin_reading();
  EXPECT_EQ(prospects.take(1_w, 10_t, kStart), 4_id);
  prospects.put_back(6_id);
  prospects.remove(4_id, 30_t);
  prospects.show(reading_of({2_id, 4_id, 8_id}, 2), kStart);
  EXPECT_EQ(prospects.count(kStart), 3U);
  EXPECT_EQ(prospects.take(1_w, 10_t, kStart), 6_id);  // of 2, 6, 8
  EXPECT_EQ(prospects.take(1_w, 30_t, kStart), std::nullopt);
}

TEST(Prospects, AnOlderReadingShowsNothing) {
  Prospects prospects = shown(reading_of({2_id}, 5));
  prospects.begin_reading();
  prospects.show(reading_of({2_id, 4_id}, 4), kStart);
  EXPECT_EQ(prospects.count(kStart), 1U);
}

TEST(Prospects, MoreChangesThanCanBeRememberedMakeAReadingUseless) {
  Prospects prospects;
  prospects.begin_reading();
  for (std::size_t i = 0; i <= kProspectsToldMax; ++i)
    prospects.remove(ShardId::from_raw(i + 1));
  prospects.show(reading_of({2_id}), kStart);
  EXPECT_EQ(prospects.count(kStart), std::nullopt);
  prospects.begin_reading();
  prospects.show(reading_of({2_id}, 2), kStart);
  EXPECT_EQ(prospects.count(kStart), 1U);
}

TEST(Prospects, AReadingServesLongerTheMoreItCost) {
  EXPECT_EQ(kept_for(0), kProspectsKeptMin);
  EXPECT_EQ(kept_for(1'024), milliseconds{1'024});
  EXPECT_EQ(kept_for(100'000), kProspectsKeptMax);
}

// Against a set: as long as every change is told, memory and a look at everything choose the same.
TEST(Prospects, WithoutOthersMemoryChoosesAsALookWould) {
  base::SeededRandom random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<ShardId> truth;
    for (std::uint64_t i = 1; i <= random.below(20); ++i)
      truth.push_back(ShardId::from_raw(i * 2));
    Prospects prospects = shown(reading_of(truth));
    for (int step = 0; step < 60; ++step) {
      if (random.below(2) == 0) {
        const WorkerId worker = WorkerId::from_raw(1 + random.below(1'000));
        const auto offered = prospects.take(worker, 10_t, kStart);
        if (truth.empty()) {
          ASSERT_EQ(offered, std::nullopt);
          continue;
        }
        const auto place = truth.begin() + static_cast<std::ptrdiff_t>(worker.raw() % truth.size());
        ASSERT_EQ(offered, *place);
        truth.erase(place);
      } else {
        const ShardId shard = ShardId::from_raw(1 + random.below(40));
        prospects.put_back(shard);
        const auto place = std::ranges::lower_bound(truth, shard);
        if (place == truth.end() || *place != shard) truth.insert(place, shard);
      }
    }
  }
}

}  // namespace
}  // namespace cadastre::coord::etcd
