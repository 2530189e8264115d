#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/crc32c.h"
#include "log/conformance/engine_suite_testing.h"
#include "log/conformance/environments_testing.h"

namespace cadastre::log::conformance {
namespace {

INSTANTIATE_TEST_SUITE_P(Environments,
                         EngineSuite,
                         testing::Values(local_on_memory(), local_on_rocks()),
                         environment_name);

using Commands = std::vector<std::string>;
using Notes = std::vector<std::string>;

TEST_P(EngineSuite, ACommandIsAnsweredWithItsPositionAndResult) {  // L-2
  start();
  const auto one = node.propose(kGroup, "one");
  const auto two = node.propose(kGroup, "two");
  node.rest();
  ASSERT_TRUE(one->applied()) << one->error();
  ASSERT_TRUE(two->applied()) << two->error();
  EXPECT_EQ(one->times, 1);
  EXPECT_EQ(one->count(), 1U);
  EXPECT_EQ(two->count(), 2U);
  EXPECT_EQ((*one->answer)->at.term, node.group(kGroup).status().term);
  EXPECT_GT((*one->answer)->at.index, node.group(kGroup).status().term_start);
  EXPECT_EQ(executed(), (Commands{"one", "two"}));
}

TEST_P(EngineSuite, NothingIsAnsweredOrExecutedBeforeItsSetIsSynced) {  // L-2, 5.2
  start();
  node.rest();
  const auto one = node.propose(kGroup, "one");
  while (node.runner().step_log(node.host())) {}
  const auto set = node.host().begin_write();
  ASSERT_TRUE(set);
  node.disk().append(node.storage(), *set);
  node.rest();
  EXPECT_EQ(one->times, 0);
  EXPECT_TRUE(executed().empty());
  EXPECT_LT(node.group(kGroup).status().persisted, node.group(kGroup).status().last);
  EXPECT_LE(node.group(kGroup).status().applied, node.group(kGroup).status().persisted);
  node.host().finish_write(node.disk().sync(node.storage(), *set));
  node.rest();
  EXPECT_TRUE(one->applied());
}

TEST_P(EngineSuite, CommandsEnterInTheOrderOfAcceptanceWhateverTheirClass) {  // L-5
  start();
  node.rest();
  Commands expected;
  std::vector<std::shared_ptr<Outcome>> outcomes;
  for (int i = 0; i < 300; ++i) {
    expected.push_back("command " + std::to_string(i));
    switch (i % 3) {
      case 0: outcomes.push_back(node.propose(kGroup, expected.back())); break;
      case 1: outcomes.push_back(node.propose(kGroup, expected.back(), Class::kSystem)); break;
      case 2:
        outcomes.push_back(
            node.propose_if_term(kGroup, node.group(kGroup).status().term, expected.back()));
        break;
    }
    if (i % 7 == 0) node.step();
  }
  node.rest();
  EXPECT_EQ(executed(), expected);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    ASSERT_TRUE(outcomes[i]->applied()) << i << ": " << outcomes[i]->error();
    EXPECT_EQ(outcomes[i]->count(), i + 1);
  }
}

TEST_P(EngineSuite, CommandsOfOneCallAreNeighbours) {  // 1.2
  start();
  const Commands texts{"a", "b", "c"};
  std::vector<Proposal> proposals;
  std::vector<std::shared_ptr<Outcome>> outcomes;
  for (const std::string& text : texts) {
    outcomes.push_back(std::make_shared<Outcome>());
    proposals.push_back({base::as_bytes(text), Node::note(outcomes.back())});
  }
  (void)node.propose(kGroup, "before");
  node.group(kGroup).propose(proposals, Class::kUser);
  (void)node.propose(kGroup, "after");
  node.rest();
  EXPECT_EQ(executed(), (Commands{"before", "a", "b", "c", "after"}));
  for (const auto& outcome : outcomes)
    EXPECT_EQ(outcome->times, 1);
}

TEST_P(EngineSuite, WhatWaitsTogetherIsOneEntryAndOneSync) {  // L-10, L-12
  start();
  node.rest();
  const std::uint64_t sets = node.host().metrics().set_commands.read().count();
  std::vector<std::shared_ptr<Outcome>> outcomes;
  for (std::size_t i = 0; i < kBatchCommandsMax + 1; ++i)
    outcomes.push_back(node.propose(kGroup, "x"));
  node.rest();
  EXPECT_EQ(node.host().metrics().set_commands.read().count(), sets + 1);
  const Index first = (*outcomes.front()->answer)->at.index;
  EXPECT_EQ((*outcomes[kBatchCommandsMax - 1]->answer)->at.index, first);
  EXPECT_EQ((*outcomes[kBatchCommandsMax]->answer)->at.index, first + 1);
}

TEST_P(EngineSuite, AllGroupsShareTheSync) {  // L-12
  std::vector<GroupId> groups;
  for (std::uint64_t id = 1; id <= 20; ++id)
    groups.push_back(GroupId{id});
  start(groups);
  node.rest();
  const auto before = node.host().metrics().set_groups.read();
  for (const GroupId id : groups)
    (void)node.propose(id, "to " + to_string(id));
  node.rest();
  const auto after = node.host().metrics().set_groups.read();
  EXPECT_EQ(after.count(), before.count() + 1);
  EXPECT_EQ(after.sum, before.sum + groups.size());
  for (const GroupId id : groups)
    EXPECT_EQ(executed(id), Commands{"to " + to_string(id)});
}

TEST_P(EngineSuite, RefusalsSayThatNothingWasAppended) {  // 1.5
  start();
  node.rest();
  const Index last = node.group(kGroup).status().last;
  EXPECT_EQ(node.propose(kGroup, std::string(kCommandBytesMax + 1, 'x'))->error(), "too_large");
  const Term term = node.group(kGroup).status().term;
  const auto old = node.propose_if_term(kGroup, Term{term.value() + 1}, "fenced");
  node.rest();
  EXPECT_EQ(old->error(), "not_leader");
  EXPECT_EQ(old->times, 1);
  EXPECT_EQ(node.group(kGroup).status().last, last);
  EXPECT_TRUE(executed().empty());
}

TEST_P(EngineSuite, TheLargestCommandPasses) {  // L-10
  start();
  const auto outcome = node.propose(kGroup, std::string(kCommandBytesMax, 'x'));
  const auto behind = node.propose(kGroup, "behind it");
  EXPECT_EQ(behind->error(), "overloaded");  // 1.3: the queue is full of bytes.
  node.rest();
  EXPECT_TRUE(outcome->applied()) << outcome->error();
  EXPECT_EQ(executed().size(), 1U);
}

TEST_P(EngineSuite, AFloodIsRefusedUntilItIsApplied) {  // 1.3
  start();
  node.rest();
  const std::string megabyte(kMiB, 'x');
  std::vector<std::shared_ptr<Outcome>> accepted;
  std::shared_ptr<Outcome> outcome;
  for (int i = 0; i < 100; ++i) {
    outcome = node.propose(kGroup, megabyte);
    if (outcome->times != 0) break;
    accepted.push_back(outcome);
    node.rest_unapplied();
    node.clock.advance(kHandoverWaitMax);
    (void)node.host().run_log();
  }
  EXPECT_EQ(outcome->error(), "overloaded");
  EXPECT_EQ(accepted.size(), kUnappliedBytesMax / kMiB);
  node.rest();
  for (const auto& one : accepted)
    EXPECT_TRUE(one->applied()) << one->error();
  const auto later = node.propose(kGroup, "later");
  node.rest();
  EXPECT_TRUE(later->applied());
  EXPECT_EQ(executed().size(), accepted.size() + 1);
}

TEST_P(EngineSuite, AReadSeesEverythingThatWasCompletedBefore) {  // L-83
  start();
  const auto one = node.propose(kGroup, "one");
  node.rest_unapplied();
  std::optional<Index> seen;
  node.group(kGroup).read_barrier(ReadMode::kLinearizable, [&](ReadAnswer answer) {
    ASSERT_TRUE(answer);
    seen = answer->applied;
    EXPECT_EQ(executed(), Commands{"one"});
  });
  node.rest_unapplied();
  EXPECT_FALSE(seen);
  node.rest();
  ASSERT_TRUE(seen);
  EXPECT_GE(*seen, (*one->answer)->at.index);
}

TEST_P(EngineSuite, AReadOfAnIdleGroupIsAnsweredAtOnce) {
  start();
  node.rest();
  int answers = 0;
  node.group(kGroup).read_barrier(ReadMode::kLinearizable, [&](const ReadAnswer& answer) {
    EXPECT_TRUE(answer);
    ++answers;
  });
  node.rest();
  EXPECT_EQ(answers, 1);
}

TEST_P(EngineSuite, TooManyReadersOfAGroupAreRefused) {  // 1.3
  constexpr GroupId kOther{8};
  start({kGroup, kOther});
  node.rest();
  std::size_t answered = 0;
  std::size_t refused = 0;
  const auto ask = [&](GroupId id, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) {
      node.group(id).read_barrier(ReadMode::kLinearizable, [&](const ReadAnswer& answer) {
        ++answered;
        if (answer) return;
        EXPECT_EQ(answer.error().code, ReadError::kOverloaded);
        ++refused;
      });
    }
  };
  ask(kGroup, kReadBarriersMax / 2);
  node.rest_unapplied();  // They wait in the applier now, and count all the same.
  ask(kGroup, kReadBarriersMax / 2);
  EXPECT_EQ(refused, 0U);
  ask(kGroup, 5);
  EXPECT_EQ(refused, 5U);
  ask(kOther, 1);
  EXPECT_EQ(refused, 5U);
  node.rest();
  EXPECT_EQ(answered, kReadBarriersMax + 6);
  ask(kGroup, 1);
  node.rest();
  EXPECT_EQ(refused, 5U);
}

TEST_P(EngineSuite, LeadershipBeginsWhenTheTermsFirstEntryIsApplied) {  // L-22, L-94
  start();
  node.rest_unapplied();
  EXPECT_EQ(node.group(kGroup).status().role, Role::kFollower);
  EXPECT_TRUE(node.leadership(kGroup).empty());
  node.rest();
  EXPECT_EQ(node.group(kGroup).status().role, Role::kLeader);
  const auto acquired = [this] {
    const GroupStatus status = node.group(kGroup).status();
    return Notes{"acquired " + to_string(status.term) + " at " + to_string(status.term_start)};
  };
  EXPECT_EQ(node.leadership(kGroup), acquired());
  const Term before = node.group(kGroup).status().term;
  (void)node.propose(kGroup, "one");
  node.rest();
  EXPECT_EQ(node.leadership(kGroup).size(), 1U);
  node.crash();
  start();
  node.rest();
  EXPECT_EQ(node.leadership(kGroup), acquired());
  EXPECT_GT(node.group(kGroup).status().term, before);
}

TEST_P(EngineSuite, ATermFencesTheWorkOfAnEarlierRun) {  // L-17, L-22, L-95
  start();
  node.rest();
  const Term before = node.group(kGroup).status().term;
  node.crash();
  start();
  const auto old = node.propose_if_term(kGroup, before, "of the run before");
  node.rest();
  EXPECT_EQ(old->error(), "not_leader");
  const auto fresh = node.propose_if_term(kGroup, node.group(kGroup).status().term, "of this one");
  node.rest();
  EXPECT_TRUE(fresh->applied());
  EXPECT_EQ(executed(), Commands{"of this one"});
}

TEST_P(EngineSuite, ACommandThatNobodyKnowsHaltsItsGroupOnly) {  // L-20
  constexpr GroupId kOther{8};
  start({kGroup, kOther});
  const auto poison = node.propose(kGroup, node.machine(kGroup).poison);
  node.rest();
  EXPECT_EQ(poison->error(), "outcome_unknown");
  EXPECT_EQ(poison->times, 1);
  EXPECT_EQ(node.propose(kGroup, "later")->error(), "stopped");
  EXPECT_EQ(node.group(kGroup).status().role, Role::kHalted);
  EXPECT_FALSE(node.group(kGroup).status().halted.empty());
  std::optional<ReadError> read;
  node.group(kGroup).read_barrier(ReadMode::kLinearizable,
                                  [&](const ReadAnswer& answer) { read = answer.error().code; });
  std::optional<CheckpointError> made;
  node.group(kGroup).checkpoint({}, [&](const base::Result<Position, CheckpointError>& answer) {
    made = answer.error().code;
  });
  const auto fine = node.propose(kOther, "fine");
  node.rest();
  EXPECT_EQ(read, ReadError::kStopped);
  EXPECT_EQ(made, CheckpointError::kStopped);
  EXPECT_TRUE(fine->applied()) << fine->error();
}

TEST_P(EngineSuite, AStateThatCannotBeWrittenHaltsItsGroup) {  // L-3, L-20
  start();
  node.rest();
  node.machine(kGroup).broken = true;
  const auto one = node.propose(kGroup, "one");
  node.rest();
  EXPECT_EQ(one->error(), "outcome_unknown");
  EXPECT_EQ(node.group(kGroup).status().role, Role::kHalted);
  EXPECT_FALSE(node.host().dead());
}

TEST_P(EngineSuite, ACheckpointStandsAtWhatIsApplied) {
  start();
  const auto one = node.propose(kGroup, "one");
  node.rest_unapplied();
  std::optional<Position> at;
  node.group(kGroup).checkpoint({}, [&](const base::Result<Position, CheckpointError>& answer) {
    ASSERT_TRUE(answer);
    at = *answer;
  });
  const auto two = node.propose(kGroup, "two");
  node.rest();
  ASSERT_TRUE(one->applied() && two->applied());
  EXPECT_EQ(at, (*one->answer)->at);
}

TEST_P(EngineSuite, StopFinishesWhatIsUnderWayAndRefusesTheRest) {
  start();
  node.rest();
  const auto under_way = node.propose(kGroup, "under way");
  while (node.runner().step_log(node.host())) {}  // It is in the writer now.
  const auto queued = node.propose(kGroup, "queued");
  node.host().stop();
  while (node.runner().step_log(node.host())) {}
  EXPECT_FALSE(node.host().drained());
  node.rest();
  EXPECT_TRUE(under_way->applied()) << under_way->error();
  EXPECT_EQ(queued->error(), "stopped");
  EXPECT_EQ(node.propose(kGroup, "late")->error(), "stopped");
  std::optional<ReadError> read;
  node.group(kGroup).read_barrier(ReadMode::kLinearizable,
                                  [&](const ReadAnswer& answer) { read = answer.error().code; });
  node.rest();
  EXPECT_EQ(read, ReadError::kStopped);
  EXPECT_TRUE(node.host().drained());
  EXPECT_FALSE(node.host().dead());
  node.crash();
  start();
  node.catch_up();
  EXPECT_EQ(executed(), Commands{"under way"});
}

TEST_P(EngineSuite, StopWaitsForASetThatNobodyWaitsFor) {
  start();
  while (node.runner().step_log(node.host())) {}  // The term's first entry is in the writer.
  node.host().stop();
  while (node.runner().step_log(node.host())) {}
  EXPECT_FALSE(node.host().drained());
  node.rest();
  EXPECT_TRUE(node.host().drained());
}

TEST_P(EngineSuite, WhoeverWaitsWhenTheProcessEndsIsToldOnce) {  // 1.5
  start();
  node.rest();
  const auto in_writer = node.propose(kGroup, "in the writer");
  int answered = 0;
  const auto ask = [&] {
    node.group(kGroup).read_barrier(ReadMode::kLinearizable, [&](const ReadAnswer& answer) {
      EXPECT_EQ(answer.error().code, ReadError::kStopped);
      ++answered;
    });
    node.group(kGroup).checkpoint({}, [&](const base::Result<Position, CheckpointError>& answer) {
      EXPECT_EQ(answer.error().code, CheckpointError::kStopped);
      ++answered;
    });
  };
  ask();  // Goes to the applier.
  while (node.runner().step_log(node.host())) {}
  const auto queued = node.propose(kGroup, "in the queue");
  ask();  // Not yet taken.
  node.crash();
  EXPECT_EQ(in_writer->error(), "outcome_unknown");
  EXPECT_EQ(queued->error(), "outcome_unknown");
  EXPECT_EQ(in_writer->times, 1);
  EXPECT_EQ(queued->times, 1);
  EXPECT_EQ(answered, 4);
}

// Writes a group whose one entry has this body, which it should not; the entry's position.
Position write_body(const Environment& environment, LogStorage& storage, const Bytes& body) {
  const auto recovered = storage.recover();
  EXPECT_TRUE(recovered);
  const GroupWrite write = environment.first_write(EngineSuite::kGroup, Body::copy_of(body));
  const SetNumber number{recovered->last_set.value() + 1};
  EXPECT_TRUE(storage.write({.number = number, .groups = {write}, .bytes = 0}));
  return write.last;
}

TEST_P(EngineSuite, AnEntryThatIsNotWhatWasProposedIsNotReplayed) {  // L-13, L-25
  BodyBuilder builder;
  builder.add({base::as_bytes("one"), base::crc32c(base::as_bytes("one"))});
  Bytes body = base::to_owned(builder.close(0).bytes());
  body.back() ^= std::byte{1};
  const Position at = write_body(GetParam(), **node.disk().open(), body);
  const auto started = node.try_start({kGroup});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, OpenError::kDamaged);
  EXPECT_NE(started.error().detail.find("group 7: entry " + to_string(at)), std::string::npos)
      << started.error().detail;
}

TEST_P(EngineSuite, AnEntryOfANewerReleaseSaysSo) {  // 1.4
  (void)write_body(GetParam(), **node.disk().open(), Bytes(32, std::byte{2}));
  const auto started = node.try_start({kGroup});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, OpenError::kNewer);
}

}  // namespace
}  // namespace cadastre::log::conformance
