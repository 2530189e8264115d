#include "log/handover.h"

#include <vector>

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

constexpr base::Elapsed kNow{1'000'000};

TEST(Handover, AnIdleNodeNeverWaits) {
  const Handover fresh;
  EXPECT_FALSE(fresh.waits(0, kNow));
  EXPECT_FALSE(fresh.waits(1, kNow));
}

TEST(Handover, WaitsUntilAsManyCameBackOrTheTimeIsUp) {
  struct Case {
    const char* what;
    std::uint64_t answered;
    std::uint64_t queued;
    base::Elapsed later;
    bool waits;
  };
  const std::vector<Case> cases = {
      {"a lone caller never waits", 1, 1, {}, false},
      {"nobody came yet", 4, 0, {}, true},
      {"one is missing", 4, 3, {}, true},
      {"all came back", 4, 4, {}, false},
      {"others came, too", 4, 9, {}, false},
      {"a moment before the end", 4, 3, kHandoverWaitMax - base::Elapsed{1}, true},
      {"the time is up", 4, 3, kHandoverWaitMax, false},
      {"an answer to nobody: a set without commands", 0, 0, {}, false},
  };
  for (const Case& one : cases) {
    Handover handover;
    handover.set_done(one.answered, kNow);
    EXPECT_EQ(handover.waits(one.queued, kNow + one.later), one.waits) << one.what;
    EXPECT_EQ(handover.until(), kNow + kHandoverWaitMax) << one.what;
  }
}

TEST(Handover, ASetThatLeftIsNotWaitedFor) {
  Handover handover;
  handover.set_done(4, kNow);
  handover.leaves(4);
  EXPECT_FALSE(handover.waits(0, kNow));
}

TEST(Handover, WhoeverDidNotComeBackIsNotExpectedAgain) {
  Handover handover;
  handover.set_done(64, kNow);
  EXPECT_EQ(handover.expected(), 64U);
  handover.leaves(1);  // Only one came within the time.
  handover.set_done(1, kNow);
  EXPECT_EQ(handover.expected(), 1U);
  handover.leaves(1);
  handover.set_done(64, kNow);  // A burst that was not a closed loop.
  EXPECT_EQ(handover.expected(), 2U);
}

TEST(Handover, TrustGrowsTwofoldWithThoseWhoDo) {
  Handover handover;
  handover.set_done(64, kNow);
  handover.leaves(1);
  std::vector<std::uint64_t> expected;
  for (int round = 0; round < 7; ++round) {
    handover.set_done(64, kNow);
    expected.push_back(handover.expected());
    handover.leaves(64);
    handover.set_done(64, kNow);
    handover.leaves(handover.expected());
  }
  EXPECT_EQ(expected.front(), 2U);
  EXPECT_EQ(expected.back(), 64U);
}

TEST(Handover, CallersOfReplicatedGroupsAreExpectedAtTheirCommit) {
  Handover handover;
  handover.set_done(0, kNow);  // Nobody is answered by the sync alone.
  EXPECT_EQ(handover.expected(), 0U);
  const base::Elapsed commit = kNow + kHandoverWaitMax * 2;
  handover.committed(40, commit);
  handover.committed(24, commit);  // Of another entry, or another group.
  EXPECT_EQ(handover.expected(), 64U);
  EXPECT_TRUE(handover.waits(63, commit));
  EXPECT_FALSE(handover.waits(64, commit));
}

TEST(Handover, WhoeverDidNotComeBackInTimeIsNotAddedToThoseOfTheNextCommit) {
  Handover handover;
  handover.committed(64, kNow);
  handover.committed(1, kNow + kHandoverWaitMax);
  EXPECT_EQ(handover.expected(), 1U);
}

TEST(Handover, CommandsWaitForTheCommitBeforeThemAndNotForEver) {
  Handover handover;
  EXPECT_FALSE(handover.waits_for_commit(kNow));  // Nothing is on its way.
  handover.set_done(0, kNow);
  EXPECT_TRUE(handover.waits_for_commit(kNow + kCommitWaitMax - base::Elapsed{1}));
  EXPECT_FALSE(handover.waits_for_commit(kNow + kCommitWaitMax));
}

}  // namespace
}  // namespace cadastre::log
