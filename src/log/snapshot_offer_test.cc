#include "log/snapshot_offer.h"

#include <chrono>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Next = SnapshotOffer::Next;

constexpr NodeId kPeer{2};
constexpr NodeId kOther{3};

CheckpointManifest manifest(std::uint64_t index, std::uint64_t id = 1) {
  return {.group = GroupId{7},
          .at = {Term{1}, Index{index}},
          .node = NodeId{1},
          .id = CheckpointId{id}};
}

std::vector<PeerProgress> fetching(std::initializer_list<NodeId> nodes) {
  std::vector<PeerProgress> peers{{NodeId{1}, Index{100}, PeerState::kReplicate, true}};
  for (const NodeId node : nodes)
    peers.push_back({node, Index{1}, PeerState::kSnapshot, true});
  return peers;
}

// One was made at entry 50 at 100 s.
SnapshotOffer with_checkpoint() {
  SnapshotOffer offer({});
  offer.wanted(kPeer, Index{10});
  offer.making(Index{40});
  offer.made(manifest(50), seconds(100));
  return offer;
}

TEST(MemberSince, IsTheFirstOfTheRecordsThatAllHaveTheNode) {
  const ConfState without{.voters = {NodeId{1}}};
  const ConfState learner{.voters = {NodeId{1}}, .learners = {kPeer}};
  const ConfState voter{.voters = {NodeId{1}, kPeer}};
  EXPECT_EQ(member_since({{Index{1}, voter}}, kPeer), Index{0});
  EXPECT_EQ(member_since({{Index{1}, without}, {Index{5}, learner}}, kPeer), Index{5});
  EXPECT_EQ(member_since({{Index{1}, without}, {Index{5}, learner}, {Index{8}, voter}}, kPeer),
            Index{5});
  EXPECT_EQ(member_since({{Index{1}, voter}, {Index{5}, without}, {Index{8}, voter}}, kPeer),
            Index{8});
  EXPECT_EQ(member_since({{Index{1}, voter}, {Index{5}, without}}, kPeer), Index{0});
}

TEST(SnapshotOffer, MakesOneOnlyForAWant) {  // L-71
  SnapshotOffer offer({});
  EXPECT_EQ(offer.next(Index{5}, seconds(1)), Next::kNothing);
  offer.wanted(kPeer, Index{5});
  EXPECT_EQ(offer.next(Index{5}, seconds(1)), Next::kMake);
  offer.making(Index{9});
  EXPECT_EQ(offer.next(Index{5}, seconds(1)), Next::kNothing);  // One at a time.
}

TEST(SnapshotOffer, ReusesAYoungCheckpointThatReachesFarEnough) {  // L-71
  struct Case {
    const char* what;
    std::uint64_t least;
    std::uint64_t truncated;
    seconds now;
    Next next;
  };
  const std::vector<Case> cases = {
      {"young, above the want and the log's begin", 40, 45, seconds(159), Next::kOffer},
      {"exactly there", 50, 50, seconds(159), Next::kOffer},
      {"too old", 40, 45, seconds(160), Next::kMake},
      {"below the want", 51, 45, seconds(159), Next::kMake},
      {"the log was cut above it", 40, 51, seconds(159), Next::kMake},
  };
  for (const Case& one : cases) {
    SnapshotOffer offer = with_checkpoint();
    offer.offered(seconds(100));
    offer.wanted(kOther, Index{one.least});
    EXPECT_EQ(offer.next(Index{one.truncated}, one.now), one.next) << one.what;
  }
}

TEST(SnapshotOffer, WaitsBeforeItTriesAgain) {
  SnapshotOffer offer({});
  offer.wanted(kPeer, Index{5});
  offer.making(Index{9});
  offer.not_made(seconds(10));
  EXPECT_EQ(offer.next(Index{5}, seconds(10)), Next::kNothing);
  EXPECT_EQ(offer.next(Index{5}, seconds(11)), Next::kMake);
}

TEST(SnapshotOffer,
     WaitsLongerAfterEachFailureUntilOneArrives) {  // A receiver may refuse what it is sent.
  SnapshotOffer offer({});
  base::Elapsed now = seconds(100);
  const auto fail_and_wait = [&](Index at, seconds pause) {
    offer.wanted(kPeer, at);
    offer.making(at);
    offer.not_made(now);
    EXPECT_EQ(offer.next(at, now + pause - std::chrono::nanoseconds(1)), Next::kNothing);
    now += pause;
    EXPECT_EQ(offer.next(at, now), Next::kMake) << pause.count();
  };
  for (const int pause : {1, 2, 4, 8, 16, 16})
    fail_and_wait(Index{9}, seconds(pause));
  offer.making(Index{9});
  offer.made(manifest(9), now);
  offer.offered(now);
  offer.reported(kPeer, {Index{9}, SnapshotFate::kInstalled}, now);
  fail_and_wait(Index{20}, seconds(1));
}

TEST(SnapshotOffer, OneThatFailedIsNotOfferedAgain) {  // L-75
  SnapshotOffer offer = with_checkpoint();
  offer.offered(seconds(100));
  const Index at = offer.checkpoint().at.index;
  offer.reported(kPeer, {at, SnapshotFate::kFailed}, seconds(105));
  offer.wanted(kPeer, Index{10});
  EXPECT_EQ(offer.next(Index{5}, seconds(105)), Next::kNothing);
  EXPECT_EQ(offer.next(Index{5}, seconds(106)), Next::kMake);
}

TEST(SnapshotOffer, WordOfAnOlderOneSaysNothingAboutTheNewest) {  // L-75
  SnapshotOffer offer = with_checkpoint();
  offer.offered(seconds(100));
  const Index older{offer.checkpoint().at.index.value() - 1};
  offer.reported(kPeer, {older, SnapshotFate::kFailed}, seconds(105));
  offer.wanted(kPeer, Index{10});
  EXPECT_EQ(offer.next(Index{5}, seconds(105)), Next::kOffer);
}

TEST(SnapshotOffer, GivesUpWhoIsSilentAndReadsNothingForTenMinutes) {  // L-73, L-75
  SnapshotOffer offer = with_checkpoint();
  offer.offered(seconds(100));
  EXPECT_TRUE(offer.overdue(fetching({kPeer}), std::nullopt, seconds(100)).empty());
  EXPECT_TRUE(offer.overdue(fetching({kPeer}), std::nullopt, seconds(699)).empty());
  EXPECT_TRUE(offer.overdue(fetching({kPeer}), seconds(400), seconds(999)).empty());
  EXPECT_EQ(offer.overdue(fetching({kPeer}), seconds(400), seconds(1000)), std::vector{kPeer});
}

TEST(SnapshotOffer, ASecondFetchIsGivenItsOwnTime) {
  SnapshotOffer offer = with_checkpoint();
  offer.offered(seconds(100));
  EXPECT_TRUE(offer.overdue(fetching({kPeer}), std::nullopt, seconds(100)).empty());
  EXPECT_TRUE(offer.overdue(fetching({}), std::nullopt, seconds(500)).empty());
  EXPECT_TRUE(offer.overdue(fetching({kPeer}), std::nullopt, seconds(600)).empty());
  EXPECT_TRUE(offer.overdue(fetching({kPeer}), std::nullopt, seconds(900)).empty());
}

TEST(SnapshotOffer, KeepsTheLogAboveWhatIsMadeOrFetched) {  // L-73
  SnapshotOffer offer({});
  EXPECT_EQ(offer.kept_above(seconds(1)), std::nullopt);
  offer.wanted(kPeer, Index{10});
  EXPECT_EQ(offer.kept_above(seconds(1)), std::nullopt);
  offer.making(Index{40});
  EXPECT_EQ(offer.kept_above(seconds(1)), Index{40});  // It will be there or above.
  offer.made(manifest(50), seconds(100));
  EXPECT_EQ(offer.kept_above(seconds(100)), Index{50});
  offer.offered(seconds(100));
  EXPECT_EQ(offer.kept_above(seconds(105)), Index{50});  // Nobody has taken it yet.
  EXPECT_TRUE(offer.overdue(fetching({kPeer}), std::nullopt, seconds(105)).empty());
  EXPECT_EQ(offer.kept_above(seconds(300)), Index{50});
  EXPECT_TRUE(offer.overdue(fetching({}), std::nullopt, seconds(301)).empty());
  EXPECT_EQ(offer.kept_above(seconds(301)), std::nullopt);
}

TEST(SnapshotOffer, ReleasesWhatNobodyNeeds) {  // L-73
  SnapshotOffer offer = with_checkpoint();
  offer.offered(seconds(100));
  EXPECT_TRUE(offer.overdue(fetching({kPeer}), std::nullopt, seconds(101)).empty());
  EXPECT_TRUE(offer.take_expired(seconds(300)).empty());  // It is being fetched.
  offer.wanted(kOther, Index{60});
  offer.making(Index{70});
  offer.made(manifest(70, 2), seconds(300));
  offer.offered(seconds(300));
  EXPECT_TRUE(offer.take_expired(seconds(320)).empty());  // The first still is.
  EXPECT_TRUE(offer.overdue(fetching({}), std::nullopt, seconds(330)).empty());
  const CheckpointName first{GroupId{7}, NodeId{1}, CheckpointId{1}};
  const CheckpointName second{GroupId{7}, NodeId{1}, CheckpointId{2}};
  EXPECT_EQ(offer.take_expired(seconds(330)), std::vector{first});
  EXPECT_TRUE(offer.take_expired(seconds(359)).empty());
  EXPECT_EQ(offer.take_expired(seconds(360)), std::vector{second});
  EXPECT_TRUE(offer.take_expired(seconds(400)).empty());
}

// A receiver without room, or of an older release, fails again and again: its sender's disk must not fill up.
TEST(SnapshotOffer, WhatWasMadeForAPeerThatKeepsFailingDoesNotPileUp) {
  SnapshotOffer offer({});
  base::Elapsed now = seconds(100);
  std::size_t made = 0;
  std::size_t released = 0;
  (void)offer.overdue(fetching({kOther}), std::nullopt, now - seconds(1));  // It takes its time.
  for (std::uint64_t round = 1; round <= 20; ++round) {
    offer.wanted(kPeer, Index{10 * round});
    while (offer.next(Index{5}, now) != Next::kMake) {
      now += seconds(1);
      (void)offer.overdue(fetching({kOther}), now, now);
      released += offer.take_expired(now).size();
    }
    offer.making(Index{10 * round});
    offer.made(manifest(10 * round, round), now);
    ++made;
    offer.offered(now);
    (void)offer.overdue(fetching({kPeer, kOther}), now, now);
    offer.reported(kPeer, {Index{10 * round}, SnapshotFate::kFailed}, now + seconds(1));
    EXPECT_LE(made - released, 2U) << "the newest, and the one before it";
  }
}

TEST(SnapshotOffer, AReplacedOneStaysWhileThePeerFetchesThatBeganWithIt) {  // L-73
  SnapshotOffer offer = with_checkpoint();                                  // 1, at 100 s
  offer.offered(seconds(100));
  EXPECT_TRUE(offer.overdue(fetching({kOther}), std::nullopt, seconds(101)).empty());
  for (std::uint64_t id = 2; id <= 4; ++id) {
    const seconds now(100 * static_cast<int>(id));
    offer.wanted(kPeer, Index{60 * id});
    offer.making(Index{60 * id});
    offer.made(manifest(60 * id, id), now);
    offer.offered(now);
  }
  const auto name = [](std::uint64_t id) {
    return CheckpointName{GroupId{7}, NodeId{1}, CheckpointId{id}};
  };
  EXPECT_EQ(offer.take_expired(seconds(401)), (std::vector{name(2), name(3)}));
  EXPECT_TRUE(offer.overdue(fetching({}), std::nullopt, seconds(402)).empty());
  EXPECT_EQ(offer.take_expired(seconds(402)), std::vector{name(1)});
}

TEST(SnapshotOffer, WithoutLeadershipNobodyIsWaitedFor) {
  SnapshotOffer offer = with_checkpoint();
  offer.forget_peers();
  EXPECT_EQ(offer.next(Index{5}, seconds(101)), Next::kNothing);
  EXPECT_EQ(offer.kept_above(seconds(101)), std::nullopt);
}

}  // namespace
}  // namespace cadastre::log
