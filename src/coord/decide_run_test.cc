#include "coord/decide_run.h"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "coord/canonical.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/op_log.h"
#include "coord/run_record.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"

// Runs as operators see them are conformance group C. No backend brings a run's log to its end, since
// two requests end a run; here it is filled by hand.

namespace cadastre::coord {
namespace {

using shard::testing::operator""_b;
using testing::at;
using testing::op;
using testing::tenant_of;

std::array<InitialShardInput, 1> manifest() {
  return {InitialShardInput{ShardId::from_raw(10), ShardSpecRef::must_make("a"_b, "z"_b)}};
}

// Active since op 1 registered its shards.
RunRecord active_run() {
  RunRecord record = new_run(at(1), tenant_of(1), RunId::from_raw(1), {.lease_duration = 100});
  auto change = decide_register(record, {at(2), record.tenant, op(1)}, manifest(), {}, {});
  EXPECT_TRUE(change && *change);
  apply_to_run(std::move(**change), record);
  return record;
}

// The log forgets its oldest entry; what is not known to be a retry meets the status (C7).
TEST(RunOpLog, ForgetsTheOldestOfEightAndTheStatusGuards) {
  RunRecord record = active_run();
  for (std::uint64_t i = 2; i <= 8; ++i) {
    record.op_log.push_back_overwrite({.op_id = op(i),
                                       .payload_hash = i,
                                       .executed_at = at(i),
                                       .kind = RunOpKind::kCancelRun,
                                       .registered = {}});
  }
  const RunRequest retry{at(9), record.tenant, op(1)};
  EXPECT_EQ(decide_register(record, retry, manifest(), {}, {}).value(), std::nullopt);

  auto ended = decide_run_transition(record, {at(10), record.tenant, op(9)}, RunOpKind::kFailRun);
  ASSERT_TRUE(ended && *ended);
  apply_to_run(std::move(**ended), record);
  EXPECT_EQ(record.op_log.size(), 8U);
  EXPECT_EQ(find_op(record.op_log, op(1)), nullptr);
  EXPECT_EQ(decide_register(record, retry, manifest(), {}, {}).error(),
            (WrongStatus{RunStatus::kFailed, std::nullopt}));
  const RunRequest same_end{at(11), record.tenant, op(9)};
  EXPECT_EQ(decide_run_transition(record, same_end, RunOpKind::kFailRun).value(), std::nullopt);
}

// Defence in depth: backends find records by tenant.
TEST(DecideRun, ARecordOfAnotherTenantIsAMismatch) {
  const RunRecord record = active_run();
  const TenantId stranger = tenant_of(2);
  const RunRequest request{at(5), stranger, op(1)};
  EXPECT_EQ(decide_register(record, request, manifest(), {}, {}).error(), TenantMismatch{stranger});
  EXPECT_EQ(decide_run_transition(record, request, RunOpKind::kCancelRun).error(),
            TenantMismatch{stranger});
}

}  // namespace
}  // namespace cadastre::coord
