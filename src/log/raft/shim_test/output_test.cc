// Outputs: what is in them, what may leave when, and who counts as having it.

#include <cstddef>
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

TestSettings by_request() {
  TestSettings settings;
  settings.syncing = Syncing::kByRequest;
  return settings;
}

std::size_t messages_in(const ReadyHandle& ready) {
  std::size_t count = 0;
  (void)cad_ready_messages(ready.get(), &count);
  return count;
}

std::size_t persisted_messages_in(const ReadyHandle& ready) {
  std::size_t count = 0;
  (void)cad_ready_persisted_messages(ready.get(), &count);
  return count;
}

// Syncs everyone and delivers until nobody has anything to say.
void settle_synced(Cluster& cluster, const std::vector<std::uint64_t>& ids) {
  for (bool busy = true; busy;) {
    busy = false;
    for (const std::uint64_t id : ids) {
      RaftNode& node = cluster.at(id);
      node.pump();
      busy = busy || node.waiting() > 0;
      node.sync();
    }
    cluster.collect();
    busy = busy || !cluster.mail.empty();
    cluster.settle();
  }
}

// 5.2
TEST(ShimOutput, ALoneLeaderCommitsOnlyWhatItHasPersisted) {
  RaftNode node(1, by_request(), founding_disk({1}));
  node.campaign();
  EXPECT_TRUE(node.leads());
  EXPECT_EQ(node.status().commit, 1U);
  EXPECT_EQ(node.propose("a"), CAD_OK);
  EXPECT_EQ(node.status().commit, 1U);
  node.sync(1);
  EXPECT_EQ(node.status().commit, 2U);
  EXPECT_TRUE(node.committed.empty());
  node.pump();
  EXPECT_EQ(node.committed.size(), 1U);
  node.sync();
  node.pump();
  EXPECT_EQ(node.committed.size(), 2U);
}

// 5.2, R5: others commit for it, but it hands out nothing that its own disk lacks.
TEST(ShimOutput, ALeaderAppliesNothingThatItsOwnDiskLacks) {
  Cluster cluster({1, 2, 3}, by_request());
  cluster.at(1).campaign();
  settle_synced(cluster, {1, 2, 3});
  ASSERT_TRUE(cluster.at(1).leads());
  const std::size_t before = cluster.at(1).committed.size();
  EXPECT_EQ(cluster.at(1).propose("a"), CAD_OK);
  cluster.settle();
  settle_synced(cluster, {2, 3});
  EXPECT_EQ(cluster.at(1).status().commit, 3U);
  EXPECT_EQ(cluster.at(1).status().persisted, 2U);
  EXPECT_EQ(cluster.at(1).committed.size(), before);
  cluster.at(1).sync();
  cluster.at(1).pump();
  EXPECT_EQ(cluster.at(1).committed.size(), before + 1);
  EXPECT_EQ(cluster.at(1).committed.back().data, "a");
}

// 5.2: all messages of a non-leader wait for their output, all of a leader do not.
TEST(ShimOutput, OnlyALeaderSpeaksBeforeTheSync) {
  Cluster cluster({1, 2, 3}, by_request());
  cad_raft* raft = cluster.at(1).raft();
  ASSERT_EQ(cad_raft_campaign(raft), CAD_OK);
  const ReadyHandle votes(cad_raft_take_ready(raft));
  EXPECT_EQ(messages_in(votes), 0U);
  EXPECT_EQ(persisted_messages_in(votes), 2U);
  cad_raft_on_persist(raft, cad_ready_number(votes.get()));
  cluster.at(1).crash_and_restart();
  cluster.at(1).campaign();
  settle_synced(cluster, {1, 2, 3});
  ASSERT_TRUE(cluster.at(1).leads());
  raft = cluster.at(1).raft();
  const cad_slice body = slice_of("a");
  std::uint64_t index = 0;
  std::uint64_t term = 0;
  ASSERT_EQ(cad_raft_propose(raft, 0, &body, 1, &index, &term), CAD_OK);
  const ReadyHandle appends(cad_raft_take_ready(raft));
  EXPECT_EQ(messages_in(appends), 2U);
  EXPECT_EQ(persisted_messages_in(appends), 0U);
}

// R3: a vote leaves with the sync of the term it was given in, and a crash before takes both back.
TEST(ShimOutput, AVoteThatWasNotSyncedWasNotGiven) {
  RaftNode voter(2, by_request(), founding_disk({1, 2, 3}));
  const auto request = [](std::uint64_t from) {
    return message({kMsgRequestVote, from, 2, 7}).number(5, 1).number(6, 1).done();
  };
  EXPECT_EQ(voter.step(request(1)), CAD_OK);
  EXPECT_TRUE(voter.take_mail().empty());
  voter.crash_and_restart();
  EXPECT_EQ(voter.step(request(3)), CAD_OK);
  voter.sync();
  ASSERT_EQ(voter.take_mail().size(), 1U);
  EXPECT_EQ(voter.disk().hard.vote, 3U);
  voter.crash_and_restart();
  EXPECT_EQ(voter.step(request(1)), CAD_OK);
  voter.sync();
  EXPECT_EQ(voter.disk().hard.vote, 3U);
}

// R4: outputs are persisted in order; the second is not there before the first.
TEST(ShimOutput, PersistingOneOutputMeansAllBeforeIt) {
  RaftNode node(2, by_request(), founding_disk({1, 2, 3}));
  const Envelope from{0, 1, 2, 5};
  EXPECT_EQ(node.step(append_message(from, 1, 1, {{2, 5, 0, "a", ""}}, 1)), CAD_OK);
  EXPECT_EQ(node.step(append_message(from, 2, 5, {{3, 5, 0, "b", ""}}, 1)), CAD_OK);
  ASSERT_EQ(node.waiting(), 2U);
  EXPECT_EQ(node.status().persisted, 1U);
  node.sync(1);
  EXPECT_EQ(node.status().persisted, 2U);
  EXPECT_EQ(node.take_mail().size(), 1U);
  node.sync(1);
  EXPECT_EQ(node.status().persisted, 3U);
}

// L-44
TEST(ShimOutput, OnlyACommitIndexMayStayUnsynced) {
  RaftNode node(2, by_request(), founding_disk({1, 2, 3}));
  cad_raft* raft = node.raft();
  const Envelope from{0, 1, 2, 5};
  EXPECT_EQ(node.step(append_message(from, 1, 1, {{2, 5, 0, "a", ""}}, 1)), CAD_OK);
  node.sync();
  EXPECT_EQ(node.outputs_without_sync, 0);
  const std::string beat = heartbeat_message(from, 2);
  ASSERT_EQ(cad_raft_step(raft, slice_of(beat)), CAD_OK);
  const ReadyHandle ready(cad_raft_take_ready(raft));
  EXPECT_EQ(cad_ready_must_sync(ready.get()), 0U);
  const cad_hard_state* hard = cad_ready_hard_state(ready.get());
  ASSERT_NE(hard, nullptr);
  EXPECT_EQ(hard->term, 5U);
  EXPECT_EQ(hard->commit, 2U);
  std::size_t count = 0;
  (void)cad_ready_entries(ready.get(), &count);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(cad_ready_snapshot(ready.get()), nullptr);
}

// L-9: raft-rs hands out committed entries with every output, whether or not the last were applied.
TEST(ShimOutput, CommittedEntriesComeWithoutBeingAskedFor) {
  const RaftNode node(2, by_request(), founding_disk({1, 2, 3}));
  cad_raft* raft = node.raft();
  const Envelope from{0, 1, 2, 5};
  std::vector<TestEntry> handed;
  for (std::uint64_t index = 2; index < 20; ++index) {
    const std::string append = append_message(from, index - 1, index == 2 ? 1 : 5,
                                              {{index, 5, 0, std::to_string(index), ""}}, index);
    ASSERT_EQ(cad_raft_step(raft, slice_of(append)), CAD_OK);
    while (cad_raft_has_ready(raft) != 0) {
      const ReadyHandle ready(cad_raft_take_ready(raft));
      cad_raft_on_persist(raft, cad_ready_number(ready.get()));
      const EntriesHandle run(cad_ready_take_committed(ready.get()));
      if (run == nullptr) continue;
      for (const TestEntry& entry : entries_of(run.get()))
        handed.push_back(entry);
    }
  }
  EXPECT_EQ(node.status().applied, 1U);
  ASSERT_EQ(handed.size(), 18U);
  EXPECT_EQ(handed.back().data, "19");
}

TEST(ShimOutput, CommittedEntriesAreTakenOnce) {
  const RaftNode node(1, by_request(), founding_disk({1}));
  cad_raft* raft = node.raft();
  ASSERT_EQ(cad_raft_campaign(raft), CAD_OK);
  const ReadyHandle first(cad_raft_take_ready(raft));
  EXPECT_EQ(cad_ready_take_committed(first.get()), nullptr);
  cad_raft_on_persist(raft, cad_ready_number(first.get()));
  const ReadyHandle second(cad_raft_take_ready(raft));
  const EntriesHandle run(cad_ready_take_committed(second.get()));
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(cad_ready_take_committed(second.get()), nullptr);
  EXPECT_EQ(entries_of(run.get()).size(), 1U);
}

TEST(ShimOutput, IsNumberedAndTellsTheSoftStateWhenItChanges) {
  const RaftNode node(1, by_request(), founding_disk({1}));
  cad_raft* raft = node.raft();
  ASSERT_EQ(cad_raft_campaign(raft), CAD_OK);
  const ReadyHandle first(cad_raft_take_ready(raft));
  EXPECT_EQ(cad_ready_number(first.get()), 1U);
  const cad_soft_state* soft = cad_ready_soft_state(first.get());
  ASSERT_NE(soft, nullptr);
  EXPECT_EQ(soft->leader, 1U);
  EXPECT_EQ(soft->role, static_cast<std::uint32_t>(CAD_ROLE_LEADER));
  cad_raft_on_persist(raft, 1);
  const ReadyHandle second(cad_raft_take_ready(raft));
  EXPECT_EQ(cad_ready_number(second.get()), 2U);
  EXPECT_EQ(cad_ready_soft_state(second.get()), nullptr);
}

}  // namespace
}  // namespace cadastre::log
