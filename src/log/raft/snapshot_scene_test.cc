// Snapshots between nodes (log.md, section 7): small clusters on the real loop, engine and records, with disks, network,
// bulk work and time in the hands of the test.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log/raft/raft_cluster_testing.h"
#include "log/raft/snapshot_scene_testing.h"

namespace cadastre::log {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::uint32_t kMsgAppend = 3;
constexpr std::uint32_t kMsgAppendResponse = 4;
constexpr std::uint32_t kMsgSnapshot = 7;

// The first field of an eraftpb.Message is its type; 0 if it is none.
std::uint32_t type_of(const Letter& letter) {
  const ByteView bytes = letter.frame.body.bytes();
  const bool typed = bytes.size() > 1 && bytes[0] == std::byte{8};
  return typed ? std::to_integer<std::uint32_t>(bytes[1]) : 0;
}

TEST(SnapshotScene, AReturningFollowerBelowTheLogIsFedAndGoesOn) {  // L-71, L-74, 7.3
  RaftCluster cluster(3, eager());
  leave_behind(cluster);
  cluster.at(3).start();
  EXPECT_TRUE(cluster.at(3).executed().empty());
  cluster.pass_time(seconds(3));
  expect_level(cluster, 3);
  EXPECT_EQ(cluster.at(3).machine().installs, 1);
  EXPECT_EQ(cluster.at(3).status().truncated, cluster.at(1).status().truncated);
  propose(cluster, 1, 21, 25);
  cluster.pass_time(seconds(1));
  expect_level(cluster, 3);
  EXPECT_EQ(cluster.at(3).machine().installs, 1);
  EXPECT_EQ(cluster.at(3).host().metrics().snapshots_installed.load(), 1U);

  cluster.at(3).crash();  // It opens from what it was fed, and votes.
  cluster.at(3).start();
  cluster.at(1).crash();
  const std::uint64_t leader = cluster.elect();
  ASSERT_NE(leader, 0U);
  propose(cluster, leader, 26, 27);
  cluster.pass_time(seconds(1));
  EXPECT_EQ(cluster.at(3).executed(), cluster.at(2).executed());
}

TEST(SnapshotScene, AJoinerWithAnEmptyStateIsFed) {  // L-85, L-86
  RaftCluster cluster(3, eager());
  cluster.establish(1);
  propose(cluster, 1, 1, 5);
  const std::uint64_t joiner = cluster.add_joiner();
  const auto added = cluster.at(1).change({{{ConfOp::kAddLearner, NodeId{joiner}}}, {}});
  cluster.pass_time(seconds(3));
  ASSERT_TRUE(*added && (*added)->has_value());
  expect_level(cluster, joiner);
  EXPECT_EQ(cluster.at(joiner).machine().installs, 1);
  EXPECT_EQ(cluster.at(joiner).status().role, Role::kLearner);
  EXPECT_FALSE(
      cluster.at(joiner).status().conf->context.empty());  // L-91: it knows addresses, too.
  EXPECT_EQ(*cluster.at(joiner).status().conf, *cluster.at(1).status().conf);
  propose(cluster, 1, 6, 9);
  cluster.pass_time(seconds(1));
  expect_level(cluster, joiner);

  const auto promoted = cluster.at(1).change({.steps = {{ConfOp::kAddVoter, NodeId{joiner}}},
                                              .min_match = cluster.at(1).status().committed});
  cluster.pass_time(seconds(1));
  ASSERT_TRUE(*promoted);
  ASSERT_TRUE(promoted->value()) << promoted->value().error().detail;
  cluster.at(joiner).crash();
  cluster.at(joiner).start();
  cluster.at(2).crash();  // Two of four and the joiner decide.
  propose(cluster, 1, 10, 12);
  cluster.pass_time(seconds(1));
  expect_level(cluster, joiner);
}

TEST(SnapshotScene, ACheckpointIsReusedForAMinuteAndReleasedThen) {  // L-71, L-73
  RaftCluster cluster(5, eager());
  cluster.establish(1);
  cluster.at(4).crash();
  cluster.at(5).crash();
  propose(cluster, 1, 1, 20);
  flush(cluster, {1, 2, 3});
  for (const std::uint64_t id : {4U, 5U}) {
    cluster.at(id).start();
    cluster.pass_time(seconds(20));
    expect_level(cluster, id);
    EXPECT_EQ(cluster.at(id).machine().installs, 1);
    EXPECT_EQ(cluster.at(id).shelf().size(), 0U);  // What was staged is released.
    EXPECT_EQ(cluster.at(1).host().metrics().snapshots_made.load(), 1U);
  }
  EXPECT_EQ(cluster.at(1).shelf().size(), 1U);
  cluster.pass_time(seconds(40));
  EXPECT_EQ(cluster.at(1).shelf().size(), 0U);
}

TEST(SnapshotScene, AJoinerIsFedThoughAnOlderOneIsOnOffer) {  // L-72
  RaftCluster cluster(3, eager());
  leave_behind(cluster);
  cluster.at(3).start();
  cluster.pass_time(seconds(3));
  expect_level(cluster, 3);  // There is a young checkpoint now.
  const std::uint64_t joiner = cluster.add_joiner();
  const auto added = cluster.at(1).change({{{ConfOp::kAddLearner, NodeId{joiner}}}, {}});
  cluster.pass_time(seconds(3));
  expect_level(cluster, joiner);  // It has refused the one that does not name it.
  EXPECT_EQ(cluster.at(joiner).machine().installs, 1);
  EXPECT_EQ(cluster.at(1).host().metrics().snapshots_made.load(), 2U);
}

TEST(SnapshotScene, ACheckpointWhoseFilesAreGoneIsNotOffered) {  // L-40
  RaftCluster cluster(3, eager());
  leave_behind(cluster);
  cluster.at(3).start();
  cluster.pass_time(seconds(3));
  expect_level(cluster, 3);
  cluster.pass_time(2 * SnapshotSettings{}.reused_for);
  ASSERT_EQ(cluster.at(1).shelf().size(), 0U);
  const std::uint64_t joiner = cluster.add_joiner();
  const auto added = cluster.at(1).change({{{ConfOp::kAddLearner, NodeId{joiner}}}, {}});
  cluster.pass_time(seconds(3));
  expect_level(cluster, joiner);
  EXPECT_EQ(cluster.at(joiner).machine().installs, 1);
  EXPECT_EQ(cluster.at(joiner).host().metrics().snapshots_failed.load(), 0U);
}

// L-55, L-56: what an install makes of a change is durable with its first set; before it no state may have the change.
TEST(SnapshotScene, AChangeBelowASnapshotIsNotExecutedBeforeItsInstallIsDurable) {
  RaftCluster cluster(3, eager());
  cluster.establish(1);
  std::vector<Letter> late;  // Appends to node 3.
  cluster.kept = &late;
  cluster.passes = [](const Letter& letter) {
    return letter.to != NodeId{3} || type_of(letter) != kMsgAppend;
  };
  propose(cluster, 1, 1, 5);
  const auto added = cluster.at(1).change({{{ConfOp::kAddLearner, NodeId{9}}}, {}});
  cluster.settle();
  ASSERT_TRUE(*added && (*added)->has_value());
  const Index change = (*added)->value().index;
  propose(cluster, 1, 6, 6);  // Says that the change is committed.
  const std::size_t enough = late.size();
  propose(cluster, 1, 7, 20);
  flush(cluster, {1, 2});

  // A snapshot is sent, whose files are long on their way; then the late entries arrive at a slow disk.
  cluster.at(3).bulk_stands = true;
  cluster.at(1).host().on_unreachable(NodeId{3});
  cluster.pass_time(seconds(1));
  cluster.at(3).disk_hangs = true;
  cluster.at(3).applier_stands = true;
  for (const Letter& letter :
       std::vector<Letter>(late.begin(), late.begin() + static_cast<std::ptrdiff_t>(enough)))
    cluster.at(3).receive(letter);
  cluster.settle();
  cluster.at(3).bulk_stands = false;
  cluster.settle();  // Staged: the applier is to be asked whether it would take it,
  cluster.at(3).disk_hangs = false;
  cluster.settle();  // and behind that the entries wait, now that they are synced.
  ASSERT_GE(cluster.at(3).status().committed, change);
  ASSERT_LT(cluster.at(3).status().committed, cluster.at(1).status().truncated);
  cluster.at(3).disk_hangs = true;
  cluster.at(3).applier_stands = false;
  cluster.settle();
  ASSERT_EQ(cluster.at(3).status().last, cluster.at(3).status().truncated) << "it installs";
  EXPECT_EQ(cluster.at(3).machine().applied().index, Index{change.value() - 1});
  cluster.at(3).machine().request_flush();
  cluster.at(3).crash();  // The state is there, and nothing of the install.
  cluster.at(3).disk_hangs = false;
  cluster.heal();
  cluster.at(3).start();
  cluster.at(1).host().on_unreachable(NodeId{3});  // Its streams ended.
  cluster.pass_time(seconds(3));
  expect_level(cluster, 3);
  EXPECT_TRUE(cluster.at(3).status().conf->conf.has(NodeId{9}));
}

TEST(SnapshotScene, TheReceiverBeginsWithTheConfigurationOfTheCheckpoint) {  // R7, L-72
  RaftCluster cluster(3, eager());
  leave_behind(cluster);
  const Index at = cluster.at(1).status().applied;
  cluster.at(1).bulk_stands = true;  // The checkpoint is made, and not sealed.
  cluster.at(3).start();
  cluster.pass_time(seconds(1));
  ASSERT_EQ(cluster.at(1).shelf().size(), 1U);
  const auto added = cluster.at(1).change({{{ConfOp::kAddLearner, NodeId{9}}}, {}});
  cluster.pass_time(seconds(1));
  ASSERT_TRUE(*added && (*added)->has_value());
  ASSERT_EQ(cluster.at(1).status().conf->index, at + 1);

  cluster.passes = [](const Letter& letter) {
    return letter.to != NodeId{3} || type_of(letter) != kMsgAppend;
  };
  cluster.at(1).bulk_stands = false;
  cluster.pass_time(seconds(2));
  ASSERT_EQ(cluster.at(3).machine().installs, 1);
  EXPECT_EQ(cluster.at(3).status().applied, at);
  EXPECT_EQ(cluster.at(3).status().conf->index, at);
  EXPECT_FALSE(cluster.at(3).status().conf->conf.has(NodeId{9}));
  cluster.heal();
  cluster.pass_time(seconds(1));
  EXPECT_TRUE(cluster.at(3).status().conf->conf.has(NodeId{9}));
}

TEST(SnapshotScene, AMessageIsHeldUntilItsFilesAreHere) {  // L-74
  RaftCluster cluster(3, eager());
  leave_behind(cluster);
  cluster.at(3).bulk_stands = true;
  cluster.at(3).start();
  cluster.at(3).look_at_clock();  // It says what it has.
  const Index last = cluster.at(3).status().last;
  cluster.pass_time(seconds(5));
  EXPECT_EQ(cluster.at(3).status().last, last);
  EXPECT_LE(cluster.at(3).status().committed, last);
  EXPECT_EQ(cluster.at(3).machine().installs, 0);
  cluster.at(3).bulk_stands = false;
  cluster.pass_time(seconds(1));
  expect_level(cluster, 3);
}

TEST(SnapshotScene, NothingLeavesAReceiverBeforeTheLastOfFourSteps) {  // 5.2, 7.3
  RaftCluster cluster(3, eager());
  leave_behind(cluster);
  int answers = 0;
  cluster.passes = [&](const Letter& letter) {
    if (letter.from == NodeId{3} && type_of(letter) == kMsgAppendResponse) ++answers;
    return true;
  };
  cluster.at(3).bulk_stands = true;
  cluster.at(3).start();
  cluster.pass_time(seconds(2));
  answers = 0;
  cluster.at(3).disk_hangs = true;
  cluster.at(3).bulk_stands = false;
  cluster.pass_time(seconds(1));
  EXPECT_TRUE(cluster.at(3).syncing());  // Step 1.
  EXPECT_EQ(answers, 0);
  cluster.at(3).applier_stands = true;
  cluster.at(3).disk_hangs = false;
  cluster.pass_time(seconds(1));
  EXPECT_EQ(cluster.at(3).machine().installs, 0);  // Step 2.
  EXPECT_EQ(answers, 0);
  cluster.at(3).disk_hangs = true;
  cluster.at(3).applier_stands = false;
  cluster.pass_time(seconds(1));
  EXPECT_EQ(cluster.at(3).machine().installs, 1);
  EXPECT_TRUE(cluster.at(3).syncing());  // Step 3.
  EXPECT_EQ(answers, 0);
  cluster.at(3).disk_hangs = false;
  cluster.settle();
  EXPECT_GT(answers, 0);  // Step 4.
  cluster.pass_time(seconds(1));
  expect_level(cluster, 3);
}

TEST(SnapshotScene, StagingThatFailsIsReportedAndANewOneOffered) {  // L-75
  RaftCluster cluster(3, eager());
  leave_behind(cluster);
  int reports = 0;
  bool fetches = false;
  cluster.passes = [&](const Letter& letter) {
    if (letter.report) {
      ++reports;
      EXPECT_EQ(letter.report->installed, fetches);
    }
    const bool fetched = letter.frame.body.size() == 0 && !letter.report;
    return fetches || !fetched;
  };
  cluster.at(3).start();
  cluster.pass_time(seconds(5));
  EXPECT_GE(reports, 2);
  EXPECT_EQ(cluster.at(3).machine().installs, 0);
  EXPECT_GE(cluster.at(1).host().metrics().snapshots_made.load(), 2U);
  fetches = true;
  cluster.pass_time(seconds(3));
  expect_level(cluster, 3);
  EXPECT_EQ(cluster.at(3).machine().installs, 1);
}

TEST(SnapshotScene, ACheckpointThatIsNotUnderstoodCostsNothing) {  // L-74, L-75
  RaftCluster cluster(3, eager());
  leave_behind(cluster);
  int failed = 0;
  cluster.passes = [&](const Letter& letter) {
    if (letter.report && !letter.report->installed) ++failed;
    return true;
  };
  cluster.at(3).start();
  cluster.at(3).machine().outdated = true;
  cluster.at(3).look_at_clock();  // It says what it has.
  const Index truncated = cluster.at(3).status().truncated;
  cluster.pass_time(seconds(5));
  EXPECT_GE(failed, 1);
  EXPECT_TRUE(cluster.at(3).status().halted.empty()) << cluster.at(3).status().halted;
  EXPECT_EQ(cluster.at(3).status().truncated, truncated);  // Its log is the old one,
  EXPECT_EQ(cluster.at(3).machine().installs, 0);
  EXPECT_EQ(cluster.at(3).shelf().size(), 0U);
  cluster.at(1).crash();  // it votes,
  ASSERT_EQ(cluster.elect(), 2U);
  cluster.at(3).crash();  // and it opens: with the release that understands, this time.
  cluster.at(3).start();
  cluster.pass_time(seconds(5));
  EXPECT_EQ(cluster.at(3).executed(), cluster.at(2).executed());
  EXPECT_EQ(cluster.at(3).machine().installs, 1);
}

TEST(SnapshotScene, NothingIsSteppedWhileTheStateMachineReads) {  // L-74
  RaftCluster cluster(3, eager());
  leave_behind(cluster);
  cluster.at(3).start();
  cluster.at(3).applier_stands = true;
  cluster.at(3).look_at_clock();  // It says what it has.
  const Index truncated = cluster.at(3).status().truncated;
  cluster.pass_time(seconds(3));
  EXPECT_EQ(cluster.at(3).shelf().size(), 1U);  // Staged,
  EXPECT_EQ(cluster.at(3).status().truncated, truncated);
  cluster.at(3).applier_stands = false;
  cluster.pass_time(seconds(1));
  expect_level(cluster, 3);
  EXPECT_EQ(cluster.at(3).machine().installs, 1);
}

TEST(SnapshotScene, ACheckpointThatCannotBeMadeLeavesNothingBehind) {  // L-71
  RaftCluster cluster(3, eager());
  leave_behind(cluster);
  cluster.at(1).machine().checkpoints_break = true;
  cluster.at(3).start();
  cluster.pass_time(seconds(16));  // Each try comes after twice the time.
  EXPECT_EQ(cluster.at(1).host().metrics().snapshots_failed.load(), 5U);
  EXPECT_EQ(cluster.at(1).shelf().size(), 0U);
  cluster.at(1).machine().checkpoints_break = false;
  cluster.pass_time(seconds(17));
  expect_level(cluster, 3);
}

TEST(SnapshotScene, ALeaderThatHearsNothingOffersAnewAfterTenMinutes) {  // L-75
  RaftCluster cluster(3, eager());
  leave_behind(cluster);
  bool lost = false;
  cluster.passes = [&](const Letter& letter) {
    const bool snapshot = type_of(letter) == kMsgSnapshot;
    lost = lost || snapshot;
    return !snapshot;
  };
  cluster.at(3).start();
  while (!lost)
    cluster.pass_time(kTick);
  cluster.heal();
  cluster.pass_time(minutes(9));
  EXPECT_EQ(cluster.at(3).machine().installs, 0);
  cluster.pass_time(minutes(2));
  EXPECT_EQ(cluster.at(3).machine().installs, 1);
  expect_level(cluster, 3);
}

TEST(SnapshotScene, APeerThatWasNotReachedIsOfferedAnewWhenItIsBack) {  // L-66
  RaftCluster cluster(3, eager());
  leave_behind(cluster);
  cluster.at(3).bulk_stands = true;
  cluster.at(3).start();
  cluster.pass_time(seconds(2));
  cluster.at(3).crash();  // With the message in its hands.
  cluster.at(1).host().on_unreachable(NodeId{3});
  cluster.at(3).bulk_stands = false;
  cluster.at(3).start();
  cluster.pass_time(seconds(3));
  EXPECT_EQ(cluster.at(3).machine().installs, 1);
  expect_level(cluster, 3);
}

TEST(SnapshotScene, ASnapshotOfALaterLeaderTakesItsTurn) {  // L-74, R8
  RaftCluster cluster(3, eager());
  leave_behind(cluster);
  cluster.at(3).bulk_stands = true;
  cluster.at(3).start();
  cluster.pass_time(seconds(2));  // It holds the message of node 1.
  cluster.at(1).group().transfer_leadership(NodeId{2}, {.force = true}, [](const auto&) {});
  cluster.pass_time(seconds(2));
  ASSERT_TRUE(cluster.at(2).leads());
  propose(cluster, 2, 21, 30);
  flush(cluster, {1, 2});
  cluster.pass_time(seconds(2));
  ASSERT_EQ(cluster.at(3).machine().installs, 0);
  cluster.at(3).bulk_stands = false;
  cluster.pass_time(seconds(3));
  expect_level(cluster, 3);
  EXPECT_EQ(cluster.at(3).machine().installs, 1);  // The first was of an older term.
  EXPECT_EQ(cluster.at(3).shelf().size(), 0U);
}

TEST(SnapshotScene, EntriesAboveACheckpointAreKeptWhileItIsFetched) {  // R13, L-73
  RaftCluster cluster(3, eager());
  leave_behind(cluster);
  cluster.at(3).bulk_stands = true;
  cluster.at(3).start();
  cluster.pass_time(seconds(2));
  const Index offered = cluster.at(1).status().truncated;
  propose(cluster, 1, 21, 40);
  flush(cluster, {1, 2});
  cluster.pass_time(seconds(20));
  EXPECT_EQ(cluster.at(1).status().truncated, offered);
  cluster.at(3).bulk_stands = false;
  cluster.pass_time(seconds(3));
  expect_level(cluster, 3);
  EXPECT_EQ(cluster.at(3).machine().installs, 1);
  EXPECT_GT(cluster.at(1).status().truncated, offered);
}

TEST(SnapshotScene, WhoeverWasFedGetsTheRestThoughItComesSlowly) {  // L-73
  RaftCluster cluster(3, eager());
  leave_behind(cluster);
  cluster.at(3).bulk_stands = true;
  cluster.at(3).start();
  cluster.pass_time(seconds(2));
  propose(cluster, 1, 21, 40);
  flush(cluster, {1, 2});
  cluster.passes = [](const Letter& letter) {  // Files pass, and whatever is small.
    return letter.to != NodeId{3} || letter.lane != Lane::kBulk || letter.frame.body.empty();
  };
  cluster.at(3).bulk_stands = false;
  cluster.pass_time(2 * SnapshotSettings{}.taken_within);
  EXPECT_EQ(cluster.at(3).machine().installs, 1);
  cluster.heal();
  cluster.pass_time(seconds(3));
  expect_level(cluster, 3);
  EXPECT_EQ(cluster.at(3).machine().installs, 1);
  cluster.pass_time(SnapshotSettings{}.taken_within);
  flush(cluster, {1, 2});
  EXPECT_EQ(cluster.at(1).status().truncated, cluster.at(1).status().applied);
}

TEST(SnapshotScene, AFetchThatTakesTooLongCostsASecondSnapshot) {  // R13, L-73
  Settings settings = eager();
  settings.retention.fetch_kept_bytes_max = 0;
  RaftCluster cluster(3, settings);
  leave_behind(cluster);
  cluster.at(3).bulk_stands = true;
  cluster.at(3).start();
  cluster.pass_time(seconds(2));
  propose(cluster, 1, 21, 40);
  flush(cluster, {1, 2});
  EXPECT_EQ(cluster.at(1).status().truncated, cluster.at(1).status().applied);
  cluster.at(3).bulk_stands = false;
  cluster.pass_time(seconds(3));
  expect_level(cluster, 3);
  EXPECT_EQ(cluster.at(3).machine().installs, 2);
}

TEST(SnapshotScene, ACheckpointThatTruncationOvertookIsNotOffered) {  // R13, L-71
  Settings settings = eager();
  settings.retention.fetch_kept_bytes_max = 0;
  RaftCluster cluster(3, settings);
  leave_behind(cluster);
  cluster.at(1).bulk_stands = true;  // The checkpoint is made, and not sealed.
  cluster.at(3).start();
  cluster.pass_time(seconds(1));
  propose(cluster, 1, 21, 40);
  flush(cluster, {1, 2});
  ASSERT_EQ(cluster.at(1).status().truncated, cluster.at(1).status().applied);
  cluster.at(1).bulk_stands = false;
  cluster.pass_time(seconds(3));
  expect_level(cluster, 3);
  EXPECT_EQ(cluster.at(3).machine().installs, 1);
  EXPECT_EQ(cluster.at(1).host().metrics().snapshots_made.load(), 2U);
}

TEST(SnapshotScene, WhoWaitsForASkippedEntryDoesNotLearnItsOutcome) {  // L-77, 1.5
  Settings settings = eager();
  settings.retention.peer_silent_after = seconds(0);
  RaftCluster cluster(3, settings);
  cluster.establish(1);
  cluster.cut(1);
  const auto lost = cluster.at(1).propose("lost");
  const std::uint64_t leader = cluster.elect();
  ASSERT_NE(leader, 0U);
  ASSERT_NE(leader, 1U);
  propose(cluster, leader, 1, 20);
  flush(cluster, {2, 3});
  ASSERT_EQ(cluster.at(leader).status().truncated, cluster.at(leader).status().applied);
  ASSERT_EQ(lost->times, 0);
  cluster.heal();
  cluster.pass_time(seconds(1));
  ASSERT_EQ(cluster.at(1).machine().installs, 1);
  EXPECT_EQ(lost->error(), "outcome_unknown");
  EXPECT_NE(lost->answer->error().detail.find("snapshot"), std::string::npos);
  EXPECT_EQ(lost->times, 1);
  EXPECT_EQ(cluster.at(1).executed(), cluster.at(leader).executed());
}

TEST(SnapshotScene, ALeaderKeepsWhatALatelyHeardPeerLacks) {  // L-78
  Settings settings = eager();
  settings.retention.leader_trail_entries = kLeaderTrailEntries;
  settings.retention.leader_trail_bytes = kLeaderTrailBytes;
  RaftCluster cluster(3, settings);
  cluster.establish(1);
  cluster.cut(3);
  propose(cluster, 1, 1, 20);
  flush(cluster, {1, 2});
  cluster.pass_time(minutes(9));
  EXPECT_LT(cluster.at(1).status().truncated, Index{10});
  cluster.pass_time(minutes(2));
  EXPECT_EQ(cluster.at(1).status().truncated, cluster.at(1).status().applied);
}

TEST(SnapshotScene, AFollowerTruncatesToo) {  // L-78
  RaftCluster cluster(3, eager());
  cluster.establish(1);
  propose(cluster, 1, 1, 20);
  cluster.pass_time(seconds(1));
  flush(cluster, {1, 2, 3});
  for (const std::uint64_t id : {1U, 2U, 3U})
    EXPECT_EQ(cluster.at(id).status().truncated, cluster.at(id).status().applied) << id;
}

TEST(SnapshotScene, OldEntriesForASlowPeerAreReadOffTheLogThread) {  // 1.3, L-39
  Settings settings = eager();
  settings.retention.leader_trail_entries = 100'000;
  settings.retention.leader_trail_bytes = 64 * kMiB;
  RaftCluster cluster(3, settings);
  cluster.establish(1);
  cluster.at(3).crash();
  const std::string large(600 * kKiB, 'x');
  for (int i = 0; i < 30; ++i) {
    const auto done = cluster.at(1).propose(large + std::to_string(i));
    cluster.settle();
    ASSERT_TRUE(done->applied());
  }
  cluster.pass_time(seconds(2));
  cluster.at(3).start();
  cluster.pass_time(seconds(10));
  expect_level(cluster, 3);
  EXPECT_EQ(cluster.at(3).machine().installs, 0);
  EXPECT_GT(cluster.at(1).host().metrics().old_reads.load(), 0U);
}

// Node 3 dies after each single step of being fed, in turn: it opens, and in the end it has everything.
class InstallCrash : public testing::TestWithParam<RaftMember::Unsynced> {};

TEST_P(InstallCrash, AfterAnyStepANodeOpensAndGetsThere) {  // R8, L-76
  constexpr int kStepsMax = 2'000;
  bool crashed = true;
  for (int at = 0; crashed; ++at) {
    ASSERT_LT(at, kStepsMax);
    SCOPED_TRACE(at);
    RaftCluster cluster(3, eager());
    leave_behind(cluster);
    cluster.at(3).start();
    int steps = 0;
    crashed = false;
    cluster.after_step = [&] {
      if (crashed || !cluster.at(3).up() || steps++ != at) return;
      crashed = true;
      cluster.at(3).crash(GetParam());
      cluster.at(3).start();
      cluster.at(1).host().on_unreachable(NodeId{3});
    };
    while (!crashed && cluster.at(3).status().applied < cluster.at(1).status().applied)
      cluster.pass_time(kTick);
    cluster.after_step = nullptr;
    cluster.pass_time(seconds(4));
    expect_level(cluster, 3);
    EXPECT_TRUE(cluster.at(3).status().halted.empty()) << cluster.at(3).status().halted;
    EXPECT_EQ(cluster.at(3).shelf().size(), 0U);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Fates,
                         InstallCrash,
                         testing::Values(RaftMember::Unsynced::kGone,
                                         RaftMember::Unsynced::kThere));

}  // namespace
}  // namespace cadastre::log
