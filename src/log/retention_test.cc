#include "log/retention.h"

#include <chrono>
#include <map>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace cadastre::log {
namespace {

using std::chrono::seconds;

constexpr Index kNoLimit{~std::uint64_t{0}};

Retention::Progress progress(std::uint64_t applied, std::uint64_t durable) {
  return {{Term{1}, Index{applied}}, {Term{1}, Index{durable}}};
}

Retention with_entries(std::uint64_t count, std::uint64_t bytes_each) {
  Retention retention({}, {Index{0}, Index{0}, 0});
  for (std::uint64_t index = 1; index <= count; ++index)
    retention.appended(Index{index}, bytes_each);
  return retention;
}

TEST(Retention, TruncatesOnlyForAGain) {  // L-26
  struct Case {
    const char* what;
    std::uint64_t entries;
    std::uint64_t bytes_each;
    std::uint64_t durable;
    std::optional<std::uint64_t> upto;
  };
  const std::vector<Case> cases = {
      {"nothing is durable", 20'000, 1, 0, std::nullopt},
      {"a little is durable", 20'000, 1, kTruncateEntriesMin - 1, std::nullopt},
      {"enough entries are", 20'000, 1, kTruncateEntriesMin, kTruncateEntriesMin},
      {"all of them are", 20'000, 1, 20'000, 20'000},
      {"few entries, many bytes", 20, kMiB, 16, 16},
      {"few entries, too few bytes", 20, kMiB, 14, std::nullopt},
  };
  for (const Case& one : cases) {
    const Retention retention = with_entries(one.entries, one.bytes_each);
    const auto upto =
        retention.truncation(progress(one.entries, one.durable), kNoLimit, seconds(100));
    ASSERT_EQ(upto.has_value(), one.upto.has_value()) << one.what;
    if (!upto) continue;
    EXPECT_EQ(*upto, Index{*one.upto}) << one.what;
  }
}

TEST(Retention, KnowsTheNewestEntriesThatFitIntoMemory) {  // L-38
  const Retention large = with_entries(100, kMiB);
  EXPECT_EQ(large.newest_within(200 * kMiB, Index{100}), Index{1});
  EXPECT_EQ(large.newest_within(9 * kMiB, Index{100}), Index{93});
  EXPECT_EQ(large.newest_within(9 * kMiB, Index{50}), Index{43});
  EXPECT_EQ(large.newest_within(kMiB, Index{100}),
            Index{101});  // Not even one: it has a head, too.
  EXPECT_EQ(large.newest_within(0, Index{50}), Index{51});
  EXPECT_EQ(large.cost_above(Index{98}, Index{100}), 2 * (kMiB + kCachedEntryOverhead));

  Retention small = with_entries(100'000, 4);
  const Index from = small.newest_within(kMiB, Index{90'000});
  const std::uint64_t kept = (90'001 - from.value()) * (4 + kCachedEntryOverhead);
  EXPECT_LE(kept, kMiB + 1'024 * 4);
  EXPECT_GE(kept, kMiB - 2 * 1'024 * (4 + kCachedEntryOverhead));
  small.truncated(Index{89'000}, seconds(100));
  EXPECT_EQ(small.newest_within(kMiB, Index{90'000}), Index{89'001});
}

TEST(Retention, TruncatesAtMostOnceInTenSeconds) {  // L-26
  Retention retention = with_entries(40'000, 1);
  retention.truncated(Index{10'000}, seconds(100));
  EXPECT_EQ(retention.truncated(), Index{10'000});
  const Retention::Progress later = progress(40'000, 30'000);
  EXPECT_FALSE(retention.truncation(later, kNoLimit, seconds(110) - std::chrono::nanoseconds(1)));
  EXPECT_TRUE(retention.truncation(later, kNoLimit, seconds(110)));
}

TEST(Retention, NeverTruncatesTwiceWhatIsGone) {
  Retention retention = with_entries(20'000, 1);
  retention.truncated(Index{20'000}, seconds(100));
  EXPECT_FALSE(retention.truncation(progress(20'000, 20'000), kNoLimit, seconds(200)));
  EXPECT_LT(retention.bytes(), 64 * kKiB);
}

TEST(Retention, KnowsTheBytesOfALogThatWasThere) {
  Retention retention({}, {Index{5}, Index{50}, 100 * kMiB});
  EXPECT_EQ(retention.bytes(), 100 * kMiB);
  EXPECT_EQ(retention.truncated(), Index{5});
  EXPECT_FALSE(
      retention.truncation(progress(50, 49), kNoLimit, seconds(1)));  // Unknown how much that is.
  EXPECT_TRUE(retention.truncation(progress(50, 50), kNoLimit, seconds(1)));
  retention.truncated(Index{50}, seconds(1));
  EXPECT_EQ(retention.bytes(), 0U);
}

TEST(Retention, WhatStaysOfALogThatWasThereCountsThoughItsEndIsReplaced) {  // L-47
  Retention retention({}, {Index{0}, Index{100}, 100 * kMiB});
  retention.cut(Index{100});
  EXPECT_NEAR(static_cast<double>(retention.bytes()), 99.0 * kMiB, 2);
  retention.appended(Index{100}, kMiB);
  EXPECT_NEAR(static_cast<double>(retention.bytes()), 100.0 * kMiB, 2);
  retention.cut(Index{51});
  EXPECT_NEAR(static_cast<double>(retention.bytes()), 50.0 * kMiB, 2);
  retention.cut(Index{1});
  EXPECT_EQ(retention.bytes(), 0U);
}

TEST(Retention, KeepsWhatTheLimitSays) {  // L-78
  const Retention retention = with_entries(20'000, 1);
  const auto durable = progress(20'000, 20'000);
  EXPECT_EQ(retention.truncation(durable, Index{15'000}, seconds(100)), Index{15'000});
  EXPECT_EQ(retention.truncation(durable, Index{kTruncateEntriesMin - 1}, seconds(100)),
            std::nullopt);
  EXPECT_EQ(retention.truncation(progress(20'000, 12'000), Index{15'000}, seconds(100)),
            Index{12'000});
}

TEST(Retention, KnowsWhatLiesAboveAnEntry) {  // L-73, L-78
  const Retention retention = with_entries(100, kMiB);
  EXPECT_EQ(retention.behind(16 * kMiB), Index{84});
  EXPECT_EQ(retention.behind(0), Index{100});
  EXPECT_EQ(retention.behind(200 * kMiB), Index{0});
  EXPECT_EQ(retention.bytes_above(Index{90}), 10 * kMiB);
  EXPECT_EQ(Retention({}, {Index{5}, Index{50}, kMiB}).behind(kMiB), Index{5});  // Unknown where.
}

TEST(Retention, ASnapshotLeavesNothingBehind) {  // L-58
  Retention retention = with_entries(100, kMiB);
  retention.replaced(Index{1'000});
  EXPECT_EQ(retention.truncated(), Index{1'000});
  EXPECT_EQ(retention.bytes(), 0U);
  retention.appended(Index{1'001}, 7);
  EXPECT_EQ(retention.bytes(), 7U);
}

TEST(Retention, AsksForAFlushByAgeAndBySize) {  // L-26, S-70
  Retention aged = with_entries(10, 1);
  EXPECT_FALSE(aged.wants_flush(progress(10, 0), seconds(100)));
  EXPECT_FALSE(aged.wants_flush(progress(10, 0), seconds(159)));
  EXPECT_TRUE(aged.wants_flush(progress(10, 0), seconds(160)));
  EXPECT_FALSE(aged.wants_flush(progress(10, 0), seconds(161)));  // It was asked.

  Retention large = with_entries(300, kMiB);
  EXPECT_FALSE(large.wants_flush(progress(300, 100), seconds(100)));
  EXPECT_TRUE(large.wants_flush(progress(300, 10), seconds(100)));
  EXPECT_FALSE(large.wants_flush(progress(300, 10), seconds(109)));
  EXPECT_TRUE(large.wants_flush(progress(300, 10), seconds(110)));
}

TEST(Retention, AFlushedStateIsNotAskedAndBeginsAnew) {
  Retention retention = with_entries(10, 1);
  EXPECT_FALSE(retention.wants_flush(progress(9, 5), seconds(100)));
  EXPECT_FALSE(retention.wants_flush(progress(9, 9), seconds(150)));
  EXPECT_FALSE(retention.wants_flush(progress(10, 9), seconds(170)));  // Unflushed since now.
  EXPECT_FALSE(retention.wants_flush(progress(10, 9), seconds(229)));
  EXPECT_TRUE(retention.wants_flush(progress(10, 9), seconds(230)));
}

// Against a plain list of sizes: never above what is durable, and the estimate of bytes is close.
RC_GTEST_PROP(RetentionProperty, KeepsWhatIsNotDurable, ()) {
  constexpr std::uint64_t kSlack = 2 * 64 * kKiB;
  RetentionSettings settings;
  settings.truncate_bytes_min = 300'000;
  settings.truncate_entries_min = 50;
  Retention retention(settings, {});
  std::map<std::uint64_t, std::uint64_t> sizes;
  std::uint64_t last = 0;
  std::uint64_t durable = 0;
  seconds now{0};
  const int steps = *rc::gen::inRange(1, 20);
  for (int step = 0; step < steps; ++step) {
    const auto more = *rc::gen::inRange<std::uint64_t>(1, 30);
    const auto size = *rc::gen::element<std::uint64_t>(1, 100, 30'000, 70'000);
    for (std::uint64_t i = 0; i < more; ++i) {
      retention.appended(Index{++last}, size);
      sizes[last] = size;
    }
    durable = *rc::gen::inRange(durable, last + 1);
    now += seconds(*rc::gen::inRange(0, 8));
    if (const auto upto = retention.truncation(progress(last, durable), kNoLimit, now)) {
      RC_ASSERT(*upto == Index{durable});
      retention.truncated(*upto, now);
      sizes.erase(sizes.begin(), sizes.upper_bound(durable));
    }
    std::uint64_t bytes = 0;
    for (const auto& [index, one] : sizes)
      bytes += one;
    RC_ASSERT(retention.bytes() >= bytes);
    RC_ASSERT(retention.bytes() <= bytes + kSlack);
  }
}

}  // namespace
}  // namespace cadastre::log
