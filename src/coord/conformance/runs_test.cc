// Group C, first part: how runs begin and end.

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "coord/backend.h"
#include "coord/conformance/suite_testing.h"
#include "coord/conformance/words_testing.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/op_log.h"
#include "coord/run_creation.h"
#include "coord/run_record.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"

namespace cadastre::coord::conformance {
namespace {

struct Ending {
  std::string_view name;
  RunStatus status;
};
constexpr std::array kEndings{Ending{"complete", RunStatus::kDone},
                              Ending{"fail", RunStatus::kFailed},
                              Ending{"cancel", RunStatus::kCancelled}};

auto end_run(Conformance& suite, RunStatus status, LogicalTime now, OpId op) {
  if (status == RunStatus::kDone) return suite.complete_run(now, op);
  if (status == RunStatus::kFailed) return suite.fail_run(now, op);
  return suite.cancel_run(now, op);
}

std::vector<InitialShardInput> one_root() {
  return {{kShard, spec("a"_b, "z"_b)}};
}

TEST_P(Conformance, C1AnEndIsFinal) {
  for (const Ending& first : kEndings) {
    open();
    EXPECT_TRUE(executed(end_run(*this, first.status, 10_t, 1_op))) << first.name;
    EXPECT_EQ(run().status, first.status);
    for (const Ending& second : kEndings) {
      EXPECT_EQ(refusal(end_run(*this, second.status, 11_t, 2_op)), RunTerminal{first.status})
          << second.name << " after " << first.name;
    }
    EXPECT_TRUE(replayed(end_run(*this, first.status, 12_t, 1_op))) << first.name;
  }
}

TEST_P(Conformance, C1AnOpIdEndsOneWayOnly) {
  EXPECT_TRUE(executed(complete_run(10_t, 1_op)));
  EXPECT_EQ(refusal(fail_run(11_t, 1_op)), RunOpIdConflict{1_op});
  EXPECT_EQ(refusal(cancel_run(11_t, 1_op)), RunOpIdConflict{1_op});
  EXPECT_EQ(refusal(register_shards(11_t, kRun, one_root(), 1_op)), RunOpIdConflict{1_op});
  EXPECT_EQ(refusal(complete_run(11_t, kRegistration)), RunOpIdConflict{kRegistration});
}

TEST_P(Conformance, C2ShardsAreRegisteredOnce) {
  const auto register_again = [&] {
    return register_shards(10_t, kRun, one_root(), 1_op);
  };
  EXPECT_EQ(refusal(register_again()), (WrongStatus{RunStatus::kActive, std::nullopt}));
  for (const Ending& ending : kEndings) {
    open();
    EXPECT_TRUE(executed(end_run(*this, ending.status, 9_t, 9_op)));
    EXPECT_EQ(refusal(register_again()), (WrongStatus{ending.status, std::nullopt}));
  }
  EXPECT_EQ(refusal(register_shards(10_t, 2_run, one_root(), 1_op)), RunNotFound{2_run});
}

TEST_P(Conformance, C3ARunIsCompletedExactlyWhenItIsOver) {
  EXPECT_EQ(run().completed_at, std::nullopt);
  EXPECT_EQ(run().created_at, 1_t);
  for (const Ending& ending : kEndings) {
    open();
    EXPECT_TRUE(executed(end_run(*this, ending.status, 10_t, 1_op)));
    EXPECT_EQ(run().completed_at, 10_t);
    EXPECT_EQ(run().op_log.get(1)->executed_at, 10_t);
  }
}

// D-9: a clock that steps back ends a run no earlier than it began.
TEST_P(Conformance, C3ARunDoesNotEndBeforeItBegan) {
  ASSERT_TRUE(create_run(50_t, 2_run, config()));
  EXPECT_TRUE(executed(register_shards(60_t, 2_run, one_root(), 1_op)));
  EXPECT_TRUE(executed(complete_run(40_t, 2_op, 2_run)));
  EXPECT_EQ(run(2_run).completed_at, 50_t);
  EXPECT_EQ(run(2_run).op_log.get(1)->executed_at, 60_t);
}

TEST_P(Conformance, C4NothingIsUnparkedInARunThatIsOver) {
  for (const Ending& ending : kEndings) {
    open();
    const Lease lease = take(10_t, 1_w);
    EXPECT_TRUE(executed(park(11_t, lease, ParkReason::kOther, 1_op)));
    EXPECT_TRUE(executed(unpark(12_t, 2_op)));
    EXPECT_TRUE(executed(park(13_t, take(12_t, 1_w), ParkReason::kOther, 3_op)));
    EXPECT_TRUE(executed(end_run(*this, ending.status, 14_t, 1_op)));
    EXPECT_EQ(refusal(unpark(15_t, 4_op)), RunTerminal{ending.status});
    EXPECT_TRUE(replayed(unpark(15_t, 2_op)));  // D-25
    EXPECT_EQ(refusal(unpark(15_t, 3_op)), RunOpIdConflict{3_op});
  }
}

// D-8: a worker that holds a shard finishes it, whatever became of the run.
TEST_P(Conformance, C4WorkersFinishWhatTheyHold) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(cancel_run(11_t, 1_op)));
  EXPECT_TRUE(executed(checkpoint(12_t, lease, "d"_b, 1_op)));
  EXPECT_TRUE(executed(complete(13_t, lease, "y"_b, 2_op)));
}

// A run's log has room for every request that can change it; what is no retry meets the status.
TEST_P(Conformance, C7EveryRetryIsAnsweredAfterTheEnd) {
  EXPECT_TRUE(executed(fail_run(10_t, 1_op)));
  EXPECT_TRUE(replayed(fail_run(11_t, 1_op)));
  EXPECT_TRUE(replayed(register_shards(11_t, kRun, one_root(), kRegistration)));
  EXPECT_EQ(run().op_log.size(), 2U);
  for (const OpId op : {2_op, 3_op, 4_op, 5_op, 6_op, 7_op, 8_op, 9_op, 10_op}) {
    EXPECT_EQ(refusal(fail_run(12_t, op)), RunTerminal{RunStatus::kFailed});
    EXPECT_EQ(refusal(register_shards(12_t, kRun, one_root(), op)),
              (WrongStatus{RunStatus::kFailed, std::nullopt}));
  }
  EXPECT_TRUE(replayed(fail_run(13_t, 1_op)));
}

TEST_P(Conformance, C8ARunIsCreatedOnce) {
  const auto created = create_run(5_t, 2_run, config());
  ASSERT_TRUE(created);
  RunRecord expected;
  expected.tenant = tenant();
  expected.run = 2_run;
  expected.config = config();
  expected.created_at = 5_t;
  EXPECT_TRUE(*created == expected);
  EXPECT_TRUE(run(2_run) == expected);
  EXPECT_EQ(refusal(create_run(6_t, 2_run, config())), RunAlreadyExists{2_run});
  EXPECT_EQ(refusal(create_run(6_t, 3_run, {.lease_duration = 0})), InvalidConfig{});
  EXPECT_EQ(refusal(create_run(6_t, 2_run, {.lease_duration = 0})), InvalidConfig{});
  EXPECT_EQ(refusal(facade().get_run(tenant(), 3_run)), RunNotFound{3_run});
}

TEST_P(Conformance, C8CreationAndRegistrationInOneCallSurviveACrashBetween) {
  const std::vector<InitialShardInput> roots = one_root();
  const NewRun wanted{2_run, config(), roots};
  const auto create = [&](const NewRun& run, OpId op) {
    return create_run_with_shards(facade(), 5_t, tenant(), run, op);
  };
  ASSERT_TRUE(create_run(4_t, 2_run, config()));  // and then it crashed
  const auto resumed = create(wanted, 1_op);
  EXPECT_TRUE(executed(resumed));
  EXPECT_EQ(resumed->value().status, RunStatus::kActive);
  EXPECT_EQ(resumed->value().created_at, 4_t);
  EXPECT_TRUE(replayed(create(wanted, 1_op)));
  EXPECT_EQ(refusal(create(wanted, 2_op)), (WrongStatus{RunStatus::kActive, std::nullopt}));

  NewRun other = wanted;
  other.config.lease_duration = 101;
  EXPECT_EQ(refusal(create(other, 1_op)), ConfigMismatch{2_run});
  other.config.lease_duration = 0;
  EXPECT_EQ(refusal(create(other, 1_op)), InvalidConfig{});

  const NewRun fresh{3_run, config(), roots};
  EXPECT_TRUE(executed(create(fresh, 1_op)));
  EXPECT_EQ(run(3_run).root_shards, std::vector{kShard});
}

TEST_P(Conformance, C9OnlyCancellationEndsARunWithoutShards) {
  ASSERT_TRUE(create_run(5_t, 2_run, config()));
  EXPECT_EQ(refusal(complete_run(6_t, 1_op, 2_run)),
            (WrongStatus{RunStatus::kInitializing, RunStatus::kDone}));
  EXPECT_EQ(refusal(fail_run(6_t, 1_op, 2_run)),
            (WrongStatus{RunStatus::kInitializing, RunStatus::kFailed}));
  EXPECT_TRUE(executed(cancel_run(6_t, 1_op, 2_run)));
  EXPECT_EQ(refusal(register_shards(7_t, 2_run, one_root(), 2_op)),
            (WrongStatus{RunStatus::kCancelled, std::nullopt}));
  EXPECT_EQ(run(2_run).root_shards, std::vector<ShardId>{});
}

TEST_P(Conformance, C9UnknownRunsAreNotFound) {
  EXPECT_EQ(refusal(complete_run(6_t, 1_op, 2_run)), RunNotFound{2_run});
  EXPECT_EQ(refusal(fail_run(6_t, 1_op, 2_run)), RunNotFound{2_run});
  EXPECT_EQ(refusal(cancel_run(6_t, 1_op, 2_run)), RunNotFound{2_run});
  EXPECT_EQ(refusal(facade().get_run_progress(6_t, tenant(), 2_run)), RunNotFound{2_run});
}

}  // namespace
}  // namespace cadastre::coord::conformance
