// Peers that are behind: entries below the cache (L-38, L-39) and snapshots (L-40, L-58, L-75).

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <cadastre_raft.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "log/raft/shim_test/cluster_testing.h"
#include "log/raft/shim_test/eraftpb_testing.h"
#include "log/raft/shim_test/raft_node_testing.h"

namespace cadastre::log {
namespace {

constexpr std::uint64_t kEntries = 20;

// A leader of three whose peer 3 has nothing, and that has written on with 2.
void leave_behind(Cluster& cluster) {
  cluster.establish(1, {2, 3});
  cluster.passes = only_between({1, 2});
  for (std::uint64_t i = 0; i < kEntries; ++i)
    EXPECT_EQ(cluster.at(1).propose(fmt::format("body {}", i)), CAD_OK);
  cluster.settle();
  cluster.passes = [](const Mail&) {
    return true;
  };
}

std::size_t letters(const std::vector<Mail>& mail, std::uint64_t to, std::uint32_t type) {
  std::size_t count = 0;
  for (const Mail& letter : mail)
    count += static_cast<std::size_t>(letter.to == to && letter.type == type);
  return count;
}

bool has_all(RaftNode& node) {
  return node.disk().state.contains(kEntries + 2);
}

TEST(ShimCatchUp, EntriesBelowTheCacheAreWantedAndThenSent) {
  Cluster cluster({1, 2, 3});
  leave_behind(cluster);
  RaftNode& leader = cluster.at(1);
  const std::uint64_t full = leader.status().cache_bytes;
  cad_raft_shrink_cache(leader.raft(), UINT64_MAX);
  EXPECT_LT(leader.status().cache_bytes, full);
  cad_raft_report_unreachable(leader.raft(), 3);  // so that it looks where 3 really is
  cluster.tick(4);
  std::vector<cad_want> wants = leader.take_wants();
  ASSERT_EQ(wants.size(), 1U);
  EXPECT_EQ(wants[0].kind, static_cast<std::uint32_t>(CAD_WANT_ENTRIES));
  EXPECT_EQ(wants[0].peer, 3U);
  EXPECT_EQ(wants[0].low, cluster.at(3).disk().last() + 1);
  EXPECT_EQ(wants[0].high, leader.status().last + 1);
  cluster.tick(4);
  EXPECT_TRUE(leader.take_wants().empty());  // One fetch for each peer.
  EXPECT_FALSE(has_all(cluster.at(3)));
  leader.answer(wants[0]);
  cluster.settle();
  cluster.tick(4);
  EXPECT_TRUE(has_all(cluster.at(3)));
  EXPECT_TRUE(leader.sync_reads.empty());
}

TEST(ShimCatchUp, AfterThreeFetchesForNothingTheLeaderReadsForItself) {
  Cluster cluster({1, 2, 3});
  leave_behind(cluster);
  RaftNode& leader = cluster.at(1);
  cad_raft_shrink_cache(leader.raft(), UINT64_MAX);
  cad_raft_report_unreachable(leader.raft(), 3);
  for (int i = 0; i < 3; ++i) {
    cluster.tick(4);
    const std::vector<cad_want> wants = leader.take_wants();
    ASSERT_EQ(wants.size(), 1U) << i;
    cad_raft_entries_fetched(leader.raft(), wants[0].token, nullptr);
    EXPECT_TRUE(leader.sync_reads.empty());
  }
  cluster.tick(4);
  EXPECT_EQ(leader.sync_reads.size(), 1U);
  cluster.tick(4);
  EXPECT_TRUE(has_all(cluster.at(3)));
}

TEST(ShimCatchUp, AnAnswerToAnOldQuestionIsIgnored) {
  Cluster cluster({1, 2, 3});
  leave_behind(cluster);
  RaftNode& leader = cluster.at(1);
  cad_raft_shrink_cache(leader.raft(), UINT64_MAX);
  cad_raft_report_unreachable(leader.raft(), 3);
  cluster.tick(4);
  const std::vector<cad_want> wants = leader.take_wants();
  ASSERT_EQ(wants.size(), 1U);
  const Envelope later{0, 2, 1, leader.status().term + 1};
  EXPECT_EQ(leader.step(heartbeat_message(later, 1)), CAD_OK);
  EXPECT_EQ(letters(leader.take_mail(), 2, kMsgHeartbeatResponse), 1U);
  leader.answer(wants[0]);
  cad_raft_entries_fetched(leader.raft(), 999, nullptr);
  EXPECT_TRUE(leader.take_mail().empty());
}

TEST(ShimCatchUp, ALeaderThatIsNoneAnyMoreWantsNothing) {
  Cluster cluster({1, 2, 3});
  leave_behind(cluster);
  RaftNode& leader = cluster.at(1);
  leader.truncate_to_applied();
  cad_raft_report_unreachable(leader.raft(), 3);
  cluster.tick(4);
  const Envelope later{0, 2, 1, leader.status().term + 1};
  EXPECT_EQ(leader.step(heartbeat_message(later, 1)), CAD_OK);
  EXPECT_TRUE(leader.take_wants().empty());
}

// R13
TEST(ShimCatchUp, ALogCutWhileAFetchIsUnderWayLeadsToASnapshot) {
  Cluster cluster({1, 2, 3});
  leave_behind(cluster);
  RaftNode& leader = cluster.at(1);
  cad_raft_shrink_cache(leader.raft(), UINT64_MAX);
  cad_raft_report_unreachable(leader.raft(), 3);
  cluster.tick(4);
  const std::vector<cad_want> wants = leader.take_wants();
  ASSERT_EQ(wants.size(), 1U);
  const EntriesHandle fetched = handle_of({leader.disk().entries.front()});
  leader.truncate_to_applied();
  cad_raft_entries_fetched(leader.raft(), wants[0].token, fetched.get());
  leader.pump();
  const std::vector<cad_want> next = leader.take_wants();
  ASSERT_EQ(next.size(), 1U);
  EXPECT_EQ(next[0].kind, static_cast<std::uint32_t>(CAD_WANT_SNAPSHOT));
}

TEST(ShimCatchUp, ANodeStartsWithTheNewestEntriesAndReadsTheOthers) {
  Cluster cluster({1, 2, 3});
  leave_behind(cluster);
  TestSettings settings;
  settings.tail_entries = 1;
  const RaftNode short_cache(1, settings, cluster.at(1).disk());
  EXPECT_LT(short_cache.status().cache_bytes, cluster.at(1).status().cache_bytes);
  EXPECT_EQ(short_cache.status().last, cluster.at(1).status().last);
  EXPECT_EQ(short_cache.status().first, 2U);
}

// A leader whose log starts above what 3 needs.
void cut_the_log(Cluster& cluster) {
  leave_behind(cluster);
  cluster.at(1).truncate_to_applied();
  cad_raft_report_unreachable(cluster.at(1).raft(), 3);
  cluster.tick(4);
}

TEST(ShimCatchUp, ASnapshotIsWantedOnceAndSentOnceForEachOffer) {
  Cluster cluster({1, 2, 3});
  cut_the_log(cluster);
  RaftNode& leader = cluster.at(1);
  const std::vector<cad_want> wants = leader.take_wants();
  ASSERT_EQ(wants.size(), 1U);
  EXPECT_EQ(wants[0].kind, static_cast<std::uint32_t>(CAD_WANT_SNAPSHOT));
  EXPECT_EQ(wants[0].peer, 3U);
  EXPECT_EQ(wants[0].low, leader.disk().truncated_index);
  cluster.tick(4);
  EXPECT_TRUE(leader.take_wants().empty());
  cluster.passes = [](const Mail& letter) {
    return letter.type != kMsgSnapshot;
  };
  leader.answer(wants[0]);
  cluster.tick(4);
  EXPECT_EQ(leader.progress()[2].state, 2U);
  EXPECT_EQ(leader.progress()[2].pending_snapshot, leader.disk().applied);
  cad_raft_report_snapshot(leader.raft(), 3, 0);
  cluster.tick(4);
  EXPECT_EQ(leader.take_wants().size(), 1U);  // The old offer is not sent again.
}

// L-75: raft-rs waits for the report for ever.
TEST(ShimCatchUp, NothingIsSentToAPeerWhoseSnapshotWasNotReported) {
  Cluster cluster({1, 2, 3});
  cut_the_log(cluster);
  RaftNode& leader = cluster.at(1);
  for (const cad_want& want : leader.take_wants())
    leader.answer(want);
  cluster.passes = [](const Mail& letter) {
    return letter.type != kMsgSnapshot;
  };
  cluster.tick(4);
  std::vector<Mail> sent;
  cluster.passes = [&sent](const Mail& letter) {
    sent.push_back(letter);
    return letter.type != kMsgSnapshot;
  };
  EXPECT_EQ(leader.propose("more"), CAD_OK);
  cluster.tick(200);
  EXPECT_GT(letters(sent, 3, kMsgHeartbeat), 50U);
  EXPECT_EQ(letters(sent, 3, kMsgAppend) + letters(sent, 3, kMsgSnapshot), 0U);
  EXPECT_EQ(leader.progress()[2].state, 2U);
  cad_raft_report_snapshot(leader.raft(), 3, 0);
  cluster.tick(4);
  EXPECT_EQ(leader.take_wants().size(), 1U);
}

TEST(ShimCatchUp, ASnapshotReplacesTheLogAndTheStateAndEntriesFollow) {
  Cluster cluster({1, 2, 3});
  cut_the_log(cluster);
  RaftNode& leader = cluster.at(1);
  for (const cad_want& want : leader.take_wants())
    leader.answer(want);
  cluster.tick(4);
  cad_raft_report_snapshot(leader.raft(), 3, 1);
  EXPECT_EQ(leader.propose("after"), CAD_OK);
  cluster.tick(6);
  EXPECT_EQ(cluster.at(3).disk().state, leader.disk().state);
  EXPECT_EQ(cluster.at(3).disk().conf, leader.disk().conf);
  EXPECT_EQ(cluster.at(3).disk().truncated_index, leader.disk().truncated_index);
  EXPECT_EQ(cluster.at(3).disk().last(), leader.disk().last());
  cluster.at(3).crash_and_restart();
  EXPECT_EQ(cluster.at(3).status().last, leader.disk().last());
}

std::string snapshot_message(std::uint64_t index, std::uint64_t term, const std::string& state) {
  const std::string conf = Wire().number(1, 1).number(1, 2).number(1, 3).done();
  const std::string metadata = Wire().bytes(1, conf).number(2, index).number(3, 4).done();
  const std::string snapshot = Wire().bytes(1, state).bytes(2, metadata).done();
  return message({kMsgSnapshot, 1, 2, term}).bytes(9, snapshot).done();
}

// L-58; and no campaign between the sync of a snapshot and the switch of the state machine.
TEST(ShimCatchUp, AnOutputWithASnapshotHasNoCommittedEntries) {
  TestSettings settings;
  settings.syncing = Syncing::kByRequest;
  const RaftNode node(2, settings, founding_disk({1, 2, 3}));
  cad_raft* raft = node.raft();
  const Envelope from{0, 1, 2, 5};
  const std::vector<std::string> messages = {
      append_message(from, 1, 1, {{2, 4, 0, "a", ""}}, 2), snapshot_message(10, 5, "10=4 x\n"),
      append_message(from, 10, 4, {{11, 5, 0, "b", ""}, {12, 5, 0, "c", ""}}, 12)};
  for (const std::string& bytes : messages)
    ASSERT_EQ(cad_raft_step(raft, slice_of(bytes)), CAD_OK);
  const ReadyHandle ready(cad_raft_take_ready(raft));
  const cad_snapshot* snapshot = cad_ready_snapshot(ready.get());
  ASSERT_NE(snapshot, nullptr);
  EXPECT_EQ(snapshot->index, 10U);
  EXPECT_EQ(text_of(snapshot->data), "10=4 x\n");
  EXPECT_EQ(conf_of(snapshot->conf).voters, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_NE(cad_ready_must_sync(ready.get()), 0U);
  EXPECT_EQ(cad_ready_take_committed(ready.get()), nullptr);
  std::size_t count = 0;
  const cad_entry* entries = cad_ready_entries(ready.get(), &count);
  ASSERT_EQ(count, 2U);  // L-59
  EXPECT_EQ(entries[0].index, 11U);
  cad_raft_on_persist(raft, cad_ready_number(ready.get()));
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(cad_raft_tick(raft), 0U);
  EXPECT_EQ(cad_raft_campaign(raft), CAD_IGNORED);
  cad_raft_on_applied(raft, 10);
  EXPECT_EQ(cad_raft_campaign(raft), CAD_OK);
}

}  // namespace
}  // namespace cadastre::log
