// Members that lie: well-formed messages that no honest one would send, into the real loop, engine and records. Whoever
// gets them goes on, and so does its group.

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log/raft/raft_cluster_testing.h"
#include "log/raft/wire_testing.h"

namespace cadastre::log {
namespace {

using std::chrono::seconds;

// A message as member `from` would send it to `to`.
Letter letter_of(std::uint64_t from, std::uint64_t to, const std::string& bytes) {
  return {NodeId{from}, NodeId{to}, Lane::kBulk,
          Frame{kSceneGroup, NodeId{from}, NodeId{to}, Body::copy_of(base::as_bytes(bytes))}};
}

void expect_all_go_on(RaftCluster& cluster) {
  const auto done = cluster.at(1).propose("goes on");
  cluster.pass_time(seconds(1));
  ASSERT_TRUE(done->applied()) << done->error();
  for (const std::uint64_t id : {1U, 2U, 3U}) {
    EXPECT_EQ(cluster.at(id).executed(), cluster.at(1).executed()) << id;
    EXPECT_TRUE(cluster.at(id).status().halted.empty()) << cluster.at(id).status().halted;
  }
}

TEST(HostileScene, AnAnswerToAReadThatNobodyBeganIsPassedOver) {
  RaftCluster cluster(3);
  cluster.establish(1);
  const std::uint64_t term = cluster.at(1).status().term.value();
  for (const std::string& context :
       {std::string("x"), std::string(24, 'x'), std::string(25, 'x')}) {
    const std::string read = wire_context(context);
    cluster.at(3).receive(letter_of(
        1, 3, message({kMsgReadIndexResp, 1, 3, term}).number(6, 1).bytes(7, read).done()));
    cluster.at(1).receive(letter_of(3, 1, message({kMsgReadIndex, 3, 1, 0}).bytes(7, read).done()));
    cluster.settle();
  }
  const auto answer = cluster.at(3).read(ReadMode::kFollower);
  cluster.pass_time(seconds(1));
  EXPECT_TRUE(*answer && (*answer)->has_value());
  expect_all_go_on(cluster);
}

// A snapshot at `at` with the files of one at `files`, as the leader would send it.
Letter snapshot_letter(RaftCluster& cluster, const Position& at, const Position& files) {
  const std::string voters = Wire().number(1, 1).number(1, 2).number(1, 3).done();
  const std::string metadata =
      Wire().bytes(1, voters).number(2, at.index.value()).number(3, at.term.value()).done();
  const base::Bytes manifest = encode_manifest({.cluster = kSceneCluster,
                                                .group = kSceneGroup,
                                                .at = files,
                                                .node = NodeId{1},
                                                .id = CheckpointId{99}});
  const std::string snapshot =
      Wire().bytes(1, base::as_text(base::ByteView{manifest})).bytes(2, metadata).done();
  const std::uint64_t term = cluster.at(1).status().term.value();
  return letter_of(1, 3, message({kMsgSnapshot, 1, 3, term}).bytes(9, snapshot).done());
}

TEST(HostileScene, ASnapshotThatContradictsWhatIsCommittedIsPassedOver) {
  RaftCluster cluster(3);
  cluster.establish(1);
  const auto done = cluster.at(1).propose("one");
  cluster.pass_time(seconds(1));
  ASSERT_TRUE(done->applied());
  const Index committed = cluster.at(3).status().committed;
  ASSERT_GT(cluster.at(3).status().term, Term{1});
  const Position wrong{Term{1}, committed};
  const auto malformed = [&] {
    return cluster.at(3).host().metrics().frames_malformed.load();
  };
  const std::uint64_t before = malformed();
  cluster.at(3).receive(snapshot_letter(cluster, wrong, wrong));
  cluster.settle();
  EXPECT_EQ(malformed(), before + 1);
  EXPECT_EQ(cluster.at(3).disconnected, std::vector{NodeId{1}});
  EXPECT_EQ(cluster.at(3).machine().installs, 0);
  expect_all_go_on(cluster);
}

TEST(HostileScene, ASnapshotWithTheFilesOfAnotherPositionIsNotHeld) {
  RaftCluster cluster(3);
  cluster.establish(1);
  const Term term = cluster.at(1).status().term;
  const Index above = cluster.at(3).status().committed + 5;
  const Position at{term, above};
  const auto malformed = [&] {
    return cluster.at(3).host().metrics().frames_malformed.load();
  };
  for (const Position& files : {Position{Term{1}, above}, Position{term, above + 1}}) {
    const std::uint64_t before = malformed();
    cluster.at(3).receive(snapshot_letter(cluster, at, files));
    cluster.settle();
    EXPECT_EQ(malformed(), before + 1);
    EXPECT_EQ(cluster.at(3).host().metrics().snapshots_failed.load(), 0U);  // Nothing was staged.
  }
  expect_all_go_on(cluster);
}

// What a leader of a newer release, or a lying one, may have in its log: a change that nobody here can make.
TEST(HostileScene, AChangeOfMembershipThatCannotBeMadeHaltsTheGroupAndNotTheNode) {  // L-20
  RaftCluster cluster(3);
  cluster.establish(1);
  const GroupStatus status = cluster.at(3).status();
  const std::uint64_t term = status.term.value() + 1;
  const std::uint64_t last = status.last.value();
  constexpr std::uint64_t kConfChangeV2 = 2;
  const std::string entry =
      Wire().number(1, kConfChangeV2).number(2, term).number(3, last + 1).bytes(4, "\xff").done();
  const std::string append = message({kMsgAppend, 1, 3, term})
                                 .number(5, status.term.value())
                                 .number(6, last)
                                 .bytes(7, entry)
                                 .number(8, last + 1)
                                 .done();
  cluster.at(3).receive(letter_of(1, 3, append));
  cluster.pass_time(seconds(1));
  const auto is_halted = [&] {
    return cluster.at(3).status().halted.find("a change of membership") != std::string::npos;
  };
  EXPECT_TRUE(is_halted()) << cluster.at(3).status().halted;
  cluster.at(3).crash();
  cluster.at(3).start();
  cluster.pass_time(seconds(1));
  EXPECT_TRUE(is_halted()) << "after a restart, too: " << cluster.at(3).status().halted;
  const auto done = cluster.at(1).propose("goes on");
  cluster.pass_time(seconds(1));
  EXPECT_TRUE(done->applied()) << done->error();
}

// A node that this one knows of by no configuration may lead by a newer one, or ask for votes by it: L-68.
TEST(HostileScene, AStrangerIsHeardOnlyIfItLeadsOrAsksForVotes) {
  RaftCluster cluster(3);
  cluster.establish(1);
  const std::uint64_t term = cluster.at(1).status().term.value();
  const auto strangers = [&](std::uint64_t at) {
    return cluster.at(at).host().metrics().frames_of_strangers.load();
  };
  // It would make its receiver campaign at once, whatever its promises.
  cluster.at(3).receive(letter_of(9, 3, message({kMsgTimeoutNow, 9, 3, term}).done()));
  const std::string read = wire_context(std::string(24, 'x'));
  cluster.at(1).receive(letter_of(9, 1, message({kMsgReadIndex, 9, 1, 0}).bytes(7, read).done()));
  cluster.settle();
  EXPECT_EQ(strangers(3), 1U);
  EXPECT_EQ(strangers(1), 1U);
  EXPECT_EQ(cluster.at(1).status().term.value(), term);
  EXPECT_TRUE(cluster.at(1).leads());
  EXPECT_TRUE(cluster.at(1).disconnected.empty() && cluster.at(3).disconnected.empty());
  // A heartbeat of a later term: somebody leads whom this node has not heard of yet.
  cluster.at(3).receive(letter_of(9, 3, message({kMsgHeartbeat, 9, 3, term + 1}).done()));
  cluster.settle();
  EXPECT_EQ(strangers(3), 1U);
  EXPECT_EQ(cluster.at(3).status().term.value(), term + 1);
}

// Files that are here, of a position that the message does not name: nothing may reach the engine.
TEST(HostileScene, AMessageThatGotAnotherTermHaltsNobody) {
  Settings settings;
  settings.housekeeping_every = std::chrono::milliseconds(100);
  settings.retention.truncate_every = std::chrono::milliseconds(100);
  settings.retention.truncate_entries_min = 1;
  settings.retention.leader_trail_entries = 0;
  settings.retention.leader_trail_bytes = 0;
  RaftCluster cluster(3, settings);
  cluster.establish(1);
  cluster.at(3).crash();
  for (int i = 0; i < 20; ++i)
    (void)cluster.at(1).propose("command");
  cluster.settle();
  cluster.at(1).machine().request_flush();
  cluster.pass_time(seconds(1));
  std::vector<Letter> kept;
  cluster.kept = &kept;
  cluster.passes = [](const Letter& letter) {
    const base::ByteView bytes = letter.frame.body.bytes();
    return bytes.size() < 2 || bytes[1] != std::byte{kMsgSnapshot};
  };
  cluster.at(3).start();
  cluster.pass_time(seconds(3));
  ASSERT_EQ(kept.size(), 1U);
  cluster.heal();

  std::string bytes(base::as_text(kept[0].frame.body.bytes()));
  const Index at = cluster.at(1).status().truncated;
  const Term term = cluster.at(1).status().term;
  const std::string sound = Wire().number(2, at.value()).number(3, term.value()).done();
  const std::size_t place = bytes.find(sound);
  ASSERT_NE(place, std::string::npos);
  bytes.replace(place, sound.size(), Wire().number(2, at.value()).number(3, 1).done());
  cluster.at(3).receive(letter_of(1, 3, bytes));
  cluster.settle();
  EXPECT_EQ(cluster.at(3).status().halted, "");

  cluster.at(1).host().on_unreachable(NodeId{3});  // It is sent again, as it was.
  cluster.pass_time(seconds(3));
  EXPECT_EQ(cluster.at(3).machine().installs, 1);
  expect_all_go_on(cluster);
}

}  // namespace
}  // namespace cadastre::log
