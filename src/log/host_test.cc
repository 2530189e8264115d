#include "log/host.h"

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "log/ledger_testing.h"
#include "log/steps_testing.h"
#include "log/storage/memory_storage.h"

namespace cadastre::log {
namespace {

constexpr GroupId kGroup{7};
constexpr NodeIdentity kIdentity{ClusterId{1}, NodeId{1}};

// One process after another on one disk.
class HostTest : public ::testing::Test {
 protected:
  void start() {
    runner = std::make_unique<StepRunner>();
    storage = std::make_unique<MemoryStorage>(disk, kIdentity);
    auto opened = Host::open({*storage, *runner, clock});
    ASSERT_TRUE(opened) << opened.error().detail;
    host = std::move(*opened);
    machine = std::make_unique<LedgerMachine>(ledger);
    auto result = host->open_group({.group = kGroup, .machine = *machine});
    ASSERT_TRUE(result) << result.error().detail;
    group = *result;
  }
  void crash(std::size_t unsynced_kept = 0) {
    host.reset();
    disk.crash(unsynced_kept);
    machine.reset();
    storage.reset();
  }

  void propose(std::string_view command, Class cls = Class::kUser) {
    std::array proposals{Proposal{base::as_bytes(command), [this](Answer answer) {
                                    answers.push_back(std::move(answer));
                                  }}};
    group->propose(proposals, cls);
  }

  base::ManualClock clock;
  MemoryDisk disk;
  LedgerDisk ledger;
  std::vector<Answer> answers;
  std::unique_ptr<StepRunner> runner;
  std::unique_ptr<MemoryStorage> storage;
  std::unique_ptr<LedgerMachine> machine;
  std::unique_ptr<Host> host;
  Group* group = nullptr;
};

TEST_F(HostTest, AnswersACommandWithItsPositionAndResult) {
  start();
  propose("one");
  runner->settle(*host);
  ASSERT_EQ(answers.size(), 1U);
  ASSERT_TRUE(answers[0]);
  EXPECT_EQ(answers[0]->at, (Position{Term{1}, Index{2}}));  // L-22: index 1 opened the term.
  EXPECT_EQ(machine->state().commands, std::vector<std::string>{"one"});
}

TEST_F(HostTest, NothingIsAnsweredBeforeTheSyncReturns) {  // L-2
  start();
  runner->settle(*host);
  propose("one");
  while (runner->step_log(*host)) {}
  const auto set = host->begin_write();
  ASSERT_TRUE(set);
  storage->append(*set);
  runner->settle(*host);
  EXPECT_TRUE(answers.empty());
  EXPECT_TRUE(machine->state().commands.empty());  // 5.2: nor executed.
  storage->sync();
  host->finish_write({});
  runner->settle(*host);
  EXPECT_EQ(answers.size(), 1U);
}

TEST_F(HostTest, WhatWasAnsweredIsThereAfterACrash) {  // L-2, L-25
  start();
  for (int i = 0; i < 10; ++i) {
    propose(std::to_string(i));
    runner->settle(*host);
  }
  ASSERT_EQ(answers.size(), 10U);
  const std::uint64_t digest = machine->state().digest;
  crash();
  start();
  EXPECT_EQ(machine->state().digest, digest);
  EXPECT_EQ(machine->state().commands.size(), 10U);
  runner->settle(*host);
  EXPECT_EQ(group->status().term, Term{2});  // L-22
  EXPECT_EQ(group->status().role, Role::kLeader);
}

TEST_F(HostTest, EntriesThatTheStateHasAreNotExecutedAgain) {  // L-4
  start();
  propose("one");
  runner->settle(*host);
  machine->request_flush();
  propose("two");
  runner->settle(*host);
  crash();
  start();
  EXPECT_EQ(machine->state().commands, (std::vector<std::string>{"one", "two"}));
}

TEST_F(HostTest, AFailedSyncStopsEverythingAndTellsNobody) {  // L-49
  start();
  runner->settle(*host);
  propose("one");
  while (runner->step_log(*host)) {}
  ASSERT_TRUE(host->begin_write());
  host->finish_write(base::fail(WriteError::kFailed, "000012.log: input/output error"));
  runner->settle(*host);
  EXPECT_NE(runner->failed.find("000012.log"), std::string::npos);
  EXPECT_TRUE(host->dead());
  EXPECT_TRUE(answers.empty());
  host.reset();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].error().code, ProposeError::kOutcomeUnknown);
}

TEST_F(HostTest, ATermFencesTheWorkOfAnEarlierRun) {  // L-17, L-22
  start();
  runner->settle(*host);
  crash();
  start();
  std::vector<Answer> fenced;
  const auto keep = [&](Answer answer) {
    fenced.push_back(std::move(answer));
  };
  group->propose_if_term(Term{1}, {base::as_bytes("old"), keep});
  group->propose_if_term(Term{2}, {base::as_bytes("new"), keep});
  runner->settle(*host);
  ASSERT_EQ(fenced.size(), 2U);
  EXPECT_EQ(fenced[0].error().code, ProposeError::kNotLeader);
  ASSERT_TRUE(fenced[1]);
  EXPECT_EQ(machine->state().commands, std::vector<std::string>{"new"});
}

TEST_F(HostTest, ACommandThatCannotBeExecutedHaltsItsGroupOnly) {  // L-20
  start();
  LedgerDisk other_disk;
  LedgerMachine other(other_disk);
  Group& neighbour = **host->open_group({.group = GroupId{8}, .machine = other});
  propose(machine->poison);
  propose("behind it");
  runner->settle(*host);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].error().code, ProposeError::kOutcomeUnknown);
  propose("later");
  runner->settle(*host);
  EXPECT_EQ(answers.back().error().code, ProposeError::kStopped);
  EXPECT_EQ(group->status().role, Role::kHalted);
  std::array proposals{Proposal{base::as_bytes("fine"), [](const Answer& answer) {
                                  EXPECT_TRUE(answer);
                                }}};
  neighbour.propose(proposals, Class::kUser);
  clock.advance(kHandoverWaitMax);  // The halted group's callers do not come back.
  (void)host->run_log();
  runner->settle(*host);
  EXPECT_EQ(other.state().commands, std::vector<std::string>{"fine"});
}

TEST_F(HostTest, AReadBarrierWaitsForWhatWasCommitted) {  // L-83
  start();
  propose("one");
  while (runner->step_log(*host) || runner->step_writer(*host)) {}
  std::optional<Index> read;
  group->read_barrier(ReadMode::kLinearizable, [&](ReadAnswer answer) { read = answer->applied; });
  while (runner->step_log(*host)) {}
  EXPECT_FALSE(read);
  runner->settle(*host);
  ASSERT_TRUE(read);
  EXPECT_GE(*read, Index{2});
}

TEST_F(HostTest, StopFinishesWhatIsUnderWayAndRefusesTheRest) {
  start();
  runner->settle(*host);
  propose("in time");
  while (runner->step_log(*host)) {}
  host->stop();
  (void)host->run_log();
  propose("too late");
  runner->settle(*host);
  (void)host->run_log();
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].error().code, ProposeError::kStopped);
  EXPECT_TRUE(answers[1]);
  EXPECT_TRUE(host->drained());
}

TEST_F(HostTest, TruncationKeepsWhatTheStateHasNotFlushed) {  // L-26, S-70
  start();
  const auto many = [&](int count) {
    for (int i = 0; i < count; ++i) {
      propose("x");
      runner->settle(*host);
    }
  };
  many(static_cast<int>(kTruncateEntriesMin) + 10);
  machine->request_flush();
  const Index flushed = machine->durable().index;
  many(100);
  const auto keep_house = [&] {
    clock.advance(kTruncateEvery);
    (void)host->run_log();
    runner->settle(*host);
  };
  keep_house();  // The applier is asked what is durable,
  keep_house();  // and then the log is truncated.
  EXPECT_EQ(group->status().truncated, flushed);
  const std::uint64_t digest = machine->state().digest;
  crash();
  start();
  EXPECT_EQ(machine->state().digest, digest);
}

TEST_F(HostTest, OfALogThatIsTooLargeTheStateIsFlushedThatHoldsMostOfItBack) {  // L-26
  runner = std::make_unique<StepRunner>();
  storage = std::make_unique<MemoryStorage>(disk, kIdentity);
  Settings settings;
  settings.log_bytes_max = 1;
  host = std::move(*Host::open({*storage, *runner, clock, settings}));
  struct Hosted {
    LedgerDisk disk;
    LedgerMachine machine{disk};
    Group* group = nullptr;
  };
  std::array<Hosted, 3> hosted;
  const auto put = [&](std::size_t at, std::size_t bytes) {
    const std::string command(bytes, 'x');
    std::array proposals{Proposal{base::as_bytes(command), [](const Answer&) {
                                  }}};
    hosted[at].group->propose(proposals, Class::kUser);
    runner->settle(*host);
  };
  for (std::size_t at = 0; at < hosted.size(); ++at) {
    hosted[at].group = *host->open_group({.group = GroupId{at + 1}, .machine = hosted[at].machine});
    runner->settle(*host);
  }
  put(0, 500 * kKiB);
  hosted[0].machine.request_flush();  // The largest log by far, and nothing of it is held back.
  put(1, 1 * kKiB);
  put(2, 200 * kKiB);
  const auto is_flushed = [&](std::size_t at) {
    return hosted[at].machine.durable() == hosted[at].machine.applied();
  };
  const auto keep_house = [&] {
    clock.advance(kHousekeepingEvery);
    (void)host->run_log();
    runner->settle(*host);
  };
  keep_house();  // The appliers are asked what is durable,
  keep_house();
  EXPECT_TRUE(is_flushed(2));
  EXPECT_FALSE(is_flushed(1));
  keep_house();
  EXPECT_TRUE(is_flushed(1));  // and each has its turn.
}

TEST_F(HostTest, AStateThatIsAheadOfTheLogIsNotOpened) {  // L-53
  start();
  propose("one");
  runner->settle(*host);
  machine->request_flush();
  crash();
  disk.lose_tail(100);
  StepRunner other;
  MemoryStorage again(disk, kIdentity);
  auto opened = Host::open({again, other, clock});
  ASSERT_TRUE(opened) << opened.error().detail;
  LedgerMachine state(ledger);
  const auto result = (*opened)->open_group({.group = kGroup, .machine = state});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, OpenError::kDamaged);
  EXPECT_NE(result.error().detail.find("lost synced entries"), std::string::npos);
}

TEST_F(HostTest, AFloodIsRefusedAndSystemCommandsStillPass) {  // 1.3, S-82
  start();
  for (std::size_t i = 0; i < kQueueCommandsMax; ++i)
    propose("x");
  EXPECT_TRUE(answers.empty());
  propose("one too many");
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].error().code, ProposeError::kOverloaded);
  propose("a commit", Class::kSystem);
  runner->settle(*host);
  EXPECT_EQ(answers.size(), kQueueCommandsMax + 2);
  EXPECT_EQ(machine->state().commands.size(), kQueueCommandsMax + 1);
  EXPECT_EQ(machine->state().commands.back(), "a commit");  // L-5
}

TEST_F(HostTest, AClosedLoopLeavesInOneSet) {  // handover.h
  start();
  runner->settle(*host);
  for (int i = 0; i < 64; ++i)
    propose("first");
  runner->settle(*host);
  const std::uint64_t sets = host->metrics().set_commands.read().count();
  for (int i = 0; i < 63; ++i) {
    propose("again");
    runner->settle(*host);  // They come one by one: nothing leaves yet.
  }
  EXPECT_EQ(host->metrics().set_commands.read().count(), sets);
  propose("again");
  runner->settle(*host);
  EXPECT_EQ(host->metrics().set_commands.read().count(), sets + 1);
}

TEST_F(HostTest, WhoeverComesBackLateIsNotWaitedForLong) {  // handover.h
  start();
  runner->settle(*host);
  propose("a");
  propose("b");
  runner->settle(*host);
  propose("only one comes back");
  runner->settle(*host);
  EXPECT_EQ(answers.size(), 2U);
  clock.advance(kHandoverWaitMax);
  (void)host->run_log();
  runner->settle(*host);
  EXPECT_EQ(answers.size(), 3U);
}

}  // namespace
}  // namespace cadastre::log
