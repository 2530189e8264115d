#include "coord/run_record.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "coord/decide_run.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/op_log.h"
#include "coord/states.h"

namespace cadastre::coord {
namespace {

using testing::at;
using testing::op;
using testing::tenant_of;

RunOpLogEntry entry(std::uint64_t id, RunOpKind kind, std::uint64_t time) {
  RunOpLogEntry logged;
  logged.op_id = op(id);
  logged.payload_hash = 1000 + id;
  logged.executed_at = at(time);
  logged.kind = kind;
  if (kind == RunOpKind::kRegisterShards) logged.registered = {ShardId::from_raw(10)};
  return logged;
}

// Active since 20, created at 10.
RunRecord active_run() {
  RunRecord run = new_run(at(10), tenant_of(1), RunId::from_raw(1), {.lease_duration = 100});
  run.status = RunStatus::kActive;
  run.root_shards = {ShardId::from_raw(10)};
  run.op_log.push_back_overwrite(entry(1, RunOpKind::kRegisterShards, 20));
  return run;
}

struct Case {
  std::string what;
  int number;
  void (*change)(RunRecord& run);
};

// C-6.1. The sixth holds by construction: the log has eight places.
const std::vector<Case> kBroken = {
    {"an active run without shards", 1,
     [](RunRecord& r) {
       r.root_shards.clear();
     }},
    {"a completion time of an active run", 2,
     [](RunRecord& r) {
       r.completed_at = at(30);
     }},
    {"a done run without one", 2,
     [](RunRecord& r) {
       r.status = RunStatus::kDone;
     }},
    {"created at no time", 3,
     [](RunRecord& r) {
       r.created_at = LogicalTime();
     }},
    {"an initializing run with shards", 4,
     [](RunRecord& r) {
       r.status = RunStatus::kInitializing;
     }},
    {"completed before it was created", 5,
     [](RunRecord& r) {
       r.status = RunStatus::kFailed;
       r.completed_at = at(9);
     }},
    {"an op id twice", 7,
     [](RunRecord& r) {
       r.op_log.push_back_overwrite(entry(2, RunOpKind::kFailRun, 21));
       r.op_log.push_back_overwrite(entry(1, RunOpKind::kCancelRun, 22));
     }},
    {"leases of no length", 8,
     [](RunRecord& r) {
       r.config.lease_duration = 0;
     }},
    {"a root twice", 9,
     [](RunRecord& r) {
       r.root_shards = {ShardId::from_raw(10), ShardId::from_raw(11), ShardId::from_raw(10)};
     }},
    {"a log that goes back in time", 10,
     [](RunRecord& r) {
       r.op_log.push_back_overwrite(entry(2, RunOpKind::kCancelRun, 19));
     }},
    {"a registration of nothing", 11,
     [](RunRecord& r) {
       RunOpLogEntry empty = entry(2, RunOpKind::kRegisterShards, 21);
       empty.registered.clear();
       r.op_log.push_back_overwrite(std::move(empty));
     }},
    {"a cancellation that registered", 11,
     [](RunRecord& r) {
       RunOpLogEntry odd = entry(2, RunOpKind::kCancelRun, 21);
       odd.registered = {ShardId::from_raw(10)};
       r.op_log.push_back_overwrite(std::move(odd));
     }},
};

TEST(RunInvariants, EachIsReportedByItsNumber) {
  for (const Case& broken : kBroken) {
    RunRecord run = active_run();
    ASSERT_TRUE(check_invariants(run).has_value());
    broken.change(run);
    const auto held = check_invariants(run);
    ASSERT_FALSE(held.has_value()) << broken.what;
    EXPECT_EQ(held.error().number, broken.number) << broken.what;
    EXPECT_FALSE(held.error().text.empty()) << broken.what;
  }
}

TEST(RunInvariantsDeathTest, ABrokenRecordEndsTheProcess) {
  RunRecord run = active_run();
  run.root_shards.clear();
  EXPECT_DEATH(assert_invariants(run), "an active run has root shards");
}

// C-6.1
TEST(RunTransitions, AreThoseOfTheTable) {
  using S = RunStatus;
  constexpr std::array kAll{S::kInitializing, S::kActive, S::kDone, S::kFailed, S::kCancelled};
  for (const S from : kAll) {
    for (const S to : kAll) {
      const bool legal = (from == S::kInitializing && (to == S::kActive || to == S::kCancelled)) ||
                         (from == S::kActive && is_terminal(to));
      EXPECT_EQ(is_legal_transition(from, to), legal) << name(from) << " to " << name(to);
    }
  }
}

TEST(RunConfigRules, ALeaseLastsAtLeastOneTick) {
  EXPECT_EQ(validate({.lease_duration = 0}).error(), InvalidConfig{});
  EXPECT_TRUE(validate({.lease_duration = 1}).has_value());
}

// [C] of 6.1, D-9: a clock that steps back neither aborts nor orders anew.
TEST(RunOpLogRules, TimesAreClamped) {
  RunRecord run = active_run();
  const RunRequest early{.now = at(5), .tenant = run.tenant, .op = op(2)};
  auto change = decide_run_transition(run, early, RunOpKind::kCompleteRun);
  ASSERT_TRUE(change.has_value() && change->has_value());
  EXPECT_EQ((*change)->completed_at, at(10)) << "not before its creation";
  EXPECT_EQ((*change)->entry.executed_at, at(20)) << "not before the entry before";
  apply_to_run(std::move(**change), run);
  EXPECT_TRUE(check_invariants(run).has_value());
}

TEST(RunOpLogRulesDeathTest, AnOpIdIsLoggedOnce) {
  RunRecord run = active_run();
  RunChange change;
  change.status = RunStatus::kDone;
  change.completed_at = at(30);
  change.entry = entry(1, RunOpKind::kCompleteRun, 30);
  EXPECT_DEATH(apply_to_run(change, run), "an op id is logged once");
}

}  // namespace
}  // namespace cadastre::coord
