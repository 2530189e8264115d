// Schedules that stay (log.md, section 12): small clusters on the real loop, engine and records, with the
// disk, the network and time in the hands of the test.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log/limits.h"
#include "log/peers.h"
#include "log/raft/raft_cluster_testing.h"
#include "log/request_limits.h"

namespace cadastre::log {
namespace {

using std::chrono::seconds;

using Commands = std::vector<std::string>;

constexpr std::uint32_t kMsgRequestVoteResponse = 6;

// The first field of an eraftpb.Message is its type.
std::uint32_t type_of(const Letter& letter) {
  const ByteView bytes = letter.frame.body.bytes();
  CAD_CHECK(bytes.size() > 1 && bytes[0] == std::byte{8}, "a message begins with its type");
  return std::to_integer<std::uint32_t>(bytes[1]);
}

TEST(RaftScene, ThreeVotersExecuteTheSame) {
  RaftCluster cluster(3);
  cluster.establish(1);
  const auto one = cluster.at(1).propose("one");
  const auto two = cluster.at(1).propose("two");
  cluster.settle();
  ASSERT_TRUE(one->applied() && two->applied());
  cluster.pass_time(4 * kTick);  // Heartbeats carry the commit index.
  for (const std::uint64_t id : {1U, 2U, 3U})
    EXPECT_EQ(cluster.at(id).executed(), (Commands{"one", "two"})) << id;
  const auto refused = cluster.at(2).propose("at a follower");
  cluster.settle();
  EXPECT_EQ(refused->error(), "not_leader");
  EXPECT_NE(refused->answer->error().detail.find("node 1 leads"), std::string::npos);
}

TEST(RaftScene, SmallCommandsWaitForTheCommitBeforeThemAndManyBytesDoNot) {  // handover.h
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.at(2).disk_hangs = true;
  cluster.at(3).disk_hangs = true;
  const auto propose = [&](std::size_t bytes) {
    const auto outcome = cluster.at(1).propose(std::string(bytes, 'x'));
    cluster.settle();
    return outcome;
  };
  const auto first = propose(1);  // This disk has it, and no quorum.
  const Index last = cluster.at(1).status().last;
  const auto small = propose(2);
  EXPECT_EQ(cluster.at(1).status().last, last);
  const auto large = propose(kWaitsForCommitBytesMax);
  EXPECT_GT(cluster.at(1).status().last, last);
  EXPECT_FALSE(first->applied() || small->applied() || large->applied());
  cluster.at(2).disk_hangs = false;
  cluster.at(3).disk_hangs = false;
  cluster.pass_time(seconds(1));
  EXPECT_TRUE(first->applied() && small->applied() && large->applied());
}

TEST(RaftScene, AVoteLeavesAfterItsSyncAndIsForgottenWithIt) {  // R3
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.at(1).crash();
  cluster.at(3).disk_hangs = true;
  std::vector<Letter> seen;
  cluster.kept = &seen;
  cluster.passes = [](const Letter& letter) {
    return type_of(letter) != kMsgRequestVoteResponse;
  };
  while (!cluster.at(3).syncing())
    cluster.pass_time(kTick);
  const Term asked = cluster.at(2).status().term;
  EXPECT_TRUE(seen.empty());  // The vote is given, and not told.
  cluster.at(3).crash();
  cluster.at(3).disk_hangs = false;
  cluster.at(3).start();
  EXPECT_LT(cluster.at(3).status().term, asked);
  EXPECT_FALSE(cluster.at(2).leads());
  cluster.heal();
  EXPECT_NE(cluster.elect(), 0U);
}

TEST(RaftScene, ALeaderThatCommitsThroughOthersExecutesAfterItsOwnSync) {  // R5
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.at(1).disk_hangs = true;
  const auto one = cluster.at(1).propose("one");
  cluster.settle();
  EXPECT_GT(cluster.at(1).status().committed, cluster.at(1).status().persisted);
  EXPECT_EQ(one->times, 0);
  EXPECT_TRUE(cluster.at(1).executed().empty());
  cluster.at(1).crash();
  EXPECT_EQ(one->error(), "outcome_unknown");
  cluster.at(1).disk_hangs = false;
  cluster.at(1).start();
  EXPECT_NE(cluster.elect(), 0U);
  cluster.pass_time(seconds(1));
  for (const std::uint64_t id : {1U, 2U, 3U})
    EXPECT_EQ(cluster.at(id).executed(), Commands{"one"}) << id;
}

TEST(RaftScene, ACommandWhoseEntryWasReplacedIsSuperseded) {  // 1.5, L-14
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.cut(1);
  const auto lost = cluster.at(1).propose("lost");
  cluster.settle();
  const std::uint64_t leader = cluster.elect();
  ASSERT_NE(leader, 0U);
  ASSERT_NE(leader, 1U);
  const auto kept = cluster.at(leader).propose("kept");
  cluster.settle();
  ASSERT_TRUE(kept->applied());
  EXPECT_EQ(lost->times, 0);
  cluster.heal();
  cluster.pass_time(seconds(1));
  EXPECT_EQ(lost->error(), "superseded");
  EXPECT_EQ(lost->times, 1);
  for (const std::uint64_t id : {1U, 2U, 3U})
    EXPECT_EQ(cluster.at(id).executed(), Commands{"kept"}) << id;
}

TEST(RaftScene, RequestsBeyondTheBoundAreTurnedAwayAtOnce) {
  RaftCluster cluster(3);
  cluster.establish(1);
  std::size_t busy = 0;
  std::size_t answered = 0;
  for (std::size_t i = 0; i <= kRequestsMax; ++i) {
    cluster.at(1).group().transfer_leadership(NodeId{2}, {}, [&](const auto& done) {
      ++answered;
      busy += static_cast<std::size_t>(!done && done.error().code == TransferError::kBusy);
    });
  }
  EXPECT_EQ(answered, 1U);
  EXPECT_EQ(busy, 1U);
  std::size_t refused = 0;
  for (std::size_t i = 0; i <= kRequestsMax; ++i) {
    cluster.at(1).group().change_membership({}, [&](const auto& done) {
      refused += static_cast<std::size_t>(!done && done.error().code == ConfError::kBusy);
    });
  }
  EXPECT_EQ(refused, 1U);
  cluster.pass_time(seconds(2));
  EXPECT_EQ(answered, kRequestsMax + 1);  // Nobody is forgotten.
}

TEST(RaftScene, AnAcceptedCommandOfALostLeaderIsNeverCalledRefused) {  // 1.5, L-14
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.cut(1);
  const auto lost = cluster.at(1).propose("lost");
  while (cluster.at(1).leads())  // No quorum answers: it steps down.
    cluster.pass_time(kTick);
  EXPECT_EQ(lost->times, 0);
  cluster.pass_time(kOutcomeWaitTimeouts * RaftSettings{}.election_timeout());
  EXPECT_EQ(lost->error(), "outcome_unknown");
  EXPECT_EQ(lost->times, 1);
}

// Node 1 leads three, and a round of its readers has left; the answers to it are in `answers`, and nothing reaches node 1 from now on.
struct RoundUnderWay {
  RoundUnderWay() : cluster(3) {
    cluster.establish(1);
    cluster.kept = &answers;
    cluster.passes = [](const Letter& letter) {
      return letter.to.value() != 1;
    };
    read = cluster.at(1).read();
    cluster.settle();
    cluster.kept = nullptr;
    cluster.cut(1);
  }
  // Another one leads, and has answered a writer.
  void depose() {
    const std::uint64_t leader = cluster.elect();
    const auto newer = cluster.at(leader).propose("newer");
    cluster.settle();
    ASSERT_TRUE(newer->applied());
  }
  void deliver_twice() {
    for (int twice = 0; twice < 2; ++twice) {
      for (const Letter& letter : answers)
        cluster.at(1).receive(letter);
    }
    cluster.settle();
  }

  RaftCluster cluster;
  std::vector<Letter> answers;
  std::shared_ptr<std::optional<ReadAnswer>> read;
};

TEST(RaftScene, ADeposedLeaderAnswersNoReader) {  // R10, L-82
  RoundUnderWay round;
  RaftMember& old = round.cluster.at(1);
  EXPECT_FALSE(*round.read);
  EXPECT_FALSE(round.answers.empty());
  round.depose();
  while (old.leads())
    round.cluster.pass_time(kTick);
  ASSERT_TRUE(*round.read);
  ASSERT_FALSE(**round.read);
  EXPECT_TRUE((**round.read).error().code == ReadError::kNotLeader ||
              (**round.read).error().code == ReadError::kUnavailable);
  const auto after = old.read();
  round.deliver_twice();
  ASSERT_TRUE(*after);
  EXPECT_EQ((**after).error().code, ReadError::kNotLeader);
}

// Its clock stood still while it was deposed, so that it does not know: rounds rest on no clock.
TEST(RaftScene, LateAnswersServeNobodyWhoCameAfterTheirRound) {  // R10, L-79, L-80
  RoundUnderWay round;
  RaftMember& old = round.cluster.at(1);
  old.drift_per_mille = -1'000;
  round.depose();
  old.drift_per_mille = 0;
  ASSERT_TRUE(old.leads());
  const auto after = old.read();
  round.deliver_twice();
  ASSERT_TRUE(old.leads());
  ASSERT_TRUE(*round.read) << "the answers are its own";
  EXPECT_TRUE((*round.read)->has_value()) << "it asked before anything newer was written";
  EXPECT_FALSE(*after);
  round.cluster.heal();
  while (!*after)
    round.cluster.pass_time(kTick);
  EXPECT_EQ((**after).error().code, ReadError::kNotLeader);
}

TEST(RaftScene, WhatIsCommittedIsOnTheDiskWithinASecondThoughNothingFollows) {  // L-44
  RaftCluster cluster(3);
  cluster.establish(1);
  const auto last = cluster.at(1).propose("last");
  cluster.pass_time(seconds(2));
  ASSERT_TRUE(last->applied());
  const Index committed = cluster.at(3).status().committed;
  cluster.at(3).crash();
  cluster.cut(3);
  cluster.at(3).start();
  cluster.settle();
  EXPECT_EQ(cluster.at(3).status().committed, committed);
}

// Its rounds are answered in the pass that begins them.
TEST(RaftScene, ALoneVoterServesOneReaderAfterTheOther) {  // L-8, L-83
  RaftCluster cluster(1);
  cluster.establish(1);
  for (int i = 0; i < 5; ++i) {
    const auto read = cluster.at(1).read();
    cluster.settle();
    ASSERT_TRUE(*read);
    EXPECT_TRUE((*read)->has_value());
  }
}

TEST(RaftScene, ReadersOfALeaderThatStepsDownAreToldAtOnce) {  // L-82
  RaftCluster cluster(3);
  cluster.establish(1);
  const auto begun = cluster.clock.elapsed();
  cluster.cut(1);
  cluster.pass_time(RaftSettings{}.election_timeout() / 2);
  const auto read = cluster.at(1).read();
  while (cluster.at(1).leads())
    cluster.pass_time(kTick);
  EXPECT_LT(cluster.clock.elapsed() - begun, 3 * RaftSettings{}.election_timeout());
  ASSERT_TRUE(*read);
  EXPECT_EQ((**read).error().code, ReadError::kNotLeader);
}

TEST(RaftScene, ANewLeaderServesNoReadBeforeItsOwnEntry) {  // R11, L-81
  RaftCluster cluster(3);
  cluster.establish(1);
  // Entries pass, but nobody learns from the leader that they are committed.
  const auto one = cluster.at(1).propose("one");
  cluster.settle();
  ASSERT_TRUE(one->applied());
  EXPECT_TRUE(cluster.at(2).executed().empty());
  EXPECT_TRUE(cluster.at(3).executed().empty());
  cluster.at(1).crash();
  // Votes pass, and once somebody leads, nothing does.
  cluster.passes = [&](const Letter& letter) {
    return letter.lane == Lane::kControl && !cluster.at(2).leads() && !cluster.at(3).leads();
  };
  std::uint64_t leader = 0;
  for (int tick = 0; tick < 200 && leader == 0; ++tick) {
    cluster.pass_time(kTick);
    for (const std::uint64_t id : {2U, 3U}) {
      if (cluster.at(id).leads()) leader = id;
    }
  }
  ASSERT_NE(leader, 0U);
  const auto read = cluster.at(leader).read();
  cluster.settle();
  EXPECT_FALSE(*read);
  cluster.heal();
  cluster.pass_time(5 * kTick);
  ASSERT_TRUE(*read);
  ASSERT_TRUE(**read) << (**read).error().detail;
  EXPECT_EQ(cluster.at(leader).executed(), Commands{"one"});
}

TEST(RaftScene, AFollowerServesAReadAtTheLeadersIndex) {  // L-84
  RaftCluster cluster(3);
  cluster.establish(1);
  const auto one = cluster.at(1).propose("one");
  cluster.settle();
  ASSERT_TRUE(one->applied());
  const auto read = cluster.at(2).read(ReadMode::kFollower);
  cluster.pass_time(4 * kTick);
  ASSERT_TRUE(*read);
  ASSERT_TRUE(**read) << (**read).error().detail;
  EXPECT_EQ(cluster.at(2).executed(), Commands{"one"});
}

TEST(RaftScene, LeadershipIsAcquiredAndLostInTurn) {  // L-94
  RaftCluster cluster(3);
  cluster.establish(1);
  const auto before = cluster.at(1).notes();
  ASSERT_FALSE(before.empty());
  EXPECT_EQ(before.back().substr(0, 8), "acquired");
  const std::string term = to_string(cluster.at(1).status().term);
  cluster.at(1).group().transfer_leadership(
      NodeId{2}, {}, [](const auto& said) { EXPECT_TRUE(said.has_value()); });
  cluster.pass_time(seconds(1));
  EXPECT_TRUE(cluster.at(2).leads());
  EXPECT_EQ(cluster.at(1).notes().back(), "lost " + term);
  EXPECT_EQ(cluster.at(2).notes().back().substr(0, 8), "acquired");
}

TEST(RaftScene, AChangeOfMembershipActsAfterItsSync) {  // R6, L-55
  RaftCluster cluster(3);
  cluster.establish(1);
  std::vector<Letter> to_joiner;
  cluster.kept = &to_joiner;
  cluster.passes = [](const Letter& letter) {
    return letter.to != NodeId{4};
  };
  const auto added = cluster.at(1).change({.steps = {{ConfOp::kAddLearner, NodeId{4}}}});
  while (cluster.at(1).status().conf->index == kFounding.index && !cluster.at(1).disk_hangs) {
    // The entry syncs; the configuration that it makes does not.
    ASSERT_TRUE(cluster.at(1).step() || cluster.at(2).step() || cluster.at(3).step());
    for (const std::uint64_t id : {1U, 2U, 3U}) {
      for (const Letter& letter : std::exchange(cluster.at(id).mail, {}))
        cluster.at(letter.to.value()).receive(letter);
    }
    const GroupStatus status = cluster.at(1).status();
    cluster.at(1).disk_hangs = status.committed == status.last && status.persisted == status.last;
  }
  cluster.settle();
  EXPECT_TRUE(cluster.at(1).syncing());
  EXPECT_FALSE(*added);
  cluster.pass_time(4 * kTick);
  EXPECT_TRUE(to_joiner.empty());
  cluster.at(1).disk_hangs = false;
  cluster.settle();
  ASSERT_TRUE(*added);
  ASSERT_TRUE(**added) << (**added).error().detail;
  EXPECT_EQ((**added)->conf.learners, std::vector{NodeId{4}});
  cluster.pass_time(4 * kTick);
  EXPECT_FALSE(to_joiner.empty());
}

TEST(RaftScene, ARestartBeginsWithTheNewestDurableMembership) {  // L-56, R6
  RaftCluster cluster(3);
  cluster.establish(1);
  const auto removed = cluster.at(1).change({.steps = {{ConfOp::kRemove, NodeId{3}}}});
  cluster.settle();
  ASSERT_TRUE(*removed);
  ASSERT_TRUE(**removed) << (**removed).error().detail;
  cluster.pass_time(4 * kTick);
  cluster.at(1).crash();  // Its state has flushed nothing of it.
  cluster.at(1).start();
  cluster.settle();
  EXPECT_EQ(cluster.at(1).status().conf->conf.voters, (std::vector{NodeId{1}, NodeId{2}}));
  EXPECT_NE(cluster.elect(), 0U);
}

TEST(RaftScene, ARemovedVoterDoesNothingAnyMore) {  // L-88, L-90
  RaftCluster cluster(3);
  cluster.establish(1);
  const auto removed = cluster.at(1).change({.steps = {{ConfOp::kRemove, NodeId{3}}}});
  cluster.pass_time(4 * kTick);
  ASSERT_TRUE(*removed);
  const auto one = cluster.at(1).propose("one");
  cluster.settle();
  EXPECT_TRUE(one->applied());
  EXPECT_TRUE(cluster.at(3).executed().empty());
  const auto late = cluster.at(3).propose("late");
  cluster.settle();
  EXPECT_NE(late->error(), "applied");
  cluster.cut(3);
  cluster.pass_time(seconds(5));
  EXPECT_TRUE(cluster.at(1).leads());
}

TEST(RaftScene, AJointMembershipIsLeftByWhoeverLeads) {  // R14, L-89
  RaftCluster cluster(5);
  cluster.establish(1);
  const auto entered =
      cluster.at(1).change({.steps = {{ConfOp::kRemove, NodeId{4}}, {ConfOp::kRemove, NodeId{5}}}});
  cluster.settle();
  ASSERT_TRUE(*entered);
  ASSERT_TRUE(**entered) << (**entered).error().detail;
  EXPECT_TRUE((**entered)->conf.joint());
  cluster.at(1).crash();
  const std::uint64_t leader = cluster.elect();
  ASSERT_NE(leader, 0U);
  cluster.pass_time(seconds(1));
  EXPECT_FALSE(cluster.at(leader).status().conf->conf.joint());
  EXPECT_EQ(cluster.at(leader).status().conf->conf.voters,
            (std::vector{NodeId{1}, NodeId{2}, NodeId{3}}));
}

TEST(RaftScene, AJointMembershipIsLeftThoughItsLeaderDiedBeforeItActed) {  // R14, L-89
  RaftCluster cluster(5);
  cluster.establish(1);
  cluster.at(1).applier_stands = true;
  const auto entered =
      cluster.at(1).change({.steps = {{ConfOp::kRemove, NodeId{4}}, {ConfOp::kRemove, NodeId{5}}}});
  cluster.pass_time(4 * kTick);
  EXPECT_FALSE(*entered);
  EXPECT_FALSE(cluster.at(1).status().conf->conf.joint());
  EXPECT_TRUE(cluster.at(2).status().conf->conf.joint());
  cluster.at(1).crash();
  const std::uint64_t leader = cluster.elect();
  ASSERT_NE(leader, 0U);
  cluster.pass_time(seconds(1));
  EXPECT_FALSE(cluster.at(leader).status().conf->conf.joint());
  EXPECT_EQ(cluster.at(leader).status().conf->conf.voters,
            (std::vector{NodeId{1}, NodeId{2}, NodeId{3}}));
}

TEST(RaftScene, AVoterThatIsAloneNowMayHaveUnsyncedEntries) {  // R15, L-33
  RaftCluster cluster(2);
  cluster.establish(1);
  const auto removed = cluster.at(1).change({.steps = {{ConfOp::kRemove, NodeId{2}}}});
  cluster.settle();
  ASSERT_TRUE(*removed);
  ASSERT_TRUE(**removed) << (**removed).error().detail;
  cluster.at(1).disk_hangs = true;
  const auto one = cluster.at(1).propose("one");
  cluster.pass_time(seconds(4));
  EXPECT_EQ(one->times, 0);
  cluster.at(1).disk_hangs = false;
  cluster.pass_time(seconds(4));
  EXPECT_TRUE(one->applied() || one->error() == "outcome_unknown") << one->error();
  const auto two = cluster.at(1).propose("two");
  cluster.settle();
  EXPECT_TRUE(two->applied()) << two->error();
}

TEST(RaftScene, AFrameThatIsNotWhatItSaysIsDropped) {
  RaftCluster cluster(3);
  cluster.establish(1);
  const auto garbage = [&](NodeId from, NodeId said) {
    cluster.at(1).host().on_frames(
        from, {{kSceneGroup, said, NodeId{1}, Body::copy_of(base::as_bytes("garbage"))}});
    cluster.settle();
  };
  garbage(NodeId{2}, NodeId{3});
  EXPECT_EQ(cluster.at(1).host().metrics().frames_dropped.load(), 1U);
  garbage(NodeId{2}, NodeId{2});
  EXPECT_EQ(cluster.at(1).host().metrics().frames_malformed.load(), 1U);
  cluster.at(1).host().on_frames(NodeId{2}, {{GroupId{99}, NodeId{2}, NodeId{1}, {}}});
  cluster.settle();
  EXPECT_EQ(cluster.at(1).host().metrics().frames_unknown.load(), 1U);
  EXPECT_TRUE(cluster.at(1).leads());
}

TEST(Peers, MissedTicksAreGone) {  // L-60
  NodeMetrics metrics;
  const RaftSettings settings;
  Peers peers(NodeId{1}, nullptr, settings, metrics);
  EXPECT_TRUE(peers.tick_due(seconds(1)));
  EXPECT_FALSE(peers.tick_due(seconds(1)));
  EXPECT_TRUE(peers.tick_due(seconds(60)));
  EXPECT_FALSE(peers.tick_due(seconds(60)));
  EXPECT_FALSE(peers.tick_due(seconds(60) + settings.tick / 2));
  EXPECT_TRUE(peers.tick_due(seconds(60) + settings.tick));
}

}  // namespace
}  // namespace cadastre::log
