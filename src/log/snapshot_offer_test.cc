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

std::optional<base::Elapsed> never_read(const CheckpointName& /*name*/) {
  return std::nullopt;
}
SnapshotOffer::LastRead read_at(base::Elapsed when) {
  return [when](const CheckpointName& /*name*/) {
    return std::optional(when);
  };
}
CheckpointName name(std::uint64_t id) {
  return {GroupId{7}, NodeId{1}, CheckpointId{id}};
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
  EXPECT_TRUE(offer.overdue(fetching({kPeer}), never_read, seconds(100)).empty());
  EXPECT_TRUE(offer.overdue(fetching({kPeer}), never_read, seconds(699)).empty());
  EXPECT_TRUE(offer.overdue(fetching({kPeer}), read_at(seconds(400)), seconds(999)).empty());
  EXPECT_EQ(offer.overdue(fetching({kPeer}), read_at(seconds(400)), seconds(1000)),
            std::vector{kPeer});
}

TEST(SnapshotOffer, ASecondFetchIsGivenItsOwnTime) {
  SnapshotOffer offer = with_checkpoint();
  offer.offered(seconds(100));
  EXPECT_TRUE(offer.overdue(fetching({kPeer}), never_read, seconds(100)).empty());
  EXPECT_TRUE(offer.overdue(fetching({}), never_read, seconds(500)).empty());
  EXPECT_TRUE(offer.overdue(fetching({kPeer}), never_read, seconds(600)).empty());
  EXPECT_TRUE(offer.overdue(fetching({kPeer}), never_read, seconds(900)).empty());
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
  EXPECT_TRUE(offer.overdue(fetching({kPeer}), never_read, seconds(105)).empty());
  EXPECT_EQ(offer.kept_above(seconds(300)), Index{50});
  EXPECT_TRUE(offer.overdue(fetching({}), never_read, seconds(301)).empty());
  EXPECT_EQ(offer.kept_above(seconds(301)), std::nullopt);
}

TEST(SnapshotOffer, ReleasesWhatNobodyNeeds) {  // L-73
  SnapshotOffer offer = with_checkpoint();
  offer.offered(seconds(100));
  EXPECT_TRUE(offer.overdue(fetching({kPeer}), never_read, seconds(101)).empty());
  EXPECT_TRUE(offer.take_expired(never_read, seconds(300)).empty());  // It is being fetched.
  offer.wanted(kOther, Index{60});
  offer.making(Index{70});
  offer.made(manifest(70, 2), seconds(300));
  offer.offered(seconds(300));
  EXPECT_TRUE(offer.take_expired(never_read, seconds(320)).empty());  // The first still is.
  EXPECT_TRUE(offer.overdue(fetching({}), never_read, seconds(330)).empty());
  EXPECT_EQ(offer.take_expired(never_read, seconds(330)), std::vector{name(1)});
  EXPECT_TRUE(offer.take_expired(never_read, seconds(359)).empty());
  EXPECT_EQ(offer.take_expired(never_read, seconds(360)), std::vector{name(2)});
  EXPECT_TRUE(offer.take_expired(never_read, seconds(400)).empty());
}

// A receiver without room, or of an older release, fails again and again: its sender's disk must not fill up.
TEST(SnapshotOffer, WhatWasMadeForAPeerThatKeepsFailingDoesNotPileUp) {
  SnapshotOffer offer({});
  base::Elapsed now = seconds(100);
  std::size_t made = 0;
  std::size_t released = 0;
  (void)offer.overdue(fetching({kOther}), never_read, now - seconds(1));  // It takes its time.
  for (std::uint64_t round = 1; round <= 20; ++round) {
    offer.wanted(kPeer, Index{10 * round});
    while (offer.next(Index{5}, now) != Next::kMake) {
      now += seconds(1);
      (void)offer.overdue(fetching({kOther}), read_at(now), now);
      released += offer.take_expired(never_read, now).size();
    }
    offer.making(Index{10 * round});
    offer.made(manifest(10 * round, round), now);
    ++made;
    offer.offered(now);
    (void)offer.overdue(fetching({kPeer, kOther}), read_at(now), now);
    offer.reported(kPeer, {Index{10 * round}, SnapshotFate::kFailed}, now + seconds(1));
    EXPECT_LE(made - released, 2U) << "the newest, and the one before it";
  }
}

TEST(SnapshotOffer, AReplacedOneStaysWhileThePeerFetchesThatBeganWithIt) {  // L-73
  SnapshotOffer offer = with_checkpoint();                                  // 1, at 100 s
  offer.offered(seconds(100));
  EXPECT_TRUE(offer.overdue(fetching({kOther}), never_read, seconds(101)).empty());
  for (std::uint64_t id = 2; id <= 4; ++id) {
    const seconds now(100 * static_cast<int>(id));
    offer.wanted(kPeer, Index{60 * id});
    offer.making(Index{60 * id});
    offer.made(manifest(60 * id, id), now);
    offer.offered(now);
  }
  EXPECT_EQ(offer.take_expired(never_read, seconds(401)), (std::vector{name(2), name(3)}));
  EXPECT_TRUE(offer.overdue(fetching({}), never_read, seconds(402)).empty());
  EXPECT_EQ(offer.take_expired(never_read, seconds(402)), std::vector{name(1)});
}

TEST(SnapshotOffer, TheLogIsKeptAboveEachCheckpointThatIsFetched) {  // L-73
  SnapshotOffer offer = with_checkpoint();
  offer.offered(seconds(100));
  EXPECT_TRUE(offer.overdue(fetching({kOther}), never_read, seconds(101)).empty());
  offer.wanted(kPeer, Index{60});
  offer.making(Index{60});
  offer.made(manifest(60, 2), seconds(200));
  offer.offered(seconds(200));
  EXPECT_EQ(offer.kept_above(seconds(200)), Index{50});
  EXPECT_TRUE(offer.overdue(fetching({kPeer}), never_read, seconds(300)).empty());
  EXPECT_EQ(offer.kept_above(seconds(300)), Index{60}) << "the other one has it";
}

TEST(SnapshotOffer, WhoeverWasFedGetsTheRestAsEntries) {  // L-73, L-78
  const auto with_match = [](std::uint64_t match) {
    return std::vector<PeerProgress>{{kPeer, Index{match}, PeerState::kReplicate, true}};
  };
  SnapshotOffer offer = with_checkpoint();
  offer.offered(seconds(100));
  EXPECT_EQ(offer.kept_for_fed(with_match(1), Index{90}, seconds(101)), std::nullopt);
  offer.reported(kPeer, {Index{50}, SnapshotFate::kInstalled}, seconds(200));
  EXPECT_EQ(offer.kept_for_fed(with_match(1), Index{90}, seconds(200)), Index{50})
      << "its first answer is on its way";
  EXPECT_EQ(offer.kept_for_fed(with_match(70), Index{120}, seconds(700)), Index{70});
  EXPECT_EQ(offer.kept_for_fed(with_match(90), Index{150}, seconds(1200)), Index{90})
      << "slow, but it comes nearer";
  EXPECT_EQ(offer.kept_for_fed(with_match(150), Index{150}, seconds(1300)), std::nullopt);
  EXPECT_EQ(offer.kept_for_fed(with_match(150), Index{400}, seconds(1400)), std::nullopt)
      << "it had all; from now on the trail is for it as for all";
}

TEST(SnapshotOffer, WhoeverWasFedAndAcknowledgesNothingIsNotWaitedFor) {  // L-73
  const std::vector<PeerProgress> silent{{kPeer, Index{60}, PeerState::kProbe, false}};
  SnapshotOffer offer = with_checkpoint();
  offer.offered(seconds(100));
  offer.reported(kPeer, {Index{50}, SnapshotFate::kInstalled}, seconds(200));
  EXPECT_EQ(offer.kept_for_fed(silent, Index{90}, seconds(300)), Index{60});
  EXPECT_EQ(offer.kept_for_fed(silent, Index{90}, seconds(899)), Index{60});
  EXPECT_EQ(offer.kept_for_fed(silent, Index{90}, seconds(900)), std::nullopt);
  offer.reported(kPeer, {Index{60}, SnapshotFate::kInstalled}, seconds(1000));
  offer.wanted(kPeer, Index{80});
  EXPECT_EQ(offer.kept_for_fed(silent, Index{90}, seconds(1001)), std::nullopt) << "fed anew";
  offer.reported(kPeer, {Index{90}, SnapshotFate::kInstalled}, seconds(1100));
  EXPECT_EQ(offer.kept_for_fed({}, Index{95}, seconds(1101)), std::nullopt) << "no member now";
}

TEST(SnapshotOffer, AReplacedOneThatIsReadIsNotOverdue) {  // L-73
  SnapshotOffer offer = with_checkpoint();
  offer.offered(seconds(100));
  EXPECT_TRUE(offer.overdue(fetching({kPeer}), never_read, seconds(101)).empty());
  offer.wanted(kOther, Index{60});
  offer.making(Index{60});
  offer.made(manifest(60, 2), seconds(200));
  const auto reads_the_first = [](const CheckpointName& which) {
    return which == name(1) ? std::optional<base::Elapsed>(seconds(650)) : std::nullopt;
  };
  EXPECT_TRUE(offer.overdue(fetching({kPeer}), reads_the_first, seconds(800)).empty());
  EXPECT_EQ(offer.overdue(fetching({kPeer}), reads_the_first, seconds(1250)), std::vector{kPeer});
}

TEST(SnapshotOffer, AfterALossOfLeadershipWhatIsBeingReadStays) {  // L-73
  SnapshotOffer offer = with_checkpoint();
  offer.offered(seconds(100));
  EXPECT_TRUE(offer.overdue(fetching({kPeer}), never_read, seconds(101)).empty());
  offer.forget_peers();
  EXPECT_TRUE(offer.take_expired(read_at(seconds(190)), seconds(200)).empty());
  EXPECT_TRUE(offer.take_expired(read_at(seconds(190)), seconds(789)).empty());
  EXPECT_EQ(offer.take_expired(read_at(seconds(190)), seconds(790)), std::vector{name(1)});
}

TEST(SnapshotOffer, TellsWhichOneTheEngineHas) {  // L-40
  SnapshotOffer offer = with_checkpoint();
  EXPECT_FALSE(offer.is_on_offer(name(1)));
  offer.offered(seconds(100));
  EXPECT_TRUE(offer.is_on_offer(name(1)));
  offer.wanted(kOther, Index{60});
  offer.making(Index{60});
  offer.made(manifest(60, 2), seconds(200));
  EXPECT_TRUE(offer.is_on_offer(name(1))) << "until the next one is handed over";
  offer.offered(seconds(200));
  EXPECT_FALSE(offer.is_on_offer(name(1)));
}

TEST(SnapshotOffer, WithoutLeadershipNobodyIsWaitedFor) {
  SnapshotOffer offer = with_checkpoint();
  offer.forget_peers();
  EXPECT_EQ(offer.next(Index{5}, seconds(101)), Next::kNothing);
  EXPECT_EQ(offer.kept_above(seconds(101)), std::nullopt);
}

}  // namespace
}  // namespace cadastre::log
