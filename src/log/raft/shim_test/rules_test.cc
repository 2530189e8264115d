// What the shim adds to raft-rs, rule by rule, and what it relies on (the marked statements of the
// log's specification).

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <cadastre_raft.h>
#include <gtest/gtest.h>

#include "log/raft/shim_test/cluster_testing.h"
#include "log/raft/shim_test/eraftpb_testing.h"
#include "log/raft/shim_test/raft_node_testing.h"

namespace cadastre::log {
namespace {

constexpr std::uint32_t kLeader = CAD_ROLE_LEADER;
constexpr std::uint32_t kFollower = CAD_ROLE_FOLLOWER;

TestSettings by_request() {
  TestSettings settings;
  settings.syncing = Syncing::kByRequest;
  return settings;
}

// 3.2: only a leader takes proposals, and nothing travels to one.
TEST(ShimRules, AFollowerRefusesProposalsAndForwardsNone) {
  Cluster cluster({1, 2, 3});
  cluster.establish(1, {2, 3});
  EXPECT_EQ(cluster.at(2).propose("a"), CAD_NOT_LEADER);
  EXPECT_EQ(cluster.at(2).propose_conf({{2, 0, 9}}), CAD_NOT_LEADER);
  EXPECT_TRUE(cluster.at(2).take_mail().empty());
}

TEST(ShimRules, ProposalsAndTransfersOfPeersAreIgnored) {
  Cluster cluster({1, 2, 3});
  cluster.establish(1, {2, 3});
  const std::uint64_t last = cluster.at(1).status().last;
  const std::string forwarded =
      message({kMsgPropose, 2, 1, 0}).bytes(7, wire_entry({0, 0, 0, "a", ""})).done();
  EXPECT_EQ(cluster.at(1).step(forwarded), CAD_IGNORED);
  EXPECT_EQ(cluster.at(1).step(message({kMsgTransferLeader, 2, 1, 2}).done()), CAD_IGNORED);
  EXPECT_EQ(cluster.at(1).status().last, last);
  EXPECT_EQ(cluster.at(1).status().transferee, 0U);
}

// L-17
TEST(ShimRules, ATermFencesAProposal) {
  Cluster cluster({1});
  cluster.at(1).campaign();
  const std::uint64_t term = cluster.at(1).status().term;
  const cad_slice body = slice_of("a");
  std::uint64_t index = 0;
  std::uint64_t got = 0;
  cad_raft* raft = cluster.at(1).raft();
  EXPECT_EQ(cad_raft_propose(raft, term - 1, &body, 1, &index, &got), CAD_NOT_LEADER);
  EXPECT_EQ(cad_raft_propose(raft, term + 1, &body, 1, &index, &got), CAD_NOT_LEADER);
  EXPECT_EQ(cad_raft_propose(raft, term, &body, 1, &index, &got), CAD_OK);
  EXPECT_EQ(std::pair(index, got), std::pair(std::uint64_t{3}, term));
}

TEST(ShimRules, ABatchIsTakenWholeOrNotAtAll) {
  TestSettings settings = by_request();
  settings.max_size_per_msg = 10;
  settings.max_uncommitted_size = 10;
  RaftNode lone(1, settings, founding_disk({1}));
  lone.campaign();
  lone.sync();
  lone.pump();
  lone.sync();
  const std::vector<cad_slice> bodies = {slice_of("12345"), slice_of("12345"), slice_of("1")};
  std::uint64_t index = 0;
  std::uint64_t term = 0;
  EXPECT_EQ(cad_raft_propose(lone.raft(), 0, bodies.data(), 2, &index, &term), CAD_OK);
  const std::uint64_t last = lone.status().last;
  EXPECT_EQ(last, index + 1);
  EXPECT_EQ(cad_raft_propose(lone.raft(), 0, bodies.data(), 3, &index, &term), CAD_DROPPED);
  EXPECT_EQ(lone.status().last, last);
  EXPECT_EQ(cad_raft_propose(lone.raft(), 0, bodies.data(), 0, &index, &term), CAD_MALFORMED);
  const cad_slice nothing = slice_of("");
  EXPECT_EQ(cad_raft_propose(lone.raft(), 0, &nothing, 1, &index, &term), CAD_MALFORMED);
  EXPECT_EQ(lone.status().last, last);
}

// L-33, R15: a node with unpersisted entries is quiet, even one that would win alone in that call.
TEST(ShimRules, NobodyCampaignsWithUnpersistedEntries) {
  RaftNode node(2, by_request(), founding_disk({2}));
  const Envelope from{0, 1, 2, 5};
  EXPECT_EQ(node.step(append_message(from, 1, 1, {{2, 5, 0, "a", ""}}, 1)), CAD_OK);
  ASSERT_EQ(node.waiting(), 1U);
  node.tick(100);
  EXPECT_EQ(node.status().role, kFollower);
  EXPECT_EQ(node.status().term, 5U);
  EXPECT_EQ(cad_raft_campaign(node.raft()), CAD_IGNORED);
  EXPECT_EQ(node.step(message({kMsgTimeoutNow, 1, 2, 5}).done()), CAD_IGNORED);
  EXPECT_EQ(node.status().role, kFollower);
  node.sync();
  node.tick(40);
  EXPECT_EQ(node.status().role, kLeader);
}

TEST(ShimRules, EntriesThatWereNotEvenTakenKeepANodeQuiet) {
  const RaftNode node(2, by_request(), founding_disk({2}));
  const std::string append = append_message({0, 1, 2, 5}, 1, 1, {{2, 5, 0, "a", ""}}, 1);
  EXPECT_EQ(cad_raft_step(node.raft(), slice_of(append)), CAD_OK);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(cad_raft_tick(node.raft()), 0U);
  EXPECT_EQ(cad_raft_campaign(node.raft()), CAD_IGNORED);
}

TEST(ShimRules, ALearnerDoesNotCampaignWhenAsked) {
  TestDisk disk = founding_disk({1});
  disk.conf.learners = {2};
  RaftNode node(2, {}, disk);
  EXPECT_EQ(node.status().role, static_cast<std::uint32_t>(CAD_ROLE_LEARNER));
  EXPECT_EQ(cad_raft_campaign(node.raft()), CAD_IGNORED);
  node.tick(100);
  EXPECT_EQ(node.status().role, static_cast<std::uint32_t>(CAD_ROLE_LEARNER));
}

// Ticks until the node stops being a plain follower.
int ticks_to_campaign(RaftNode& node) {
  constexpr int kTicksMax = 1000;
  for (int i = 1; i < kTicksMax; ++i) {
    node.tick();
    if (!node.take_mail().empty()) return i;
  }
  return kTicksMax;
}

// How long each of five campaigns of a node took to begin.
std::vector<int> timeouts_of(std::uint64_t seed) {
  TestSettings settings;
  settings.seed = seed;
  RaftNode node(1, settings, founding_disk({1, 2, 3}));
  std::vector<int> ticks(5);
  for (int& count : ticks)
    count = ticks_to_campaign(node);
  return ticks;
}

// L-34
TEST(ShimRules, TimeoutsAreAFunctionOfTheSeed) {
  std::set<std::vector<int>> seen;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<int> ticks = timeouts_of(seed);
    EXPECT_EQ(timeouts_of(seed), ticks) << seed;
    EXPECT_GE(std::ranges::min(ticks), 10) << seed;
    EXPECT_LT(std::ranges::max(ticks), 20) << seed;
    seen.insert(ticks);
  }
  EXPECT_GT(seen.size(), 15U);
}

TEST(ShimRules, TimeoutsDifferBetweenNodesGroupsAndAttempts) {
  std::set<int> of_nodes;
  std::set<int> of_groups;
  std::set<int> of_attempts;
  TestSettings settings;
  settings.election_tick = 50;
  for (std::uint64_t i = 1; i <= 10; ++i) {
    RaftNode node(i, settings, founding_disk({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
    of_nodes.insert(ticks_to_campaign(node));
    TestSettings other = settings;
    other.group = i;
    RaftNode grouped(1, other, founding_disk({1, 2, 3}));
    of_groups.insert(ticks_to_campaign(grouped));
  }
  RaftNode node(1, settings, founding_disk({1, 2, 3}));
  for (int i = 0; i < 10; ++i)
    of_attempts.insert(ticks_to_campaign(node));
  EXPECT_GT(of_nodes.size(), 4U);
  EXPECT_GT(of_groups.size(), 4U);
  EXPECT_GT(of_attempts.size(), 4U);
}

// L-15, L-87, L-88, L-91
TEST(ShimRules, ConfChangesAreRefusedBeforeTheyCouldBecomeSomethingElse) {
  Cluster cluster({1, 2, 3});
  cluster.establish(1, {2, 3});
  RaftNode& node = cluster.at(1);
  EXPECT_EQ(node.propose_conf({}), CAD_CONF_INVALID);                      // not joint
  EXPECT_EQ(node.propose_conf({{1, 0, 1}}), CAD_CONF_INVALID);             // the leader
  EXPECT_EQ(node.propose_conf({{2, 0, 1}}), CAD_CONF_INVALID);             // its demotion
  EXPECT_EQ(node.propose_conf({{0, 0, 4}, {0, 0, 5}}), CAD_CONF_INVALID);  // two, not joint
  EXPECT_EQ(node.propose_conf({{0, 0, 4}}, 1), CAD_CONF_INVALID);          // implicit joint
  EXPECT_EQ(node.propose_conf({}, 2), CAD_CONF_INVALID);                   // joint without a change
  EXPECT_EQ(node.propose_conf({{0, 0, 2}}), CAD_CONF_INVALID);             // no difference
  EXPECT_EQ(node.propose_conf({{1, 0, 9}}), CAD_CONF_INVALID);             // nobody
  EXPECT_EQ(node.propose_conf({{3, 0, 9}}), CAD_CONF_INVALID);             // no operation
  EXPECT_EQ(node.propose_conf({{0, 0, 0}}), CAD_CONF_INVALID);             // no id
  const std::uint64_t last = node.status().last;
  cluster.passes = [](const Mail&) {
    return false;
  };
  EXPECT_EQ(node.propose_conf({{2, 0, 4}}), CAD_OK);
  EXPECT_EQ(node.status().last, last + 1);
  EXPECT_EQ(node.status().pending_conf, 1U);
  EXPECT_EQ(node.propose_conf({{2, 0, 5}}), CAD_CONF_PENDING);
  EXPECT_EQ(node.disk().entries.back().context, "address");
}

// L-56
TEST(ShimRules, AChangeThatTheConfigurationHasIsNotAppliedAgain) {
  Cluster cluster({1, 2, 3});
  cluster.establish(1, {2, 3});
  EXPECT_EQ(cluster.at(1).propose_conf({{2, 0, 4}, {2, 0, 5}}, 2), CAD_OK);
  cluster.settle();
  const TestConf joint = cluster.at(1).disk().conf;
  const TestEntry entry = cluster.at(1).disk().entries.back();
  const cad_entry view = entry.view();
  cad_conf_state conf{};
  EXPECT_EQ(cad_raft_apply_conf(cluster.at(1).raft(), &view, &conf), CAD_OK);
  EXPECT_EQ(conf_of(conf), joint);
  cluster.at(1).crash_and_restart();
  EXPECT_EQ(cad_raft_apply_conf(cluster.at(1).raft(), &view, &conf), CAD_OK);
  EXPECT_EQ(conf_of(conf), joint);
}

TEST(ShimRules, OnlyAConfChangeCanBeAppliedAsOne) {
  const RaftNode node(1, {}, founding_disk({1}));
  cad_conf_state conf{};
  for (const TestEntry& entry :
       {TestEntry{2, 1, 0, "", ""}, TestEntry{2, 1, 2, "\xff", ""}, TestEntry{2, 1, 7, "", ""}}) {
    const cad_entry view = entry.view();
    EXPECT_EQ(cad_raft_apply_conf(node.raft(), &view, &conf), CAD_MALFORMED) << entry.type;
  }
  const TestEntry leave{2, 1, 2, "", ""};
  const cad_entry view = leave.view();
  EXPECT_EQ(cad_raft_apply_conf(node.raft(), &view, &conf), CAD_CONF_INVALID);
}

// 3.2: raft-rs would unwrap a missing record at a leader that has removed itself.
TEST(ShimRules, ANodeThatHasAppliedItsRemovalIsQuiet) {
  RaftNode node(1, {}, founding_disk({1, 2}));
  const TestEntry removal{2, 1, 2, Wire().bytes(2, Wire().number(1, 1).number(2, 1).done()).done(),
                          ""};
  const cad_entry view = removal.view();
  cad_conf_state conf{};
  ASSERT_EQ(cad_raft_apply_conf(node.raft(), &view, &conf), CAD_OK);
  EXPECT_EQ(conf_of(conf).voters, std::vector<std::uint64_t>{2});
  cad_raft* raft = node.raft();
  EXPECT_EQ(cad_raft_campaign(raft), CAD_IGNORED);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(cad_raft_tick(raft), 0U);
  const std::string beat = heartbeat_message({0, 2, 1, 9}, 1);
  EXPECT_EQ(cad_raft_step(raft, slice_of(beat)), CAD_IGNORED);
  EXPECT_EQ(node.propose("a"), CAD_NOT_LEADER);
  EXPECT_EQ(cad_raft_transfer(raft, 2), CAD_NOT_LEADER);
  cad_raft_read_index(raft, slice_of("x"));
  EXPECT_EQ(cad_raft_has_ready(raft), 0U);
  const ReadyHandle ready(cad_raft_take_ready(raft));
  cad_raft_on_persist(raft, cad_ready_number(ready.get()));
  cad_raft_on_applied(raft, 2);
  EXPECT_EQ(cad_raft_get_progress(raft, nullptr, 0), 0U);
}

}  // namespace
}  // namespace cadastre::log
