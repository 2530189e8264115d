// R12: what could make a leader serve a stale read by lease, as schedules that stay (log.md, 8.3 and section
// 12). In each a second leader is elected as early as the rules let it be, and executes a command that the
// first one does not have: from then on the first one must not serve.

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "log/raft/raft_cluster_testing.h"

namespace cadastre::log {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

using Commands = std::vector<std::string>;

// Of eraftpb.MessageType.
constexpr std::uint32_t kMsgRequestVote = 5;
constexpr std::uint32_t kMsgHeartbeatResponse = 9;
constexpr std::uint32_t kMsgTimeoutNow = 14;
constexpr std::uint32_t kMsgRequestPreVote = 17;
constexpr std::uint32_t kMsgRequestPreVoteResponse = 18;

// The first field of an eraftpb.Message is its type.
std::uint32_t type_of(const Letter& letter) {
  const ByteView bytes = letter.frame.body.bytes();
  CAD_CHECK(bytes.size() > 1 && bytes[0] == std::byte{8}, "a message begins with its type");
  return std::to_integer<std::uint32_t>(bytes[1]);
}

Settings with_leases() {
  Settings settings;
  settings.raft.lease_reads = true;
  return settings;
}

const base::Elapsed kLeaseLength = lease_length({});

// Node 1 leads three voters that may read by lease.
class LeaseScene : public testing::Test {
 public:
  LeaseScene() { cluster.establish(1); }

  // A round of readers comes back: the evidence of a lease.
  void ask_quorum(std::uint64_t leader = 1) {
    const auto read = cluster.at(leader).read();
    cluster.settle();
    ASSERT_TRUE(*read);
    ASSERT_TRUE(**read) << (**read).error().detail;
  }
  // What a reader is served by lease at once; nothing: it is not.
  std::optional<Commands> read_by_lease(std::uint64_t id = 1) {
    RaftMember& member = cluster.at(id);
    const auto answer = member.read(ReadMode::kLeaseIfValid);
    if (!*answer || !**answer || !(**answer)->lease) return std::nullopt;
    Commands seen = member.executed();
    if (!member.group().still_holds(***answer)) return std::nullopt;
    return seen;
  }

  // Nothing passes but between these, and letters of the others are kept.
  void only_between(std::uint64_t a, std::uint64_t b) {
    cluster.passes = [a, b](const Letter& letter) {
      const std::uint64_t from = letter.from.value();
      const std::uint64_t to = letter.to.value();
      return (from == a && to == b) || (from == b && to == a);
    };
    cluster.kept = &kept;
  }
  void nothing_passes() { only_between(0, 0); }
  // The first letter of this kind that was kept.
  std::optional<Letter> kept_letter(std::uint64_t from, std::uint64_t to, std::uint32_t type) {
    for (const Letter& letter : kept) {
      if (letter.from.value() == from && letter.to.value() == to && type_of(letter) == type)
        return letter;
    }
    return std::nullopt;
  }
  void deliver(const Letter& letter) {
    cluster.at(letter.to.value()).receive(letter);
    cluster.settle();
  }
  // Time passes until the letter was kept; an old answer of node 2, again and again, keeps node 1 in office.
  Letter wait_for(std::uint64_t from, std::uint64_t to, std::uint32_t type) {
    for (int tick = 0; tick < 200; ++tick) {
      if (const auto letter = kept_letter(from, to, type)) return *letter;
      if (heartbeat_answer) cluster.at(1).receive(*heartbeat_answer);
      cluster.pass_time(kTick);
    }
    CAD_CHECK(false, "the scene's letter is sent");
    return {};
  }
  void keep_in_office() {
    nothing_passes();
    cluster.passes = [](const Letter& letter) {
      return type_of(letter) != kMsgHeartbeatResponse;
    };
    heartbeat_answer = wait_for(2, 1, kMsgHeartbeatResponse);
    kept.clear();
  }
  // Node `id` leads, and executes what the first leader lacks.
  [[nodiscard]] bool second_leader_executes(std::uint64_t id) {
    if (!cluster.at(id).leads()) return false;
    const auto outcome = cluster.at(id).propose("new");
    cluster.settle();
    return outcome->applied();
  }

  RaftCluster cluster{3, with_leases()};
  std::vector<Letter> kept;
  std::optional<Letter> heartbeat_answer;
};

TEST(LeaseReads, AreOffUnlessAnOperatorSaysOtherwise) {
  RaftCluster cluster(3);
  cluster.establish(1);
  const auto read = cluster.at(1).read(ReadMode::kLeaseIfValid);
  EXPECT_FALSE(*read);
  cluster.settle();
  ASSERT_TRUE(*read && **read);  // By a round.
  EXPECT_FALSE((**read)->lease);
  EXPECT_FALSE(cluster.at(1).status().lease_valid);
}

TEST_F(LeaseScene, ARoundThatCameBackLetsALeaderServeUntilItsEnd) {
  ask_quorum();
  EXPECT_TRUE(cluster.at(1).status().lease_valid);
  nothing_passes();
  cluster.pass_time(kLeaseLength - milliseconds(1), milliseconds(1));
  EXPECT_EQ(read_by_lease(), Commands{});
  cluster.pass_time(milliseconds(1), milliseconds(1));
  EXPECT_EQ(read_by_lease(), std::nullopt);
  EXPECT_FALSE(cluster.at(1).status().lease_valid);
  EXPECT_EQ(read_by_lease(2), std::nullopt);
}

TEST_F(LeaseScene, AnEntryThatWasCommittedIsEvidenceToo) {
  cluster.pass_time(seconds(1));
  EXPECT_EQ(read_by_lease(), std::nullopt);
  const auto one = cluster.at(1).propose("one");
  cluster.settle();
  ASSERT_TRUE(one->applied());
  EXPECT_EQ(read_by_lease(), Commands{"one"});
}

TEST_F(LeaseScene, WhoIsRefusedByTheLeaseAsksAQuorum) {
  cluster.pass_time(seconds(1));
  const auto read = cluster.at(1).read(ReadMode::kLeaseIfValid);
  cluster.settle();
  ASSERT_TRUE(*read && **read);
  EXPECT_FALSE((**read)->lease);
  EXPECT_TRUE(read_by_lease());  // The round was evidence.
  const auto elsewhere = cluster.at(2).read(ReadMode::kLeaseIfValid);
  cluster.settle();
  ASSERT_TRUE(*elsewhere);
  EXPECT_EQ((**elsewhere).error().code, ReadError::kNotLeader);
}

TEST_F(LeaseScene, AReaderThatWasPausedBehindItsGrantIsNotServed) {
  ask_quorum();
  const auto answer = cluster.at(1).read(ReadMode::kLeaseIfValid);
  ASSERT_TRUE(*answer && **answer && (**answer)->lease);
  const ReadPoint granted = ***answer;
  EXPECT_TRUE(cluster.at(1).group().still_holds(granted));
  cluster.at(1).paused = true;
  nothing_passes();
  cluster.pass_time(kLeaseLength);
  EXPECT_FALSE(cluster.at(1).group().still_holds(granted));  // Though nothing of the node ran.
}

TEST_F(LeaseScene, AReaderOfALeaseThatEndedIsNotServedByTheNextOne) {
  ask_quorum();
  const auto answer = cluster.at(1).read(ReadMode::kLeaseIfValid);
  ASSERT_TRUE(*answer && **answer && (**answer)->lease);
  const auto added = cluster.at(1).change({.steps = {{ConfOp::kAddLearner, NodeId{4}}}});
  cluster.settle();
  ASSERT_TRUE(*added && **added);
  EXPECT_EQ(read_by_lease(), std::nullopt);  // A change of membership ends it,
  EXPECT_FALSE(cluster.at(1).group().still_holds(***answer));
  ask_quorum();
  EXPECT_TRUE(read_by_lease());  // and another one begins.
  EXPECT_FALSE(cluster.at(1).group().still_holds(***answer));
}

TEST_F(LeaseScene, ALeaderThatStepsDownHasNone) {
  ask_quorum();
  cluster.at(1).group().transfer_leadership(NodeId{2}, {}, [](const auto&) {});
  cluster.settle();
  ASSERT_TRUE(second_leader_executes(2));
  EXPECT_EQ(read_by_lease(), std::nullopt);
  ask_quorum(2);
  EXPECT_EQ(read_by_lease(2), Commands{"new"});  // The receiver's term had no transfer.
}

TEST_F(LeaseScene, AClockThatFailsOrGoesBackEndsIt) {
  ask_quorum();
  cluster.at(1).boot_clock.fail(true);
  EXPECT_EQ(read_by_lease(), std::nullopt);
  cluster.pass_time(kTick);
  cluster.at(1).boot_clock.fail(false);
  EXPECT_EQ(read_by_lease(), std::nullopt);  // It failed in a pass of the log thread.
  ask_quorum();
  cluster.pass_time(4 * kTick);
  EXPECT_TRUE(read_by_lease());
  cluster.at(1).boot_clock.set_off(-milliseconds(100));  // Not to before the evidence.
  cluster.pass_time(kTick);
  EXPECT_EQ(read_by_lease(), std::nullopt);
}

TEST_F(LeaseScene, AReadWaitsForWhatAFollowerMayHaveServed) {  // 8.3, read target
  cluster.at(1).applier_stands = true;
  const auto newer = cluster.at(1).propose("new");
  cluster.pass_time(4 * kTick);  // Heartbeats carry the commit index.
  const auto elsewhere = cluster.at(2).read(ReadMode::kFollower);
  cluster.pass_time(4 * kTick);
  ASSERT_TRUE(*elsewhere && **elsewhere);
  ASSERT_EQ(cluster.at(2).executed(), Commands{"new"});
  ASSERT_TRUE(cluster.at(1).status().lease_valid);
  const auto read = cluster.at(1).read(ReadMode::kLeaseIfValid);
  cluster.settle();
  EXPECT_FALSE(*read);
  cluster.at(1).applier_stands = false;
  cluster.settle();
  ASSERT_TRUE(*read && **read);
  EXPECT_TRUE((**read)->lease);
  EXPECT_EQ(cluster.at(1).executed(), Commands{"new"});
}

TEST_F(LeaseScene, AReadThatWaitedTooLongForItsTargetAsksAQuorum) {
  cluster.at(1).applier_stands = true;
  const auto newer = cluster.at(1).propose("new");
  cluster.settle();
  ASSERT_TRUE(cluster.at(1).status().lease_valid);
  const auto read = cluster.at(1).read(ReadMode::kLeaseIfValid);
  cluster.pass_time(seconds(1));
  cluster.at(1).applier_stands = false;
  cluster.settle();
  ASSERT_TRUE(*read && **read);
  EXPECT_FALSE((**read)->lease);
}

// The rival has not heard the leader for long, and asks the voter, which has promised not to help and was
// restarted since.
TEST_F(LeaseScene, AVoterThatWasRestartedAtOnceKeepsItsPromise) {  // R12
  only_between(1, 2);
  const Letter asks = wait_for(3, 2, kMsgRequestPreVote);
  ask_quorum();
  only_between(2, 3);
  cluster.at(2).crash();
  cluster.at(2).start();
  deliver(asks);
  EXPECT_TRUE(read_by_lease());
  EXPECT_FALSE(second_leader_executes(3));
  cluster.pass_time(seconds(5));
  EXPECT_TRUE(cluster.at(2).leads() || cluster.at(3).leads());
  EXPECT_EQ(read_by_lease(), std::nullopt);
}

TEST_F(LeaseScene, ATransferThatWasGivenUpLeavesTheTermWithoutLeases) {  // R12
  cluster.kept = &kept;
  cluster.passes = [](const Letter& letter) {
    return type_of(letter) != kMsgTimeoutNow;
  };
  std::optional<TransferError> gave_up;
  cluster.at(1).group().transfer_leadership(NodeId{3}, {},
                                            [&](const auto& said) { gave_up = said.error().code; });
  cluster.settle();
  const Letter late = wait_for(1, 3, kMsgTimeoutNow);
  cluster.pass_time(RaftSettings{}.election_timeout() + 2 * kTick);
  ASSERT_EQ(gave_up, TransferError::kTimedOut);
  ask_quorum();
  EXPECT_EQ(read_by_lease(), std::nullopt);
  only_between(2, 3);
  deliver(late);
  ASSERT_TRUE(second_leader_executes(3));  // At once: no promise stops it.
  EXPECT_EQ(read_by_lease(), std::nullopt);
}

// The voter's term is raised by a rejection that comes late, and a request of that term finds it without a
// leader: raft-rs would grant it.
TEST_F(LeaseScene, ALateRejectionDoesNotOpenAVoterToTheRival) {  // R12, L-61
  keep_in_office();
  nothing_passes();
  const Letter asked_by_voter = wait_for(2, 3, kMsgRequestPreVote);
  const Letter asked_by_rival = wait_for(3, 2, kMsgRequestPreVote);
  deliver(asked_by_rival);
  deliver(*kept_letter(2, 3, kMsgRequestPreVoteResponse));
  const Letter vote_request = *kept_letter(3, 2, kMsgRequestVote);
  kept.clear();
  deliver(asked_by_voter);
  const Letter late_rejection = *kept_letter(3, 2, kMsgRequestPreVoteResponse);

  only_between(1, 2);
  ask_quorum();
  only_between(2, 3);
  deliver(vote_request);
  deliver(late_rejection);
  deliver(vote_request);
  EXPECT_TRUE(read_by_lease());
  EXPECT_FALSE(second_leader_executes(3));
}

// A voter that stood still hears its leader, and must not make up for the ticks that it missed.
TEST_F(LeaseScene, TicksThatWereMissedDoNotShortenAPromise) {  // R12, L-60
  keep_in_office();
  only_between(1, 2);
  cluster.at(2).paused = true;
  for (int tick = 0; tick < 60; ++tick) {
    cluster.at(1).receive(*heartbeat_answer);
    cluster.pass_time(kTick);
  }
  const auto read = cluster.at(1).read();
  cluster.settle();
  cluster.at(2).paused = false;
  cluster.at(2).look_at_clock();
  cluster.settle();
  ASSERT_TRUE(*read && **read);
  only_between(2, 3);
  for (int pass = 0; pass < 60; ++pass) {
    cluster.at(2).look_at_clock();
    cluster.settle();
  }
  EXPECT_TRUE(read_by_lease());
  EXPECT_FALSE(second_leader_executes(2));
}

// The leader's clock is slow and the others' are fast, each by so much; a rival asks all the time. Whether the
// first leader serves a read after the second one executed something.
bool serves_stale_reads(LeaseScene& scene, int drift_per_mille) {
  RaftCluster& cluster = scene.cluster;
  scene.only_between(1, 2);
  const Letter asks = scene.wait_for(3, 2, kMsgRequestPreVote);
  cluster.at(1).drift_per_mille = -drift_per_mille;
  cluster.at(2).drift_per_mille = drift_per_mille;
  cluster.at(3).drift_per_mille = drift_per_mille;
  scene.ask_quorum();
  scene.only_between(2, 3);
  for (int step = 0; step < 2000; ++step) {
    cluster.pass_time(milliseconds(1), milliseconds(1));
    scene.deliver(asks);
    if (!scene.second_leader_executes(3)) continue;
    return scene.read_by_lease().has_value();
  }
  ADD_FAILURE() << "nobody else is elected";
  return false;
}

TEST_F(LeaseScene, HoldsWithClocksThatDriftByTheBound) {  // R12
  EXPECT_FALSE(serves_stale_reads(*this, kLeaseDriftPerMille));
}

TEST_F(LeaseScene, DoesNotHoldWithClocksFarBeyondTheBound) {  // R12: the scene can fail.
  EXPECT_TRUE(serves_stale_reads(*this, 20 * kLeaseDriftPerMille));
}

}  // namespace
}  // namespace cadastre::log
