// Bytes of peers that are broken or hostile: no abort, except where a well-formed message claims what
// cannot be, which stops the node with its name in the text (L-36).

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <cadastre_raft.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "log/raft/shim_test/cluster_testing.h"
#include "log/raft/shim_test/eraftpb_testing.h"
#include "log/raft/shim_test/raft_node_testing.h"

namespace cadastre::log {
namespace {

cad_result head_of(const std::string& bytes) {
  cad_head head{};
  return cad_raft_head(slice_of(bytes), &head);
}

struct Case {
  const char* what;
  std::string bytes;
};

TEST(ShimHostile, WhatIsNoMessageIsMalformed) {
  const std::string nested(1U << 20U, '\x0b');  // groups in groups
  const std::vector<Case> cases = {
      {"half a tag", "\x80"},
      {"a number without an end", std::string(11, '\xff')},
      {"a length beyond the end", std::string("\x3a\x7f", 2)},
      {"a length beyond memory", std::string("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10)},
      {"a group", nested},
      {"a group in an entry", message({kMsgAppend, 1, 2, 5}).bytes(7, nested).done()},
      {"a group in a snapshot", message({kMsgSnapshot, 1, 2, 5}).bytes(9, nested).done()},
      {"a group in a configuration",
       message({kMsgSnapshot, 1, 2, 5})
           .bytes(9, Wire().bytes(2, Wire().bytes(1, nested).done()).done())
           .done()},
      {"field 0", std::string("\x00\x01", 2)},
      {"a kind that is none", message({19, 1, 2, 5}).done()},
      {"a kind as text", Wire().bytes(1, "3").done()},
      {"an entry as a number", message({kMsgAppend, 1, 2, 5}).number(7, 1).done()},
      {"two snapshots", message({kMsgSnapshot, 1, 2, 5}).bytes(9, "").bytes(9, "").done()},
  };
  RaftNode node(2, {}, founding_disk({1, 2, 3}));
  for (const Case& row : cases) {
    EXPECT_EQ(head_of(row.bytes), CAD_MALFORMED) << row.what;
    EXPECT_EQ(node.step(row.bytes), CAD_MALFORMED) << row.what;
  }
  EXPECT_EQ(node.status().term, 1U);
}

std::string snapshot_with(const std::string& conf, std::uint64_t index, std::uint64_t term) {
  const std::string metadata = Wire().bytes(1, conf).number(2, index).number(3, term).done();
  return message({kMsgSnapshot, 1, 2, 5}).bytes(9, Wire().bytes(2, metadata).done()).done();
}

std::string voters_upto(std::uint64_t last) {
  Wire wire;
  for (std::uint64_t id = 1; id <= last; ++id)
    wire.number(1, id);
  return wire.done();
}

TEST(ShimHostile, WhatRaftTakesForGrantedIsChecked) {
  const Envelope from{0, 1, 2, 5};
  const std::string sound = Wire().number(1, 1).number(1, 2).done();
  const std::string too_long(CAD_READ_CONTEXT_BYTES_MAX + 1, 'c');
  const std::vector<Case> cases = {
      {"a local kind: hup", message({0, 1, 2, 5}).done()},
      {"a local kind: unreachable", message({10, 1, 2, 5}).done()},
      {"to another", message({kMsgHeartbeat, 1, 3, 5}).done()},
      {"from nobody", message({kMsgHeartbeat, 0, 2, 5}).done()},
      {"from ourselves", message({kMsgHeartbeat, 2, 2, 5}).done()},
      {"without a term", message({kMsgHeartbeat, 1, 2, 0}).done()},
      {"a read with a term", message({kMsgReadIndex, 1, 2, 5}).bytes(7, "").done()},
      {"a read without a context", message({kMsgReadIndex, 1, 2, 0}).done()},
      {"a read of nothing", message({kMsgReadIndex, 1, 2, 0}).bytes(7, "").done()},
      {"an answer to no read", message({kMsgReadIndexResp, 1, 2, 5}).done()},
      {"a read with a long context",
       message({kMsgReadIndex, 1, 2, 0}).bytes(7, wire_context(too_long)).done()},
      {"an answer with a long context",
       message({kMsgReadIndexResp, 1, 2, 5}).bytes(7, wire_context(too_long)).done()},
      {"a gap", append_message(from, 1, 1, {{3, 5, 0, "", ""}}, 1)},
      {"a term that falls", append_message(from, 1, 4, {{2, 3, 0, "", ""}}, 1)},
      {"a term from the future", append_message(from, 1, 1, {{2, 6, 0, "", ""}}, 1)},
      {"no term", append_message(from, 1, 0, {}, 1)},
      {"an end of the numbers", append_message(from, UINT64_MAX, 1, {{0, 5, 0, "", ""}}, 1)},
      {"a snapshot of nothing", snapshot_with(sound, 0, 5)},
      {"a snapshot of no term", snapshot_with(sound, 9, 0)},
      {"a snapshot of a later term", snapshot_with(sound, 9, 6)},
      {"a snapshot without voters", snapshot_with("", 9, 5)},
      {"a snapshot with a voter twice", snapshot_with(sound + sound, 9, 5)},
      {"a snapshot with more voters than there can be",
       snapshot_with(voters_upto(CAD_MEMBERS_MAX + 1), 9, 5)},
      {"a request of a snapshot of our choice",
       message({kMsgAppendResponse, 1, 2, 5}).number(10, 1).number(13, 1ULL << 60U).done()},
  };
  RaftNode node(2, {}, founding_disk({1, 2, 3}));
  for (const Case& row : cases)
    EXPECT_EQ(node.step(row.bytes), CAD_MALFORMED) << row.what;
  EXPECT_EQ(node.status().term, 1U);
  EXPECT_EQ(node.status().last, 1U);
}

TEST(ShimHostile, AnAppendThatContradictsWhatIsCommittedChangesNothing) {
  RaftNode node(2, {}, founding_disk({1, 2, 3}));
  EXPECT_EQ(node.step(append_message({0, 1, 2, 5}, 1, 1, {{2, 5, 0, "a", ""}}, 2)), CAD_OK);
  const auto state = node.disk().state;
  (void)node.take_mail();
  EXPECT_EQ(node.step(append_message({0, 3, 2, 6}, 1, 1, {{2, 6, 0, "b", ""}}, 2)), CAD_OK);
  EXPECT_EQ(node.disk().state, state);
  EXPECT_EQ(node.disk().entries.back().data, "a");
  const std::vector<Mail> mail = node.take_mail();
  ASSERT_EQ(mail.size(), 1U);
  EXPECT_EQ(mail[0].index, 2U);  // It says how far it is committed, and compares nothing below.
}

TEST(ShimHostile, ASnapshotThatContradictsWhatIsCommittedIsMalformed) {
  const std::string sound = Wire().number(1, 1).number(1, 2).done();
  RaftNode node(2, {}, founding_disk({1, 2}));
  EXPECT_EQ(node.step(append_message({0, 1, 2, 5}, 1, 1, {{2, 5, 0, "a", ""}}, 2)), CAD_OK);
  ASSERT_EQ(node.status().commit, 2U);
  EXPECT_EQ(node.step(snapshot_with(sound, 2, 4)), CAD_MALFORMED);
  EXPECT_EQ(node.step(snapshot_with(sound, 1, 4)), CAD_OK);  // Below it raft-rs compares nothing,
  EXPECT_EQ(node.step(snapshot_with(sound, 2, 5)), CAD_OK);  // and what is here is not replaced.
  EXPECT_EQ(node.status().first, 2U);
  EXPECT_EQ(node.status().last, 2U);
  EXPECT_EQ(node.disk().entries.back().data, "a");
}

// Contexts are the caller's: whoever reads them out of an output finds those that nobody began.
TEST(ShimHostile, AnAnswerThatNobodyAskedForComesOutAsItIs) {
  RaftNode node(2, {}, founding_disk({1, 2, 3}));
  const std::string answer =
      message({kMsgReadIndexResp, 1, 2, 5}).number(6, 1).bytes(7, wire_context("x")).done();
  EXPECT_EQ(node.step(answer), CAD_OK);
  ASSERT_EQ(node.reads.size(), 1U);
  EXPECT_EQ(node.reads[0].context, "x");
}

// raft-rs would send it to its leader in the name of node 3, from whom that hears nothing on node 2's streams.
TEST(ShimHostile, AReadIsNotPassedOnInTheNameOfWhoAsked) {
  RaftNode node(2, {}, founding_disk({1, 2, 3}));
  ASSERT_EQ(node.step(message({kMsgHeartbeat, 1, 2, 5}).done()), CAD_OK);
  ASSERT_EQ(node.status().leader, 1U);
  const std::string read = wire_context(std::string(24, 'x'));
  EXPECT_EQ(node.step(message({kMsgReadIndex, 3, 2, 0}).bytes(7, read).done()), CAD_IGNORED);
}

TEST(ShimHostile, AnAnswerOfNobodyIsNamed) {
  RaftNode node(2, {}, founding_disk({1, 2, 3}));
  EXPECT_EQ(node.step(message({kMsgAppendResponse, 9, 2, 1}).done()), CAD_UNKNOWN_PEER);
}

// Every message that three nodes exchange, cut at every byte.
TEST(ShimHostile, MessagesCutAnywhereDoNoHarm) {
  Cluster cluster({1, 2, 3});
  std::vector<Mail> seen;
  cluster.passes = [&seen](const Mail& letter) {
    seen.push_back(letter);
    return true;
  };
  cluster.establish(1, {2, 3});
  EXPECT_EQ(cluster.at(1).propose("a body"), CAD_OK);
  cluster.at(3).read_index("context");
  cluster.settle();
  ASSERT_GT(seen.size(), 10U);
  std::size_t cuts = 0;
  for (const Mail& letter : seen) {
    for (std::size_t size = 0; size < letter.bytes.size(); ++size, ++cuts) {
      RaftNode node(letter.to, {}, cluster.at(letter.to).disk());
      (void)node.step(letter.bytes.substr(0, size));
      (void)head_of(letter.bytes.substr(0, size));
    }
  }
  EXPECT_GT(cuts, 100U);
}

TEST(ShimHostile, HeadReadsAnyBytes) {
  base::SeededRandom random(3);
  const std::string sound = append_message({0, 1, 2, 5}, 1, 1, {{2, 5, 0, "some body", ""}}, 1);
  std::size_t taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = sound;
    for (std::uint64_t changes = 1 + random.below(4); changes > 0; --changes)
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    taken += static_cast<std::size_t>(head_of(bytes) == CAD_OK);
  }
  EXPECT_GT(taken, 1000U);
  EXPECT_LT(taken, 19'000U);
}

TEST(ShimHostile, HeadSaysWhatTheLoopNeeds) {
  cad_head head{};
  const std::string vote =
      message({kMsgRequestVote, 3, 2, 9}).number(6, 77).bytes(12, "CampaignTransfer").done();
  ASSERT_EQ(cad_raft_head(slice_of(vote), &head), CAD_OK);
  EXPECT_EQ(head.type, kMsgRequestVote);
  EXPECT_EQ(head.from, 3U);
  EXPECT_EQ(head.to, 2U);
  EXPECT_EQ(head.term, 9U);
  EXPECT_EQ(head.index, 77U);
  EXPECT_EQ(head.forced, 1U);
  EXPECT_EQ(head.entries, 0U);
  const std::string metadata = Wire().number(2, 55).number(3, 8).done();
  const std::string snapshot = message({kMsgSnapshot, 3, 2, 9})
                                   .number(10, 1)
                                   .bytes(9, Wire().bytes(1, "manifest").bytes(2, metadata).done())
                                   .done();
  ASSERT_EQ(cad_raft_head(slice_of(snapshot), &head), CAD_OK);
  EXPECT_EQ(head.snapshot_index, 55U);
  EXPECT_EQ(head.snapshot_term, 8U);
  EXPECT_EQ(head.reject, 1U);
  EXPECT_EQ(head.forced, 0U);
  EXPECT_EQ(text_of(head.snapshot_data), "manifest");
  EXPECT_GE(reinterpret_cast<const char*>(head.snapshot_data.data), snapshot.data());
  EXPECT_LT(reinterpret_cast<const char*>(head.snapshot_data.data),
            snapshot.data() + snapshot.size());
}

void told(void*, std::uint32_t level, cad_slice text) noexcept {
  if (level == CAD_LOG_PANIC) fmt::print(stderr, "told: {}\n", text_of(text));
}
cad_result no_read(void*, std::uint64_t, std::uint64_t, std::uint64_t, cad_entries**) noexcept {
  return CAD_DROPPED;
}

RaftHandle node_that_tells(const TestDisk& disk) {
  const TestConfig image(2, {}, disk);
  const cad_callbacks callbacks{nullptr, &no_read, &told};
  cad_raft* raft = nullptr;
  EXPECT_EQ(cad_raft_create(&image.config, &callbacks, &raft), CAD_OK);
  return RaftHandle(raft);
}

// L-36, and one of the claims that are not filtered: a commit index beyond our log.
TEST(ShimHostileDeathTest, AnImpossibleCommitEndsTheProcessWithGroupNodeAndReason) {
  const RaftHandle raft = node_that_tells(founding_disk({1, 2, 3}));
  const std::string beat = heartbeat_message({0, 1, 2, 5}, 99);
  EXPECT_EXIT((void)cad_raft_step(raft.get(), slice_of(beat)), testing::KilledBySignal(SIGABRT),
              "told: raft-rs panicked in group 7 on node 2: .*to_commit 99 is out of range");
}

// The other claim that is not filtered.
TEST(ShimHostileDeathTest, TheHighestTermEndsTheProcessWithTheNextCampaign) {
  const RaftHandle raft = node_that_tells(founding_disk({1, 2, 3}));
  const std::string beat = heartbeat_message({0, 1, 2, UINT64_MAX}, 1);
  ASSERT_EQ(cad_raft_step(raft.get(), slice_of(beat)), CAD_OK);
  EXPECT_EXIT((void)cad_raft_campaign(raft.get()), testing::KilledBySignal(SIGABRT),
              "told: raft-rs panicked in group 7 on node 2: .*term should be set");
}

TEST(ShimHostileDeathTest, ABrokenContractOfTheCallerEndsTheProcess) {
  const RaftHandle raft = node_that_tells(founding_disk({1, 2, 3}));
  EXPECT_EXIT(cad_raft_on_persist(raft.get(), 1), testing::KilledBySignal(SIGABRT),
              "told: raft-rs panicked in group 7 on node 2: .*output 1 is persisted");
  EXPECT_EXIT(cad_raft_truncate(raft.get(), 9, 1), testing::KilledBySignal(SIGABRT),
              "truncation above the applied index");
  EXPECT_EXIT(cad_raft_on_applied(raft.get(), 9), testing::KilledBySignal(SIGABRT),
              "applied\\(9\\) is out of range");
}

TEST(ShimHostileDeathTest, ALogThatCannotBeReadEndsTheProcess) {
  TestDisk disk = founding_disk({1, 2});
  disk.hard = {5, 2, 4};
  disk.applied = 4;
  for (std::uint64_t index = 2; index <= 4; ++index)
    disk.entries.push_back({index, 5, 0, "x", ""});
  TestSettings settings;
  settings.tail_entries = 1;
  settings.pre_vote = 0;
  const TestConfig image(2, settings, disk);
  const cad_callbacks callbacks{nullptr, &no_read, &told};
  cad_raft* raft = nullptr;
  ASSERT_EQ(cad_raft_create(&image.config, &callbacks, &raft), CAD_OK);
  const RaftHandle handle(raft);
  const auto lead_and_miss = [raft] {
    (void)cad_raft_campaign(raft);
    const ReadyHandle votes(cad_raft_take_ready(raft));
    cad_raft_on_persist(raft, cad_ready_number(votes.get()));
    (void)cad_raft_step(raft, slice_of(message({kMsgRequestVoteResponse, 1, 2, 6}).done()));
    const ReadyHandle first(cad_raft_take_ready(raft));
    const std::string behind = message({kMsgAppendResponse, 1, 2, 6})
                                   .number(5, 1)
                                   .number(6, 4)
                                   .number(10, 1)
                                   .number(11, 1)
                                   .done();
    (void)cad_raft_step(raft, slice_of(behind));
    for (int i = 0; i < 4; ++i) {
      cad_want want{};
      while (cad_raft_next_want(raft, &want) != 0)
        cad_raft_entries_fetched(raft, want.token, nullptr);
      (void)cad_raft_step(raft, slice_of(message({kMsgHeartbeatResponse, 1, 2, 6}).done()));
    }
  };
  EXPECT_EXIT(
      lead_and_miss(), testing::KilledBySignal(SIGABRT),
      "told: raft-rs panicked in group 7 on node 2: .*the log cannot be read at \\[2, 4\\)");
}

}  // namespace
}  // namespace cadastre::log
