#include "log/command_queue.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

constexpr GroupId kGroup{7};

class SilentRunner final : public Runner {
 public:
  void wake_log() override { ++woken; }
  void wake_writer() override {}
  void wake_reader() override {}
  void wake_applier(GroupId) override {}
  void fail_stop(std::string_view) override {}

  int woken = 0;
};

class CommandQueueTest : public ::testing::Test {
 protected:
  // Commands of these sizes as one submission; what became of it, "" if it was accepted.
  std::string push(const std::vector<std::size_t>& sizes,
                   Class cls = Class::kUser,
                   Term term = kAnyTerm) {
    std::vector<std::string> texts;
    for (const std::size_t size : sizes)
      texts.emplace_back(size, static_cast<char>('a' + pushed_++ % 26));
    return push_texts(texts, cls, term);
  }
  std::string push_texts(const std::vector<std::string>& texts,
                         Class cls = Class::kUser,
                         Term term = kAnyTerm) {
    std::vector<Proposal> proposals;
    for (const std::string& text : texts)
      proposals.push_back({base::as_bytes(text), [](const Answer&) {
                           }});
    const auto accepted =
        queue.push({.proposals = proposals, .cls = cls, .term = term}, base::Elapsed{5});
    for (const Proposal& proposal : proposals)
      EXPECT_EQ(proposal.done == nullptr, accepted.has_value());
    return accepted ? "" : std::string(name_of(accepted.error().code));
  }

  // How many commands are in each of the next batches.
  std::vector<std::size_t> take_counts() {
    std::vector<std::size_t> counts;
    for (const Batch& batch : queue.take(0)) {
      const auto commands = read_body(batch.body.bytes());
      EXPECT_TRUE(commands);
      EXPECT_EQ(commands->size(), batch.waiters.size());
      counts.push_back(batch.waiters.size());
    }
    return counts;
  }

  SilentRunner runner;
  Intake intake{runner};
  CommandQueue queue{kGroup, intake};

 private:
  std::size_t pushed_ = 0;
};

using Sizes = std::vector<std::size_t>;

// The largest command that joins a batch which has one of the given size.
constexpr std::size_t room_beside(std::size_t size) {
  return kBatchBytes - kBodyHeaderBytes - 2 * kBodySlotBytes - size;
}

TEST_F(CommandQueueTest, ClosesBatchesByTheRule) {  // L-10
  struct Case {
    const char* what;
    Sizes commands;
    Sizes batches;
  };
  const std::vector<Case> cases = {
      {"one command", {1}, {1}},
      {"an empty command is one", {0}, {1}},
      {"some commands together", {1, 2, 3}, {3}},
      {"as many as a batch has", Sizes(kBatchCommandsMax, 1), {kBatchCommandsMax}},
      {"one more", Sizes(kBatchCommandsMax + 1, 1), {kBatchCommandsMax, 1}},
      {"exactly the bytes of a batch", {100, room_beside(100)}, {2}},
      {"one byte more", {100, room_beside(100) + 1}, {1, 1}},
      {"a small one after a large one", {kBatchBytes, 1}, {1, 1}},
      {"a large one between small ones", {1, kBatchBytes, 1}, {1, 1, 1}},
      {"the largest command", {kCommandBytesMax}, {1}},
  };
  for (const Case& one : cases) {
    ASSERT_EQ(push(one.commands), "") << one.what;
    EXPECT_EQ(take_counts(), one.batches) << one.what;
    std::size_t bytes = 0;
    for (const std::size_t size : one.commands)
      bytes += size;
    queue.settled({one.commands.size(), bytes, one.batches.size()});
  }
}

TEST_F(CommandQueueTest, LaterSubmissionsJoinTheOpenBatch) {
  EXPECT_EQ(push({1, 1}), "");
  EXPECT_EQ(push({1}, Class::kSystem), "");
  EXPECT_EQ(take_counts(), Sizes{3});
  EXPECT_EQ(take_counts(), Sizes{});
}

TEST_F(CommandQueueTest, KeepsTheOrderOfAcceptanceWhateverTheClass) {  // L-5
  EXPECT_EQ(push_texts({"one", "two"}), "");
  EXPECT_EQ(push_texts({"three"}, Class::kSystem), "");
  EXPECT_EQ(push_texts({"four"}, Class::kSystem, Term{3}), "");
  EXPECT_EQ(push_texts({"five"}), "");
  std::vector<std::string> seen;
  for (const Batch& batch : queue.take(0)) {
    const auto commands = read_body(batch.body.bytes());
    ASSERT_TRUE(commands);
    for (const ByteView command : *commands)
      seen.emplace_back(base::as_text(command));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"one", "two", "three", "four", "five"}));
}

TEST_F(CommandQueueTest, AFencedCommandHasABatchOfItsOwn) {  // L-17
  EXPECT_EQ(push({1}), "");
  EXPECT_EQ(push({1}, Class::kSystem, Term{3}), "");
  EXPECT_EQ(push({1}, Class::kSystem, Term{3}), "");
  EXPECT_EQ(push({1}), "");
  const std::vector<Batch> batches = queue.take(0);
  ASSERT_EQ(batches.size(), 4U);
  EXPECT_EQ(batches[0].term, kAnyTerm);
  EXPECT_EQ(batches[1].term, Term{3});
  EXPECT_EQ(batches[2].term, Term{3});
  EXPECT_EQ(batches[3].term, kAnyTerm);
}

TEST_F(CommandQueueTest, ABatchKnowsWhenItWasOpenedAndByWhichClock) {
  EXPECT_EQ(push({1}), "");
  const std::vector<Batch> batches = queue.take(42);
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].opened, base::Elapsed{5});
  EXPECT_EQ(body_hint_ms(batches[0].body.bytes()), 42U);
}

TEST_F(CommandQueueTest, APassTakesAtMostItsBatches) {  // L-8, L-11
  for (std::size_t i = 0; i < kPassBatchesMax + 2; ++i)
    EXPECT_EQ(push({1}, Class::kSystem, Term{1}), "");
  EXPECT_EQ(intake.take_groups(), std::vector<GroupId>{kGroup});
  EXPECT_EQ(take_counts().size(), kPassBatchesMax);
  EXPECT_EQ(intake.take_groups(), std::vector<GroupId>{kGroup});  // The rest announces itself.
  EXPECT_EQ(intake.queued(), 2U);
  EXPECT_EQ(take_counts().size(), 2U);
  EXPECT_TRUE(intake.take_groups().empty());
  EXPECT_EQ(intake.queued(), 0U);
}

TEST_F(CommandQueueTest, APassTakesAtMostItsBytesButOneBatch) {  // L-8, L-10
  constexpr std::size_t kHalf = kPassBytesMax / 2;
  EXPECT_EQ(push({kHalf, kHalf, 1, 2 * kPassBytesMax, 1}), "");
  EXPECT_EQ(take_counts(), (Sizes{1, 1}));
  EXPECT_EQ(take_counts(), (Sizes{1}));
  EXPECT_EQ(take_counts(), (Sizes{1}));  // Larger than a pass: alone.
  EXPECT_EQ(take_counts(), (Sizes{1}));
}

TEST_F(CommandQueueTest, UserCommandsStopAtTheQueuesBoundAndSystemOnesPass) {  // 1.3
  EXPECT_EQ(push(Sizes(kQueueCommandsMax, 1)), "");
  EXPECT_EQ(push({1}), "overloaded");
  EXPECT_EQ(push(Sizes(kSystemCommandsMax, 1), Class::kSystem), "");
  EXPECT_EQ(push({1}, Class::kSystem), "overloaded");
  EXPECT_EQ(push({1}), "overloaded");
  EXPECT_EQ(intake.queued(), kQueueCommandsMax + kSystemCommandsMax);
}

TEST_F(CommandQueueTest, BytesStopAtTheQueuesBoundAndSystemOnesPass) {  // 1.3
  EXPECT_EQ(push({kQueueBytesMax - 1}), "");
  EXPECT_EQ(push({2}), "overloaded");
  EXPECT_EQ(push({1}), "");
  EXPECT_EQ(push({1}), "overloaded");
  EXPECT_EQ(push({kSystemBytesMax}, Class::kSystem), "");
  EXPECT_EQ(push({1}, Class::kSystem), "overloaded");
  EXPECT_EQ(push({0}, Class::kSystem), "");  // A command without bytes is one all the same.
}

TEST_F(CommandQueueTest, AnEmptyQueueAdmitsOneOfAnySize) {  // L-10
  EXPECT_EQ(push({kQueueBytesMax + 1}), "");
  EXPECT_EQ(push({1}), "overloaded");
  EXPECT_EQ(take_counts(), Sizes{1});
  EXPECT_EQ(push({1}), "");
}

TEST_F(CommandQueueTest, ASubmissionEntersWholeOrNotAtAll) {
  EXPECT_EQ(push(Sizes(kQueueCommandsMax - 1, 1)), "");
  EXPECT_EQ(push({1, 1}), "overloaded");
  EXPECT_EQ(intake.queued(), kQueueCommandsMax - 1);
  EXPECT_EQ(push({1}), "");
}

TEST_F(CommandQueueTest, CommandsThatAreNotAppliedAreBounded) {  // 1.3
  std::size_t pushed = 0;
  while (pushed + kQueueCommandsMax <= kUnappliedCommandsMax) {
    ASSERT_EQ(push(Sizes(kQueueCommandsMax, 0)), "");
    pushed += kQueueCommandsMax;
    while (!take_counts().empty()) {}
  }
  ASSERT_EQ(pushed, kUnappliedCommandsMax);
  EXPECT_EQ(push({0}), "overloaded");
  EXPECT_EQ(push({0}, Class::kSystem), "");
  queue.settled({.commands = 2});
  EXPECT_EQ(push({0}), "");
  EXPECT_EQ(push({0}), "overloaded");
}

TEST_F(CommandQueueTest, BytesThatAreNotAppliedAreBounded) {  // 1.3
  for (std::size_t bytes = 0; bytes < kUnappliedBytesMax; bytes += kQueueBytesMax) {
    ASSERT_EQ(push({kQueueBytesMax}), "");
    ASSERT_EQ(take_counts(), Sizes{1});
  }
  EXPECT_EQ(push({1}), "overloaded");
  EXPECT_EQ(push({1}, Class::kSystem), "");
  queue.settled({.commands = 1, .bytes = kQueueBytesMax, .entries = 1});
  EXPECT_EQ(push({1}), "");
}

TEST_F(CommandQueueTest, EntriesThatAreNotAppliedAreBounded) {  // 1.3
  for (std::size_t i = 0; i < kApplyQueueEntriesMax; ++i) {
    ASSERT_EQ(push({0}), "");
    ASSERT_EQ(take_counts(), Sizes{1});
  }
  EXPECT_EQ(push({0}), "overloaded");
  EXPECT_EQ(push({0}, Class::kSystem), "");
  ASSERT_EQ(take_counts(), Sizes{1});
  queue.settled({.commands = 2, .entries = 2});
  EXPECT_EQ(push({0}), "");
}

TEST_F(CommandQueueTest, OneCommandMayBeLargerThanTheQueueButNotSeveral) {  // 1.3, L-10
  EXPECT_EQ(push({kQueueBytesMax + 1}), "");
  ASSERT_EQ(take_counts(), Sizes{1});
  queue.settled({.commands = 1, .bytes = kQueueBytesMax + 1, .entries = 1});
  EXPECT_EQ(push({kQueueBytesMax, 1}), "too_large");
  EXPECT_EQ(push({kQueueBytesMax - 1, 1}), "");
}

TEST_F(CommandQueueTest, WhatCanNeverEnterIsTooLarge) {  // 1.2
  EXPECT_EQ(push({kCommandBytesMax + 1}), "too_large");
  EXPECT_EQ(push({1, kCommandBytesMax + 1}), "too_large");
  EXPECT_EQ(push(Sizes(kQueueCommandsMax + 1, 0)), "too_large");
  EXPECT_EQ(intake.queued(), 0U);
}

TEST_F(CommandQueueTest, AClosedQueueGivesBackWhatWaitedAndRefusesTheRest) {
  EXPECT_EQ(push({1, 1}), "");
  EXPECT_EQ(take_counts(), Sizes{2});
  EXPECT_EQ(push({1, 1, 1}), "");
  EXPECT_EQ(queue.close().size(), 3U);
  EXPECT_EQ(intake.queued(), 0U);
  EXPECT_EQ(push({1}), "stopped");
  EXPECT_EQ(push({1}, Class::kSystem), "stopped");
  EXPECT_EQ(take_counts(), Sizes{});
  queue.settled(
      {.commands = 2, .bytes = 2, .entries = 1});  // What was taken before is settled as ever.
  EXPECT_TRUE(queue.close().empty());
}

TEST_F(CommandQueueTest, UsersAreRefusedWhileTheLogIsTooLarge) {  // L-47
  queue.refuse_users("the log is too large");
  EXPECT_EQ(push({1}), "overloaded");
  EXPECT_EQ(push({1}, Class::kSystem), "");
  queue.refuse_users({});
  EXPECT_EQ(push({1}), "");
}

TEST_F(CommandQueueTest, TheFirstCommandAnnouncesTheGroupOnce) {
  EXPECT_EQ(push({1}), "");
  EXPECT_EQ(push({1}), "");
  EXPECT_EQ(intake.take_groups(), std::vector<GroupId>{kGroup});
  EXPECT_EQ(runner.woken, 1);
}

}  // namespace
}  // namespace cadastre::log
