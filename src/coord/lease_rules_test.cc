#include "coord/lease_rules.h"

#include <cstdint>
#include <optional>
#include <tuple>

#include <gtest/gtest.h>

#include "coord/errors.h"
#include "coord/held_shard_testing.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/lease.h"
#include "coord/op_log.h"
#include "coord/outcome.h"
#include "coord/states.h"

// The order of 3.3 over every operation is conformance case A8. Here is what no backend that finds
// records by tenant can be made to say, and what only a damaged record causes.

namespace cadastre::coord {
namespace {

using testing::at;
using testing::HeldShard;
using testing::op;
using testing::tenant_of;

constexpr std::uint64_t kHash = 77;

LoggedOp park_request() {
  return {op(5), OpKind::kPark, kHash};
}

HeldShard after(OpKind kind, OpResult result) {
  HeldShard shard;
  shard.record.state.op_log.push_back_overwrite({.op_id = op(5),
                                                 .payload_hash = kHash,
                                                 .executed_at = at(11),
                                                 .kind = kind,
                                                 .result = result});
  return shard;
}

// C-3.3, step 1.
TEST(ValidateLease, ARecordOfAnotherTenantIsAMismatchWhateverElseIsWrong) {
  HeldShard shard;
  shard.record.state.tenant = tenant_of(9);
  shard.record.state.status = ShardStatus::kDone;
  shard.record.state.lease.reset();
  shard.record.state.fence = FenceEpoch::from_raw(7);
  const auto valid = validate_lease(shard.record.state, shard.request());
  ASSERT_FALSE(valid);
  EXPECT_EQ(valid.error(), TenantMismatch{tenant_of(1)});  // the caller's own, not the record's
}

TEST(PassGate, TheTenantIsTestedBeforeTheLog) {
  HeldShard shard = after(OpKind::kPark, OpResult::kCompleted);
  EXPECT_EQ(pass_gate(shard.record.state, shard.request(), park_request()), Outcome::kReplayed);
  shard.record.state.tenant = tenant_of(9);
  const auto passed = pass_gate(shard.record.state, shard.request(), park_request());
  ASSERT_FALSE(passed);
  EXPECT_EQ(passed.error(), TenantMismatch{tenant_of(1)});
}

// D-30.
TEST(CheckOpIdempotency, AnEntryOfAnotherKindOrResultIsCorrupt) {
  for (const auto& shard :
       {after(OpKind::kComplete, OpResult::kCompleted), after(OpKind::kPark, OpResult::kError),
        after(OpKind::kPark, OpResult::kSuperseded)}) {
    const auto checked = check_op_idempotency(shard.record.state, park_request());
    ASSERT_FALSE(checked);
    const auto* const infra = checked.error().get_if<InfraError>();
    ASSERT_NE(infra, nullptr);
    EXPECT_EQ(infra->kind, InfraError::Kind::kCorruption);
  }
}

TEST(CheckOpIdempotency, AnotherHashIsAConflictWhateverTheKind) {
  const HeldShard shard = after(OpKind::kComplete, OpResult::kCompleted);
  const auto checked = check_op_idempotency(shard.record.state, {op(5), OpKind::kPark, kHash + 1});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error(), OpIdConflict(op(5), kHash, kHash + 1));
}

TEST(ValidateLeaseDeathTest, TimeZeroIsAMistake) {
  const HeldShard shard;
  const Lease lease = shard.request().lease;
  EXPECT_DEATH(std::ignore = validate_lease(shard.record.state, {at(0), lease.tenant(), lease}),
               "time 0 is no time");
}

}  // namespace
}  // namespace cadastre::coord
