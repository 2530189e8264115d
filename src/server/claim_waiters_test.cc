#include "server/claim_waiters.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "coord/identity.h"
#include "coord/tenant_name.h"
#include "server/limits.h"

namespace cadastre::server {
namespace {

using coord::LogicalTime;
using Presence = ClaimWaiters::Presence;
using Leaving = ClaimWaiters::Leaving;

RunName run_named(std::uint64_t run) {
  return {coord::tenant_named("acme"), coord::RunId::from_raw(run)};
}
const RunName kRun = run_named(1);

LogicalTime at(std::uint64_t time) {
  return LogicalTime::from_raw(time);
}

std::vector<WaiterId> tried(ClaimWaiters& waiters) {
  std::vector<WaiterId> ids;
  for (const ClaimWaiters::Attempt& attempt : waiters.take_attempts())
    ids.push_back(attempt.waiter);
  return ids;
}

using Ids = std::vector<WaiterId>;

// One who has tried and found nothing.
WaiterId sleeper(ClaimWaiters& waiters, std::optional<LogicalTime> earliest = std::nullopt) {
  const WaiterId id = *waiters.add(kRun);
  for (const WaiterId trying : tried(waiters))
    EXPECT_EQ(waiters.none(trying, earliest), Presence::kThere);
  return id;
}

TEST(ClaimWaiters, ANewcomerTriesAtOnceAndSleepsWithoutASpin) {
  ClaimWaiters waiters;
  const WaiterId id = *waiters.add(kRun);
  EXPECT_EQ(tried(waiters), Ids{id});
  EXPECT_EQ(waiters.none(id, std::nullopt), Presence::kThere);
  EXPECT_EQ(tried(waiters), Ids{});
  EXPECT_EQ(waiters.next_alarm(), std::nullopt);
}

TEST(ClaimWaiters, WhoWaitedLongestTriesFirst) {
  ClaimWaiters waiters;
  const WaiterId first = sleeper(waiters);
  const WaiterId second = sleeper(waiters);
  waiters.wake(kRun);
  EXPECT_EQ(tried(waiters), Ids{first});
  EXPECT_EQ(waiters.granted(first, 0), Presence::kThere);
  EXPECT_EQ(tried(waiters), Ids{second}) << "one more looks, whatever the hint says";
}

TEST(ClaimWaiters, AHintOfManyLetsManyTryAtOnce) {
  ClaimWaiters waiters;
  Ids ids;
  for (int i = 0; i < 5; ++i)
    ids.push_back(sleeper(waiters));
  waiters.wake(kRun);
  EXPECT_EQ(tried(waiters), Ids{ids[0]});
  EXPECT_EQ(waiters.granted(ids[0], 3), Presence::kThere);
  EXPECT_EQ(tried(waiters), (Ids{ids[1], ids[2], ids[3]}));
}

TEST(ClaimWaiters, AWakeDuringAnAttemptIsNotLost) {
  ClaimWaiters waiters;
  const WaiterId id = *waiters.add(kRun);
  EXPECT_EQ(tried(waiters), Ids{id});
  waiters.wake(kRun);
  EXPECT_EQ(tried(waiters), Ids{}) << "nobody else waits";
  EXPECT_EQ(waiters.none(id, std::nullopt), Presence::kThere);
  EXPECT_EQ(tried(waiters), Ids{id}) << "the attempt began before the wake";
}

TEST(ClaimWaiters, AnAlarmOfTheEarliestLeaseWakesTheLine) {
  ClaimWaiters waiters;
  const WaiterId id = sleeper(waiters, at(50));
  EXPECT_EQ(waiters.next_alarm(), at(50));
  waiters.advance(at(49));
  EXPECT_EQ(tried(waiters), Ids{});
  waiters.advance(at(50));
  EXPECT_EQ(tried(waiters), Ids{id});
  EXPECT_EQ(waiters.next_alarm(), std::nullopt);
}

TEST(ClaimWaiters, AnOlderAnswerDoesNotTakeTheAlarmAway) {
  ClaimWaiters waiters;
  const WaiterId first = *waiters.add(kRun);
  const WaiterId second = *waiters.add(kRun);
  waiters.wake(kRun);
  EXPECT_EQ(tried(waiters), Ids{first});
  EXPECT_EQ(waiters.granted(first, 1), Presence::kThere);
  EXPECT_EQ(tried(waiters), Ids{second});
  waiters.again(first);
  EXPECT_EQ(tried(waiters), Ids{first});
  EXPECT_EQ(waiters.none(first, at(70)), Presence::kThere);
  EXPECT_EQ(waiters.none(second, std::nullopt), Presence::kThere);
  EXPECT_EQ(waiters.next_alarm(), at(70));
}

TEST(ClaimWaiters, WhoLeavesWhileItIsTriedIsToldApart) {
  ClaimWaiters waiters;
  const WaiterId id = *waiters.add(kRun);
  EXPECT_EQ(tried(waiters), Ids{id});
  EXPECT_EQ(waiters.leave(id), Leaving::kBeingTried);
  EXPECT_EQ(waiters.granted(id, 0), Presence::kLeft);
  EXPECT_EQ(waiters.size(), 0U);
  const WaiterId other = sleeper(waiters, at(9));
  EXPECT_EQ(waiters.leave(other), Leaving::kGone);
  EXPECT_EQ(waiters.next_alarm(), std::nullopt) << "nothing is kept of an empty line";
}

TEST(ClaimWaiters, WhoLeavesWhileItsGrantIsOnTheWayIsEndedByTheDelivery) {
  ClaimWaiters waiters;
  const WaiterId first = *waiters.add(kRun);
  EXPECT_EQ(tried(waiters), (Ids{first}));
  EXPECT_EQ(waiters.granted(first, 0), Presence::kThere);
  EXPECT_EQ(waiters.leave(first), Leaving::kServed);
  EXPECT_EQ(waiters.leave(first), Leaving::kServed) << "and nothing changed";
  waiters.served_last(first);
  const WaiterId second = *waiters.add(kRun);
  EXPECT_EQ(tried(waiters), (Ids{second}));
}

TEST(ClaimWaiters, AThrottledOneWaitsForItsTimeAndHoldsNobodyUp) {
  ClaimWaiters waiters;
  const WaiterId first = *waiters.add(kRun);
  EXPECT_EQ(tried(waiters), Ids{first});
  const WaiterId second = *waiters.add(kRun);
  EXPECT_EQ(waiters.throttled(first, at(30)), Presence::kThere);
  EXPECT_EQ(tried(waiters), Ids{second});
  EXPECT_EQ(waiters.granted(second, 0), Presence::kThere);
  EXPECT_EQ(tried(waiters), Ids{});
  waiters.advance(at(30));
  EXPECT_EQ(tried(waiters), Ids{first});
}

TEST(ClaimWaiters, TheEndOfARunIsTheEndOfItsLineOnly) {
  ClaimWaiters waiters;
  const WaiterId first = sleeper(waiters);
  const WaiterId second = sleeper(waiters);
  const WaiterId elsewhere = *waiters.add(run_named(2));
  waiters.wake(kRun);
  EXPECT_EQ(tried(waiters), (Ids{first, elsewhere}));
  EXPECT_EQ(waiters.run_ended(first), (Ids{first, second}));
  EXPECT_EQ(waiters.size(), 1U);
}

TEST(ClaimWaiters, AnotherTenantsRunOfTheSameNumberIsAnotherLine) {
  ClaimWaiters waiters;
  (void)sleeper(waiters);
  waiters.wake({coord::tenant_named("other"), kRun.run});
  EXPECT_EQ(tried(waiters), Ids{});
}

TEST(ClaimWaiters, OneTenantCannotTakeAllPlaces) {
  ClaimWaiters waiters;
  for (std::size_t i = 0; i < kClaimStreamsPerTenantMax; ++i)
    ASSERT_TRUE(waiters.add(kRun));
  EXPECT_FALSE(waiters.add(run_named(2)));
  EXPECT_TRUE(waiters.add({coord::tenant_named("other"), kRun.run}));
}

// A run of free shards too simple to be wrong: whoever claims gets one while there is one.
RC_GTEST_PROP(ClaimWaitersProperty, NobodySleepsWhileAShardIsFree, ()) {
  ClaimWaiters waiters;
  std::uint32_t free = 0;
  Ids waiting;  // lined up or being tried
  std::vector<ClaimWaiters::Attempt> attempts;
  struct Seen {
    WaiterId waiter;
    bool got = false;
    std::uint32_t left = 0;
  };
  std::vector<Seen> answers;  // decided by the backend, not yet told
  const auto take = [&] {
    for (const auto& attempt : waiters.take_attempts())
      attempts.push_back(attempt);
  };
  const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 5));
  const auto answer_one = [&](std::size_t index) {
    const Seen seen = answers[index];
    answers.erase(answers.begin() + static_cast<std::ptrdiff_t>(index));
    if (seen.got) {
      if (waiters.granted(seen.waiter, seen.left) == Presence::kThere)
        waiters.served_last(seen.waiter);
      std::erase(waiting, seen.waiter);
    } else {
      (void)waiters.none(seen.waiter, std::nullopt);
    }
    take();
  };
  const auto decide_one = [&] {
    const ClaimWaiters::Attempt attempt = attempts.front();
    attempts.erase(attempts.begin());
    const bool got = free > 0;
    if (got) --free;
    answers.push_back({attempt.waiter, got, free});
  };
  for (const int step : steps) {
    if (step == 0) waiting.push_back(*waiters.add(kRun));
    if (step == 1) {
      ++free;
      waiters.wake(kRun);
    }
    if (step == 2 && !attempts.empty()) decide_one();
    if (step == 3 && !answers.empty()) answer_one(0);
    if (step == 4 && !answers.empty()) answer_one(answers.size() - 1);
    take();
  }
  while (!attempts.empty() || !answers.empty()) {
    while (!attempts.empty())
      decide_one();
    if (!answers.empty()) answer_one(0);
  }
  RC_ASSERT(free == 0U || waiting.empty());
}

}  // namespace
}  // namespace cadastre::server
