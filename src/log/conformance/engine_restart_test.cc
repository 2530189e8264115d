// The engine suite: crashes at every step, failing writes, replay and truncation.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "log/conformance/engine_suite_testing.h"

namespace cadastre::log::conformance {
namespace {

constexpr GroupId kOne{1};
constexpr GroupId kTwo{2};

using Outcomes = std::map<GroupId, std::vector<std::shared_ptr<Outcome>>>;

// A history of two groups: some commands alone, some together, a fenced one, a flush of a state, and a
// time without any. Each action comes before the step of its number.
class History {
 public:
  explicit History(Node& node) : node_(node) {}

  // False: the history is over, and nothing has work.
  bool step() {
    act(number_++);
    return node_.step() || number_ <= kActionsMax;
  }

  [[nodiscard]] const Outcomes& outcomes() const noexcept { return outcomes_; }

  void propose(GroupId id) {
    auto& those = outcomes_[id];
    const std::string command = to_string(id) + "." + std::to_string(those.size());
    const Term term = node_.group(id).status().term;
    const bool fenced = those.size() % 4 == 3 && term != kAnyTerm;
    those.push_back(fenced ? node_.propose_if_term(id, term, command) : node_.propose(id, command));
  }

 private:
  static constexpr int kActionsMax = 40;

  void act(int number) {
    switch (number) {
      case 2:
      case 3: propose(kOne); break;
      case 6: propose(kTwo); [[fallthrough]];
      case 9:
        propose(kOne);
        propose(kTwo);
        propose(kOne);
        break;
      case 14: node_.machine(kOne).request_flush(); break;
      case 17:
      case 20:
      case 21: propose(kTwo); break;
      case 24: node_.machine(kTwo).request_flush(); [[fallthrough]];
      case 27:
        for (int i = 0; i < 5; ++i)
          propose(kOne);
        break;
      case 30:
        node_.clock.advance(kHandoverWaitMax);
        (void)node_.host().run_log();
        break;
      case 33: node_.machine(kOne).request_flush(); break;
      default: break;
    }
  }

  Node& node_;
  int number_ = 0;
  Outcomes outcomes_;
};

// What was completed is there, in order, once; what was refused is not; the rest may be.
void expect_kept(const Node& node, const Outcomes& outcomes) {
  for (const auto& [id, those] : outcomes) {
    const std::vector<std::string>& executed = node.machine(id).state().commands;
    std::size_t place = 0;
    for (const auto& outcome : those) {
      ASSERT_EQ(outcome->times, 1) << outcome->command;
      const bool found = place < executed.size() && executed[place] == outcome->command;
      if (found) ++place;
      if (outcome->applied()) {
        EXPECT_TRUE(found) << outcome->command << " was completed and is lost";
        EXPECT_EQ(outcome->count(), place) << outcome->command << " is at another place";
      } else if (outcome->error() != "outcome_unknown") {
        EXPECT_FALSE(found) << outcome->command << " was refused and executed";
      }
    }
    EXPECT_EQ(place, executed.size()) << "group " << id << " executed what nobody proposed";
  }
}

class Restart {
 public:
  explicit Restart(const Environment& where, const Schedule& schedule = kWriterFirst)
      : environment(where), node(where) {
    node.schedule = schedule;
  }

  // Runs the history for so many steps, crashes, and looks. False: the history was over before.
  bool run(int steps, Unsynced unsynced) {
    EXPECT_TRUE(node.try_start({kOne, kTwo}));
    History history(node);
    bool more = true;
    for (int i = 0; i < steps && more; ++i)
      more = history.step();
    node.crash(unsynced);
    outcomes = history.outcomes();
    check();
    return more;
  }
  // Starts, and dies again after so many steps.
  void die_again(int steps, Unsynced unsynced) {
    for (int i = 0; i < steps; ++i)
      node.step();
    node.crash(unsynced);
    check();
  }
  // A new process serves, in a term above all before it.
  void serve() {
    node.catch_up();
    expect_kept(node, outcomes);
    const auto more = node.propose(kOne, "more");
    node.rest();
    EXPECT_TRUE(more->applied()) << more->error();
    EXPECT_GT((*more->answer)->at.term, term);
    EXPECT_EQ(node.machine(kOne).state().commands.back(), "more");
  }

 private:
  void check() {
    const auto started = node.try_start({kOne, kTwo});
    ASSERT_TRUE(started) << started.error().detail;
    if (environment.committed == Committed::kKnownAtOpen) expect_kept(node, outcomes);
    for (const auto& [id, those] : outcomes) {
      for (const auto& outcome : those) {
        if (outcome->applied()) term = std::max(term, (*outcome->answer)->at.term);
      }
    }
  }

  const Environment& environment;
  Node node;
  Outcomes outcomes;
  Term term;
};

// Crashes after step 0, 1, 2, ... until the history is over; how many steps it has.
int crash_after_every_step(const Environment& environment,
                           const Schedule& schedule,
                           Unsynced fate) {
  for (int steps = 0; steps < 2'000; ++steps) {
    Restart restart(environment, schedule);
    const bool more = restart.run(steps, fate);
    if (!testing::Test::HasFailure()) restart.serve();
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "after step " << steps << ", fate " << static_cast<int>(fate);
      return steps;
    }
    if (!more) return steps;
  }
  ADD_FAILURE() << "the history does not end";
  return 0;
}

TEST_P(EngineSuite, ACrashAfterAnyStepLosesNothingThatWasCompleted) {  // L-2, L-4, L-24, L-25
  for (const Unsynced fate : node.disk().fates())
    EXPECT_GT(crash_after_every_step(GetParam(), kApplierFirst, fate), 40);
}

TEST_P(EngineSuite, ACrashAfterAnyStepLosesNothingWhoeverComesFirst) {
  const std::vector<Unsynced> fates = node.disk().fates();
  for (const Unsynced fate : fates) {
    EXPECT_GT(crash_after_every_step(GetParam(), kLogLast, fate), 40);
    // Where a write and its sync are one step, this order shows nothing new.
    if (fates.size() == 1) continue;
    EXPECT_GT(crash_after_every_step(GetParam(), kWriterFirst, fate), 40);
  }
}

TEST_P(EngineSuite, ASecondCrashWhileStartingLosesNothingEither) {  // L-25
  for (const Unsynced fate : node.disk().fates()) {
    for (const int steps : {9, 18, 31}) {
      for (const int second : {0, 1, 2, 3, 4, 6}) {
        Restart restart(GetParam());
        restart.run(steps, fate);
        restart.die_again(second, fate);
        restart.serve();
        ASSERT_FALSE(HasFailure()) << "after steps " << steps << " and " << second;
      }
    }
  }
}

TEST_P(EngineSuite, AnyWriteThatFailsStopsEverythingBeforeAnyoneIsTold) {  // L-49
  for (int failing = 0; failing < 6; ++failing) {
    Node one(GetParam());
    ASSERT_TRUE(one.try_start({kOne, kTwo}));
    History history(one);
    one.fail_write(failing);
    for (int i = 0; i < 2'000 && !one.host().dead(); ++i) {
      history.step();
      if (i % 50 == 49) history.propose(kOne);  // Each one a set.
    }
    ASSERT_TRUE(one.host().dead()) << failing;
    EXPECT_NE(one.runner().failed.find("input/output error"), std::string::npos);
    EXPECT_TRUE(one.host().drained());
    Outcomes outcomes = history.outcomes();
    std::size_t told = 0;
    for (const auto& [id, those] : outcomes)
      told += static_cast<std::size_t>(
          std::ranges::count_if(those, [](const auto& outcome) { return outcome->times != 0; }));
    for (int i = 0; i < 20; ++i)
      one.step();
    one.clock.advance(kSyncHung);
    (void)one.host().run_log();
    std::size_t told_later = 0;
    for (const auto& [id, those] : outcomes)
      told_later += static_cast<std::size_t>(
          std::ranges::count_if(those, [](const auto& outcome) { return outcome->times != 0; }));
    EXPECT_EQ(told_later, told);
    one.crash();
    for (const auto& [id, those] : outcomes) {
      for (const auto& outcome : those)
        EXPECT_TRUE(outcome->applied() || outcome->error() == "outcome_unknown")
            << outcome->error();
    }
    ASSERT_TRUE(one.try_start({kOne, kTwo}));
    one.catch_up();
    expect_kept(one, outcomes);
    ASSERT_FALSE(HasFailure()) << "write " << failing;
  }
}

// Its log thread looks at the disk for so long.
void watch(Node& node, base::Elapsed how_long) {
  for (base::Elapsed past{}; past < how_long && !node.host().dead(); past += kHousekeepingEvery) {
    node.clock.advance(kHousekeepingEvery);
    (void)node.host().run_log();
  }
}

TEST_P(EngineSuite, ASyncThatDoesNotComeBackEndsTheProcess) {  // L-51
  start();
  node.rest();
  const auto one = node.propose(kGroup, "one");
  while (node.runner().step_log(node.host())) {}
  ASSERT_TRUE(node.host().begin_write());
  watch(node, kSyncLate);
  EXPECT_EQ(node.host().metrics().late_syncs.load(), 1U);
  EXPECT_FALSE(node.host().dead());
  watch(node, kSyncHung - kSyncLate);
  EXPECT_TRUE(node.host().dead());
  EXPECT_FALSE(node.runner().failed.empty());
  EXPECT_EQ(one->times, 0);
}

// A process that was stopped during a sync looks at its clock before the disk's answer reaches it.
TEST_P(EngineSuite, APauseIsNotTheDisksFault) {  // L-51
  start();
  node.rest();
  const auto one = node.propose(kGroup, "one");
  while (node.runner().step_log(node.host())) {}
  ASSERT_TRUE(node.host().begin_write());
  node.clock.advance(10 * kSyncHung);
  (void)node.host().run_log();
  EXPECT_FALSE(node.host().dead());
  EXPECT_EQ(node.host().metrics().late_syncs.load(), 0U);
  watch(node, kSyncHung);
  EXPECT_TRUE(node.host().dead()) << "and a disk that hangs besides ends it all the same";
}

TEST_P(EngineSuite, ReplaySkipsWhatTheStateHas) {  // L-4, L-25
  start();
  for (int i = 0; i < 10; ++i) {
    (void)node.propose(kGroup, std::to_string(i));
    node.rest();
    if (i == 4) node.machine(kGroup).request_flush();
  }
  const LedgerState before = node.machine(kGroup).state();
  const Index flushed = node.machine(kGroup).durable().index;
  node.crash();
  EXPECT_EQ(node.ledgers[kGroup].flushed.commands.size(), 5U);
  start();
  node.catch_up();
  EXPECT_EQ(node.machine(kGroup).state().digest, before.digest);
  EXPECT_GE(node.machine(kGroup).state().applied.index, before.applied.index);
  EXPECT_EQ(node.machine(kGroup).durable().index, flushed);
}

TEST_P(EngineSuite, AStateThatLostWhatWasFlushedIsNotOpened) {  // L-53
  node.settings.retention.truncate_entries_min = 10;
  start();
  for (int i = 0; i < 10; ++i) {
    (void)node.propose(kGroup, "x");
    node.rest();
  }
  node.machine(kGroup).request_flush();
  node.keep_house();
  node.keep_house();
  ASSERT_GT(node.group(kGroup).status().truncated, Index{0});
  node.crash();
  node.ledgers[kGroup] = {};
  const auto started = node.try_start({kGroup});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, OpenError::kDamaged);
  EXPECT_NE(started.error().detail.find("the state lost flushed entries"), std::string::npos);
}

TEST_P(EngineSuite, AStateOfAnotherHistoryIsNotOpened) {  // L-53, R16
  start();
  (void)node.propose(kGroup, "one");
  node.rest();
  node.machine(kGroup).request_flush();
  node.crash();
  LedgerState& state = node.ledgers[kGroup].flushed;
  state.applied.term = Term{state.applied.term.value() + 1};
  const auto started = node.try_start({kGroup});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, OpenError::kDamaged);
  EXPECT_NE(started.error().detail.find("the log lost synced entries"), std::string::npos);
}

TEST_P(EngineSuite, ACrashAtAnyStepOfATruncationKeepsWhatIsNotFlushed) {  // L-26, L-46
  bool truncated = false;
  for (int steps = 0; steps < 8; ++steps) {
    Node one(GetParam());
    one.settings.retention.truncate_entries_min = 10;
    ASSERT_TRUE(one.try_start({kGroup}));
    for (int i = 0; i < 10; ++i) {
      (void)one.propose(kGroup, "x");
      one.rest();
    }
    one.machine(kGroup).request_flush();
    const Index flushed = one.machine(kGroup).durable().index;
    (void)one.propose(kGroup, "not flushed");
    one.keep_house();  // The applier is asked what is durable,
    one.clock.advance(kTruncateEvery);
    (void)one.host().run_log();  // and the log is truncated.
    EXPECT_LE(one.group(kGroup).status().truncated, flushed);
    for (int i = 0; i < steps; ++i)
      one.step();
    const LedgerState before = one.machine(kGroup).state();
    one.crash();
    const auto started = one.try_start({kGroup});
    ASSERT_TRUE(started) << steps << ": " << started.error().detail;
    one.catch_up();
    EXPECT_EQ(one.machine(kGroup).state().digest, before.digest) << steps;
    one.rest();
    truncated = one.group(kGroup).status().truncated == flushed;
  }
  EXPECT_TRUE(truncated);  // At the latest when all steps were made.
}

TEST_P(EngineSuite, TwoTruncationsMayWaitForOneSlowSync) {  // L-46, L-51
  node.settings.retention.truncate_entries_min = 5;
  start();
  const auto commands = [&] {
    for (int i = 0; i < 10; ++i) {
      (void)node.propose(kGroup, "x");
      node.rest();
    }
    node.machine(kGroup).request_flush();
  };
  commands();
  commands();  // Both halves are applied, the first is known to be durable.
  (void)node.propose(kGroup, "in a slow disk");
  while (node.runner().step_log(node.host())) {}
  const auto set = node.host().begin_write();
  ASSERT_TRUE(set);
  node.clock.advance(kTruncateEvery);
  (void)node.host().run_log();
  const Index first = node.group(kGroup).status().truncated;
  EXPECT_GT(first, Index{0});
  while (node.runner().step_applier(node.host())) {}  // All is known to be durable.
  node.clock.advance(kTruncateEvery);
  (void)node.host().run_log();
  const Index second = node.group(kGroup).status().truncated;
  EXPECT_GT(second, first);
  node.disk().append(node.storage(), *set);
  node.host().finish_write(node.disk().sync(node.storage(), *set));
  node.rest();
  const LedgerState before = node.machine(kGroup).state();
  node.crash();
  start();
  node.catch_up();
  EXPECT_EQ(node.machine(kGroup).state().digest, before.digest);
  node.rest();
  EXPECT_EQ(node.group(kGroup).status().truncated, second);
}

}  // namespace
}  // namespace cadastre::log::conformance
