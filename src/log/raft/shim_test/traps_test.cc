// Traps in raft-rs that the shim leaves open because the loop closes them: each stays until a newer crate
// says otherwise, and each is the reason of a rule.

#include <cstdint>
#include <string>
#include <vector>

#include <cadastre_raft.h>
#include <gtest/gtest.h>

#include "log/raft/shim_test/cluster_testing.h"
#include "log/raft/shim_test/eraftpb_testing.h"
#include "log/raft/shim_test/raft_node_testing.h"

namespace cadastre::log {
namespace {

// L-79
TEST(ShimTraps, EqualReadContextsOfTwoNodesCollapseIntoOne) {
  Cluster cluster({1, 2, 3});
  cluster.establish(1, {2, 3});
  cluster.at(2).read_index("same");
  cluster.at(3).read_index("same");
  cluster.settle();
  cluster.tick(10);
  EXPECT_EQ(cluster.at(2).reads.size() + cluster.at(3).reads.size(), 1U);
}

// L-82
TEST(ShimTraps, ReadsAreDroppedWithoutNotice) {
  Cluster cluster({1, 2, 3});
  cluster.at(2).read_index("no leader is known");
  EXPECT_TRUE(cluster.at(2).take_mail().empty());
  cluster.elect(1, {2, 3});
  cluster.at(1).read_index("nothing of this term is committed");
  EXPECT_EQ(cluster.at(1).status().reads_pending, 0U);
  cluster.tick(10);
  EXPECT_TRUE(cluster.at(1).reads.empty());
}

TEST(ShimTraps, PendingReadsAreForgottenWithTheLeadership) {
  Cluster cluster({1, 2, 3});
  cluster.establish(1, {2, 3});
  cluster.passes = [](const Mail&) {
    return false;
  };
  cluster.at(1).read_index("asked in time");
  EXPECT_EQ(cluster.at(1).status().reads_pending, 1U);
  cluster.at(1).tick(20);  // No quorum answers: it steps down.
  EXPECT_FALSE(cluster.at(1).leads());
  EXPECT_EQ(cluster.at(1).status().reads_pending, 0U);
}

// 3.2: a delayed rejection; resends, nothing worse.
TEST(ShimTraps, ADelayedRejectionMovesNextBelowMatch) {
  Cluster cluster({1, 2, 3});
  cluster.establish(1, {2, 3});
  for (const char* body : {"a", "b", "c"})
    EXPECT_EQ(cluster.at(1).propose(body), CAD_OK);
  cluster.settle();
  RaftNode& leader = cluster.at(1);
  cad_raft_report_unreachable(leader.raft(), 2);
  const std::uint64_t match = leader.progress()[1].match;
  const std::string rejection = message({kMsgAppendResponse, 2, 1, leader.status().term})
                                    .number(5, 1)
                                    .number(6, match)
                                    .number(10, 1)
                                    .number(11, 1)
                                    .done();
  EXPECT_EQ(leader.step(rejection), CAD_OK);
  EXPECT_LE(leader.progress()[1].next, match);
  EXPECT_EQ(leader.progress()[1].match, match);
  EXPECT_EQ(leader.propose("d"), CAD_OK);
  cluster.settle();
  cluster.tick(4);
  EXPECT_EQ(cluster.at(2).disk().state, leader.disk().state);
}

// The letter that `from` sent to `to` of this kind, out of `mail`.
std::string letter_of(const std::vector<Mail>& mail, std::uint64_t to, std::uint32_t type) {
  for (const Mail& letter : mail) {
    if (letter.to == to && letter.type == type) return letter.bytes;
  }
  return {};
}

// Ticks the node alone until it asks for pre-votes; what it sent.
std::vector<Mail> pre_campaign(RaftNode& node) {
  constexpr int kTicksMax = 100;
  for (int i = 0; i < kTicksMax; ++i) {
    node.tick();
    std::vector<Mail> mail = node.take_mail();
    if (!mail.empty()) return mail;
  }
  return {};
}

// L-61, O-14 d: without the loop's vote guard a second leader appears inside the first one's lease.
TEST(ShimTraps, ALateRejectionOpensAVoterForASecondLeaderWithinTheLease) {
  Cluster cluster({1, 2, 3});
  cluster.establish(1, {2, 3});
  RaftNode& leader = cluster.at(1);
  RaftNode& voter = cluster.at(2);
  RaftNode& rival = cluster.at(3);
  const std::uint64_t term = leader.status().term;

  // The leader is silent for a while. Both others ask; the rival gets the voter's pre-vote.
  const std::vector<Mail> asked_by_voter = pre_campaign(voter);
  const std::vector<Mail> asked_by_rival = pre_campaign(rival);
  EXPECT_EQ(voter.step(letter_of(asked_by_rival, 2, kMsgRequestPreVote)), CAD_OK);
  EXPECT_EQ(rival.step(letter_of(voter.take_mail(), 3, kMsgRequestPreVoteResponse)), CAD_OK);
  const std::string vote_request = letter_of(rival.take_mail(), 2, kMsgRequestVote);
  ASSERT_FALSE(vote_request.empty());
  EXPECT_EQ(rival.status().term, term + 1);
  EXPECT_EQ(rival.step(letter_of(asked_by_voter, 3, kMsgRequestPreVote)), CAD_OK);
  const std::string late_rejection = letter_of(rival.take_mail(), 2, kMsgRequestPreVoteResponse);
  ASSERT_FALSE(late_rejection.empty());

  // Now the leader is heard, and a read round comes back: the evidence of a lease.
  leader.read_index("evidence");
  EXPECT_EQ(voter.step(letter_of(leader.take_mail(), 2, kMsgHeartbeat)), CAD_OK);
  EXPECT_EQ(leader.step(letter_of(voter.take_mail(), 1, kMsgHeartbeatResponse)), CAD_OK);
  ASSERT_EQ(leader.reads.size(), 1U);

  // Stickiness refuses the request of a higher term. The late rejection raises the term, and then the
  // same request is of the same term: it is granted. Not one tick has passed.
  EXPECT_EQ(voter.step(vote_request), CAD_OK);
  EXPECT_TRUE(voter.take_mail().empty());
  EXPECT_EQ(voter.step(late_rejection), CAD_OK);
  EXPECT_EQ(voter.status().leader, 0U);
  EXPECT_EQ(voter.step(vote_request), CAD_OK);
  EXPECT_EQ(rival.step(letter_of(voter.take_mail(), 3, kMsgRequestVoteResponse)), CAD_OK);
  EXPECT_TRUE(rival.leads());
  EXPECT_TRUE(leader.leads());
  EXPECT_EQ(rival.status().term, leader.status().term + 1);
}

}  // namespace
}  // namespace cadastre::log
