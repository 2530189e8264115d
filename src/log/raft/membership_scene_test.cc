// Membership as scenes (log.md, section 9 and R6, R9): small clusters on the real loop, engine and records.

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log/conf_context.h"
#include "log/membership.h"
#include "log/raft/raft_cluster_testing.h"

namespace cadastre::log {
namespace {

using std::chrono::seconds;

using Commands = std::vector<std::string>;
using Answer = std::shared_ptr<std::optional<RaftMember::ConfAnswer>>;

std::vector<NodeId> nodes(std::vector<std::uint64_t> ids) {
  std::vector<NodeId> out;
  for (const std::uint64_t id : ids)
    out.emplace_back(id);
  return out;
}

MembershipChange removal(std::uint64_t node) {
  return {.steps = {{ConfOp::kRemove, NodeId{node}}}};
}

ConfError code_of(const Answer& answer) {
  CAD_CHECK(*answer && !**answer, "it was refused");
  return (**answer).error().code;
}

// The first field of an eraftpb.Message is its type.
bool asks_for_vote(const Letter& letter) {
  constexpr std::byte kMsgRequestVote{5};
  constexpr std::byte kMsgRequestPreVote{17};
  const ByteView bytes = letter.frame.body.bytes();
  return bytes.size() > 1 && (bytes[1] == kMsgRequestVote || bytes[1] == kMsgRequestPreVote);
}

// A node judges its topology file by it, before anything runs.
TEST(MembershipScene, WhoeverOpensAGroupKnowsItsMembersAtOnce) {  // S-8
  RaftCluster cluster(3);
  EXPECT_EQ(cluster.at(1).status().conf->conf.voters, nodes({1, 2, 3}));
  cluster.establish(1);
  const Answer removed = cluster.at(1).change(removal(3));
  cluster.pass_time(seconds(1));
  ASSERT_TRUE(*removed && (*removed)->has_value());
  cluster.at(2).crash();
  cluster.at(2).start();
  EXPECT_EQ(cluster.at(2).status().conf->conf.voters, nodes({1, 2}));
}

// Else `node status` would know nothing of the members until the first heartbeat.
TEST(MembershipScene, WhoeverLeadsShowsItsMembersAtOnce) {
  RaftCluster cluster(3);
  int looks = 0;
  cluster.after_step = [&] {
    const GroupStatus status = cluster.at(1).status();
    if (status.leader != NodeId{1}) return;
    ++looks;
    ASSERT_NE(status.members, nullptr) << looks;
    EXPECT_EQ(status.members->size(), 3U);
  };
  cluster.establish(1);
  EXPECT_GT(looks, 0);
}

TEST(MembershipScene, AVoterOnItsOwnShowsItselfThoughItHasNothingToSend) {
  RaftCluster cluster(1);
  cluster.establish(1);
  cluster.pass_time(4 * kTick);
  const auto members = cluster.at(1).status().members;
  ASSERT_NE(members, nullptr);
  ASSERT_EQ(members->size(), 1U);
  EXPECT_EQ(members->front().node, NodeId{1});
}

TEST(MembershipScene, ARemovedNodesIdIsNeverAddedAgain) {  // L-90
  RaftCluster cluster(3);
  cluster.establish(1);
  const auto removed = cluster.at(1).change(removal(3));
  cluster.pass_time(4 * kTick);
  ASSERT_TRUE(*removed && **removed);
  EXPECT_TRUE(context_of(***removed).has_left(NodeId{3}));
  const auto again = cluster.at(1).change({.steps = {{ConfOp::kAddLearner, NodeId{3}}}});
  cluster.settle();
  EXPECT_EQ(code_of(again), ConfError::kInvalid);
  // Whoever leads next knows as much.
  cluster.establish(2);
  const auto elsewhere = cluster.at(2).change({.steps = {{ConfOp::kAddLearner, NodeId{3}}}});
  cluster.settle();
  EXPECT_EQ(code_of(elsewhere), ConfError::kInvalid);
}

TEST(MembershipScene, AddressesStayInEveryLaterConfiguration) {  // L-91
  RaftCluster cluster(3);
  cluster.establish(1);
  const auto added = cluster.at(1).change({.steps = {{ConfOp::kAddLearner, NodeId{4}}}});
  cluster.pass_time(4 * kTick);
  ASSERT_TRUE(*added && **added);
  const auto removed = cluster.at(1).change(removal(3));
  cluster.pass_time(4 * kTick);
  ASSERT_TRUE(*removed && **removed);
  const ConfContext context = context_of(*cluster.at(2).status().conf);
  EXPECT_EQ(context.addresses, (std::vector<PeerAddress>{{NodeId{4}, {"node4:2", ""}}}));
  EXPECT_EQ(context.removed, nodes({3}));
}

TEST(MembershipScene, ALearnerThatWasNeverFedIsNotPromoted) {  // L-86
  RaftCluster cluster(3);
  cluster.establish(1);
  const auto added = cluster.at(1).change({.steps = {{ConfOp::kAddLearner, NodeId{4}}}});
  cluster.pass_time(seconds(2));
  ASSERT_TRUE(*added && **added);
  MembershipChange promotion{.steps = {{ConfOp::kAddVoter, NodeId{4}}}};
  promotion.min_match = Index{1};
  const auto promoted = cluster.at(1).change(promotion);
  cluster.settle();
  EXPECT_EQ(code_of(promoted), ConfError::kBusy);
  EXPECT_EQ(cluster.at(1).status().conf->conf.voters, nodes({1, 2, 3}));
}

TEST(MembershipScene, ARemovalLeavesAQuorumThatIsHeard) {  // L-90
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.cut(2);
  cluster.pass_time(kAwayTimeouts * RaftSettings{}.election_timeout() + 4 * kTick);
  ASSERT_TRUE(cluster.at(1).leads());
  const auto refused = cluster.at(1).change(removal(3));
  cluster.settle();
  EXPECT_EQ(code_of(refused), ConfError::kBusy);
  const auto lost = cluster.at(1).change(removal(2));
  cluster.settle();
  ASSERT_TRUE(*lost && **lost) << (**lost).error().detail;
  const auto one = cluster.at(1).propose("one");
  cluster.settle();
  EXPECT_TRUE(one->applied());
}

TEST(MembershipScene, TheLeaderHandsOverBeforeItIsRemoved) {  // L-88
  RaftCluster cluster(3);
  cluster.establish(1);
  const auto asked = cluster.at(1).change(removal(1));
  cluster.pass_time(seconds(2));
  EXPECT_EQ(code_of(asked), ConfError::kNotLeader);
  EXPECT_NE((**asked).error().detail.find("leads now"), std::string::npos);
  const std::uint64_t leader = cluster.elect();
  ASSERT_NE(leader, 0U);
  ASSERT_NE(leader, 1U);
  EXPECT_EQ(cluster.at(1).status().conf->conf.voters, nodes({1, 2, 3}));
  const auto removed = cluster.at(leader).change(removal(1));
  cluster.pass_time(seconds(1));
  ASSERT_TRUE(*removed && **removed) << (**removed).error().detail;
  const auto one = cluster.at(leader).propose("one");
  cluster.settle();
  EXPECT_TRUE(one->applied());
  EXPECT_EQ(cluster.at(1).status().role, Role::kHalted);
}

TEST(MembershipScene, ATransferNeedsAReceiverThatHasNearlyAllAndTakesNothingMeanwhile) {  // L-92
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.cut(3);
  for (std::uint64_t i = 0; i <= kLagMax; ++i) {
    (void)cluster.at(1).propose("command");
    cluster.settle();
  }
  std::vector<TransferError> told;
  const auto transfer = [&](TransferOptions options) {
    cluster.at(1).group().transfer_leadership(
        NodeId{3}, options, [&](const auto& said) { told.push_back(said.error().code); });
    cluster.settle();
  };
  transfer({});
  EXPECT_EQ(told, std::vector{TransferError::kBehind});
  const auto before = cluster.at(1).propose("before");
  cluster.settle();
  EXPECT_TRUE(before->applied());

  transfer({.force = true});
  EXPECT_EQ(told.size(), 1U);
  const auto meanwhile = cluster.at(1).propose("meanwhile");
  cluster.settle();
  EXPECT_EQ(meanwhile->error(), "overloaded");
  cluster.pass_time(RaftSettings{}.election_timeout() + 2 * kTick);
  EXPECT_EQ(told, (std::vector{TransferError::kBehind, TransferError::kTimedOut}));
  const auto after = cluster.at(1).propose("after");
  cluster.settle();
  EXPECT_TRUE(after->applied()) << after->error();
}

TEST(MembershipScene, ATransferIsNotBegunTwice) {  // S-19
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.passes = [](const Letter&) {
    return false;
  };
  std::vector<std::string> told;
  for (const std::uint64_t to : {2U, 3U}) {
    cluster.at(1).group().transfer_leadership(NodeId{to}, {.force = true}, [&](const auto& said) {
      told.push_back(said ? "done" : said.error().detail);
    });
  }
  cluster.settle();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("under way"), std::string::npos);
  cluster.pass_time(seconds(5));
  EXPECT_EQ(told.size(), 2U);
}

TEST(MembershipScene, AChangeWhosePlaceAnotherEntryTookIsSuperseded) {  // 1.5, L-15
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.cut(1);
  const auto lost = cluster.at(1).change(removal(3));
  cluster.settle();
  ASSERT_NE(cluster.elect(), 0U);
  EXPECT_FALSE(*lost);
  cluster.heal();
  cluster.pass_time(4 * kTick);
  EXPECT_EQ(code_of(lost), ConfError::kSuperseded);
  EXPECT_EQ(cluster.at(1).status().conf->conf.voters, nodes({1, 2, 3}));
}

TEST(MembershipScene, ARemovedLeaderDoesNothingAnyMore) {  // R9, L-88
  RaftCluster cluster(3);
  cluster.establish(1);
  // The removal of 2 is in every log; its proposer hears of no acknowledgement, and dies.
  cluster.passes = [](const Letter& letter) {
    return letter.to != NodeId{1};
  };
  const auto removed = cluster.at(1).change(removal(2));
  cluster.settle();
  EXPECT_FALSE(*removed);
  EXPECT_EQ(cluster.at(2).status().last, cluster.at(1).status().last);
  cluster.at(1).crash();
  EXPECT_EQ(code_of(removed), ConfError::kOutcomeUnknown);
  EXPECT_EQ(cluster.at(2).status().conf->conf.voters, nodes({1, 2, 3}));
  // Leadership moves to the one that is being removed, before the entry is applied there.
  cluster.at(2).applier_stands = true;
  cluster.passes = [](const Letter& letter) {
    return letter.from != NodeId{3} || !asks_for_vote(letter);
  };
  ASSERT_EQ(cluster.elect(), 2U);
  const auto late = cluster.at(2).propose("late");
  cluster.settle();  // Acknowledgements arrive, and its removal is committed under its own lead.
  EXPECT_GT(cluster.at(2).status().committed, cluster.at(2).status().applied);
  cluster.at(2).applier_stands = false;
  cluster.pass_time(10 * kTick);
  EXPECT_EQ(cluster.at(2).status().role, Role::kHalted);
  EXPECT_NE(late->times, 0);
  cluster.heal();
  cluster.at(1).start();
  cluster.pass_time(seconds(5));
  const std::uint64_t leader = cluster.elect();
  ASSERT_TRUE(leader == 1 || leader == 3) << leader;
  EXPECT_EQ(cluster.at(leader).status().conf->conf.voters, nodes({1, 3}));
}

TEST(MembershipScene, ANodeThatMissedItsRemovalLearnsItFromAPeer) {  // L-90
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.cut(3);
  const auto removed = cluster.at(1).change(removal(3));
  cluster.settle();
  ASSERT_TRUE(*removed && **removed) << (**removed).error().detail;
  const Index at = (**removed)->index;
  EXPECT_NE(cluster.at(3).status().role, Role::kHalted);
  // By what it knows itself, which is no news; and by nobody that it knows, which would end any node by one frame.
  cluster.at(3).host().not_wanted({kSceneGroup, NodeId{1}, kFounding.index});
  cluster.at(3).host().not_wanted({kSceneGroup, NodeId{9}, at + 1'000});
  cluster.settle();
  EXPECT_NE(cluster.at(3).status().role, Role::kHalted);
  cluster.at(3).host().not_wanted({kSceneGroup, NodeId{1}, at});
  cluster.settle();
  EXPECT_EQ(cluster.at(3).status().role, Role::kHalted);
  EXPECT_NE(cluster.at(3).status().halted.find("removed"), std::string::npos);
  cluster.heal();
  cluster.at(3).crash();
  cluster.at(3).start();  // The mark outlives the process.
  cluster.pass_time(seconds(5));
  EXPECT_EQ(cluster.at(3).status().role, Role::kHalted);
  EXPECT_NE(cluster.at(3).status().halted.find("new raft_id"), std::string::npos);
}

// Its mark would lie above nothing, and the next start take that for damage.
TEST(MembershipScene, ANodeIsToldOfItsRemovalBeforeItWroteAnything) {  // L-90
  RaftCluster cluster(3);
  cluster.at(3).crash();
  cluster.establish(1);
  const auto removed = cluster.at(1).change(removal(3));
  cluster.settle();
  ASSERT_TRUE(*removed && **removed);
  cluster.at(3).start();
  cluster.at(3).host().not_wanted({kSceneGroup, NodeId{1}, (**removed)->index});
  cluster.settle();
  EXPECT_EQ(cluster.at(3).status().role, Role::kHalted);
  cluster.at(3).crash();
  cluster.at(3).start();
  cluster.settle();
  EXPECT_EQ(cluster.at(3).status().role, Role::kHalted);
}

TEST(MembershipScene, ANodeThatAppliedItsRemovalIsNotOpenedAgain) {  // L-90
  RaftCluster cluster(3);
  cluster.establish(1);
  const auto removed = cluster.at(1).change(removal(3));
  cluster.pass_time(10 * kTick);
  ASSERT_TRUE(*removed && **removed);
  EXPECT_EQ(cluster.at(3).status().role, Role::kHalted);
  cluster.at(3).crash();
  cluster.at(3).start();
  cluster.pass_time(seconds(5));
  EXPECT_EQ(cluster.at(3).status().role, Role::kHalted);
  EXPECT_TRUE(cluster.at(1).leads());
}

// Of three, 3 is removed and then 2: the last configuration is {1}, and a quorum of the first, {2, 3}, has no member of
// it. Node 2 has acknowledged both changes, applied neither, and dies: started again it must not decide with 3.
TEST(MembershipScene, OldAndNewQuorumNeverDecideBesideEachOther) {  // R6, L-55, L-56
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.at(2).applier_stands = true;
  cluster.cut(3);
  const auto first = cluster.at(1).change(removal(3));
  cluster.settle();
  ASSERT_TRUE(*first && **first) << (**first).error().detail;
  const auto second = cluster.at(1).change(removal(2));
  cluster.settle();
  ASSERT_TRUE(*second && **second) << (**second).error().detail;
  EXPECT_EQ(cluster.at(1).status().conf->conf.voters, nodes({1}));
  EXPECT_EQ(cluster.at(2).status().conf->conf.voters, nodes({1, 2, 3}));
  cluster.at(2).crash();
  cluster.at(2).applier_stands = false;
  cluster.at(2).start();
  // Both try.
  cluster.cut(1);
  const auto kept = cluster.at(1).propose("kept");
  cluster.pass_time(seconds(20));
  EXPECT_TRUE(kept->applied());
  EXPECT_TRUE(cluster.at(1).leads());
  EXPECT_FALSE(cluster.at(2).leads());
  EXPECT_FALSE(cluster.at(3).leads());
  cluster.heal();
  cluster.pass_time(seconds(5));
  EXPECT_TRUE(cluster.at(1).leads());
  EXPECT_EQ(cluster.at(1).executed(), Commands{"kept"});
}

// A state may be flushed at any time, also while the configuration that an entry brings is on its way to the disk.
TEST(MembershipScene, AChangeIsNotForgottenThoughTheStateWasFlushedBeforeItsSync) {  // R6, L-55
  RaftCluster cluster(3);
  cluster.establish(1);
  cluster.at(2).applier_stands = true;
  const auto added = cluster.at(1).change({{{ConfOp::kAddLearner, NodeId{9}}}, {}});
  cluster.pass_time(seconds(1));  // Node 2 knows that it is committed, and its log is on the disk.
  ASSERT_TRUE(*added && **added);
  cluster.at(2).disk_hangs = true;
  cluster.at(2).applier_stands = false;
  cluster.pass_time(seconds(1));
  ASSERT_TRUE(cluster.at(2).syncing());
  cluster.at(2).machine().request_flush();
  cluster.at(2).crash();
  cluster.at(2).disk_hangs = false;
  cluster.at(2).start();
  cluster.pass_time(seconds(1));
  EXPECT_TRUE(cluster.at(2).status().conf->conf.has(NodeId{9}));
  EXPECT_EQ(*cluster.at(2).status().conf, *cluster.at(1).status().conf);
}

}  // namespace
}  // namespace cadastre::log
