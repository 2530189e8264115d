#include "log/applier.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "log/ledger_testing.h"

namespace cadastre::log {
namespace {

constexpr GroupId kGroup{7};

class CountingRunner final : public Runner {
 public:
  void wake_log() override { ++log_woken; }
  void wake_writer() override {}
  void wake_reader() override {}
  void wake_applier(GroupId) override { ++applier_woken; }
  void fail_stop(std::string_view) override {}

  int log_woken = 0;
  int applier_woken = 0;
};

class ApplierTest : public ::testing::Test {
 protected:
  // A committed entry with one command, which the caller waits for as `name`.
  ApplyItem item(std::uint64_t index, const std::string& command, std::size_t padding = 0) {
    const std::string text = command + std::string(padding, ' ');
    BodyBuilder builder;
    builder.add({base::as_bytes(text), base::crc32c(base::as_bytes(text))});
    ApplyItem made;
    made.entry = {{Term{2}, Index{index}}, EntryType::kNormal, builder.close(0)};
    made.waiters = waiters(command);
    return made;
  }
  EntryWaiters waiters(const std::string& name) {
    EntryWaiters made;
    made.done.emplace_back([this, name](Answer answer) {
      told.push_back(name + (answer ? ": applied at " + to_string(answer->at)
                                    : ": " + std::string(name_of(answer.error().code))));
      applied_when_told.push_back(applier.applied());
    });
    made.bytes = 1;
    // What an engine accepted was in the queue before.
    std::vector<Proposal> proposals;
    proposals.push_back({base::as_bytes("x"), [](const Answer&) {
                         }});
    EXPECT_TRUE(queue.push({.proposals = proposals}, {}));
    (void)queue.take(0);
    return made;
  }
  template <class... Work>
  void push(Work... work) {
    std::vector<ApplyWork> all;
    (all.emplace_back(std::move(work)), ...);
    applier.push(std::move(all));
  }
  void run_all() {
    while (applier.run()) {}
  }

  CountingRunner runner;
  base::ManualClock clock;
  Intake intake{runner};
  CommandQueue queue{kGroup, intake};
  GroupMetrics metrics;
  LedgerDisk disk;
  LedgerMachine machine{disk};
  Attention attention{runner};
  Applier applier{{.group = kGroup,
                   .machine = machine,
                   .runner = runner,
                   .attention = attention,
                   .clock = clock},
                  queue,
                  metrics};
  std::vector<std::string> told;
  std::vector<Index> applied_when_told;
};

using Told = std::vector<std::string>;

TEST_F(ApplierTest, AnotherTermsEntrySupersedesWhoWaitedInItsPlace) {  // 1.5, L-14
  ApplyItem first = item(1, "theirs");
  first.superseded.push_back(waiters("ours"));
  push(std::move(first));
  run_all();
  EXPECT_EQ(told, (Told{"ours: superseded", "theirs: applied at 2/1"}));
  EXPECT_EQ(machine.state().commands, std::vector<std::string>{"theirs"});
  EXPECT_EQ(metrics.errors[static_cast<std::size_t>(ProposeError::kSuperseded)].load(), 1U);
}

TEST_F(ApplierTest, AnswersComeAfterTheRoundIsVisible) {  // L-16, L-18
  push(item(1, "a"), item(2, "b"));
  run_all();
  EXPECT_EQ(told, (Told{"a: applied at 2/1", "b: applied at 2/2"}));
  EXPECT_EQ(applied_when_told, (std::vector<Index>{Index{2}, Index{2}}));
}

TEST_F(ApplierTest, ARoundIsBoundedByEntriesAndByBytes) {  // L-18
  for (std::uint64_t index = 1; index <= kRoundEntriesMax + 1; ++index)
    push(item(index, "x"));
  EXPECT_TRUE(applier.run());
  EXPECT_EQ(told.size(), kRoundEntriesMax);
  EXPECT_FALSE(applier.run());
  EXPECT_EQ(told.size(), kRoundEntriesMax + 1);
  told.clear();
  const std::uint64_t next = kRoundEntriesMax + 2;
  push(item(next, "a", kRoundBytesMax), item(next + 1, "b", kRoundBytesMax / 2),
       item(next + 2, "c", kRoundBytesMax / 4));
  EXPECT_TRUE(applier.run());
  EXPECT_EQ(told.size(), 1U);  // Larger than a round, alone.
  EXPECT_FALSE(applier.run());
  EXPECT_EQ(told.size(), 3U);
}

TEST_F(ApplierTest, AMarkerEndsTheRoundBeforeIt) {  // L-19
  Position at;
  push(item(1, "a"),
       CheckpointMarker{{},
                        [&](const base::Result<Position, CheckpointError>& made) {
                          at = *made;
                        }},
       item(2, "b"));
  run_all();
  EXPECT_EQ(at, (Position{Term{2}, Index{1}}));
  EXPECT_EQ(told.size(), 2U);
}

TEST_F(ApplierTest, AReaderWaitsForItsIndex) {  // L-80
  std::optional<Index> read;
  push(ReadBarrier{Index{2},
                   [&](const ReadAnswer& answer) {
                     read = answer->applied;
                   }},
       item(1, "a"));
  run_all();
  EXPECT_FALSE(read);
  push(item(2, "b"));
  run_all();
  EXPECT_EQ(read, Index{2});
}

TEST_F(ApplierTest, ReadersWhoComeTogetherAreAnsweredTogether) {
  std::string order;
  const auto reader = [&](char name) {
    return ReadBarrier{Index{0}, [&order, name](const ReadAnswer&) {
                         order += name;
                       }};
  };
  push(reader('a'), reader('b'), item(1, "x"), reader('c'), DurablePoll{}, reader('d'));
  EXPECT_TRUE(applier.run());
  EXPECT_EQ(order, "ab");
  EXPECT_TRUE(applier.run());  // The entry,
  EXPECT_TRUE(applier.run());
  EXPECT_EQ(order, "abc");
  EXPECT_TRUE(applier.run());  // the look,
  EXPECT_FALSE(applier.run());
  EXPECT_EQ(order, "abcd");
}

TEST_F(ApplierTest, WhenItHaltsEverybodyLearnsIt) {  // L-20
  std::optional<ReadError> read;
  push(ReadBarrier{Index{9}, [&](const ReadAnswer& answer) {
                     read = answer.error().code;
                   }});
  run_all();
  ApplyItem later = item(3, "later");
  push(item(1, machine.poison), item(2, "behind"));
  run_all();
  push(std::move(later));
  run_all();
  EXPECT_EQ(told, (Told{machine.poison + ": outcome_unknown", "behind: outcome_unknown",
                        "later: outcome_unknown"}));
  EXPECT_EQ(read, ReadError::kStopped);
  EXPECT_TRUE(applier.halted());
  EXPECT_FALSE(applier.progress().halted.empty());
  EXPECT_GT(runner.log_woken, 0);
  EXPECT_TRUE(applier.idle());
}

// The log thread ends the group while its applier is about to say how far it is.
TEST_F(ApplierTest, TheReasonOfAnEndIsNotOverwritten) {  // L-20
  class Ending final : public LedgerMachine {
   public:
    using LedgerMachine::LedgerMachine;
    [[nodiscard]] Position durable() const override {
      if (const auto told = std::exchange(meanwhile, nullptr)) told();
      return LedgerMachine::durable();
    }
    mutable std::function<void()> meanwhile;
  };
  Ending ending{disk};
  Applier ended{{.group = kGroup,
                 .machine = ending,
                 .runner = runner,
                 .attention = attention,
                 .clock = clock},
                queue,
                metrics};
  ending.meanwhile = [&] {
    ended.end("it was removed");
  };
  std::vector<ApplyWork> work;
  work.emplace_back(DurablePoll{});
  ended.push(std::move(work));
  while (ended.run()) {}
  EXPECT_EQ(ended.progress().halted, "it was removed");
}

TEST_F(ApplierTest, AFlushIsAskedForOnItsOwnThread) {
  push(item(1, "a"));
  run_all();
  EXPECT_EQ(applier.progress().durable, Position{});
  push(DurablePoll{.flush = false});
  run_all();
  EXPECT_EQ(applier.progress().durable, Position{});
  push(DurablePoll{.flush = true});
  run_all();
  EXPECT_EQ(applier.progress().durable, (Position{Term{2}, Index{1}}));
}

TEST_F(ApplierTest, LooksThatWaitAreOne) {  // L-8
  push(item(1, "a"));
  for (int i = 0; i < 1'000; ++i)
    push(DurablePoll{.flush = i == 500});
  EXPECT_TRUE(applier.run());   // The entry.
  EXPECT_FALSE(applier.run());  // And all of them at once.
  EXPECT_EQ(applier.progress().durable, (Position{Term{2}, Index{1}}));
}

TEST_F(ApplierTest, WhoAsksAboutACheckpointIsAnsweredAlsoWhenTheGroupHasHalted) {  // L-74
  const auto ask = [&] {
    push(CheckMarker{{"/staged", {}}, [&](const base::Result<void, InstallError>& answer) {
                       told.emplace_back(answer ? "good" : answer.error().detail);
                     }});
    run_all();
  };
  machine.outdated = true;
  ask();
  EXPECT_EQ(told, Told{"of a release that is not known here"});
  EXPECT_FALSE(applier.halted());
  applier.end("over");
  ask();
  EXPECT_EQ(told.back(), "over");
}

}  // namespace
}  // namespace cadastre::log
