// A8: every lease-gated operation against every way in which a lease can fail, alone and together.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "coord/conformance/leased_operations_testing.h"
#include "coord/conformance/suite_testing.h"
#include "coord/conformance/words_testing.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/lease_rules.h"
#include "coord/outcome.h"
#include "coord/shard_record.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"

namespace cadastre::coord::conformance {
namespace {

enum class Holding : std::uint8_t {
  kLive,
  kExpired,
  kNobody,
};

// How the record of shard 10 stands. Its fence is 2 and its last owner worker 1 in every row.
struct Standing {
  std::string_view name;
  ShardStatus status = ShardStatus::kActive;
  Holding holding = Holding::kNobody;
};

constexpr std::array kStandings{
    Standing{"held", ShardStatus::kActive, Holding::kLive},
    Standing{"expired", ShardStatus::kActive, Holding::kExpired},
    Standing{"released", ShardStatus::kActive, Holding::kNobody},
    Standing{"done", ShardStatus::kDone},
    Standing{"parked", ShardStatus::kParked},
    Standing{"split", ShardStatus::kSplit},
};

constexpr LogicalTime kLater = 50_t;  // while the lease runs from 10 to 110

LogicalTime time_in(const Standing& standing) {
  return standing.holding == Holding::kExpired ? 110_t : kLater;
}

// What the presented lease says, beside what the record says.
struct Presented {
  TenantId tenant;
  FenceEpoch fence;
  WorkerId owner;
};

// The table of 3.3, in its order.
std::optional<LeasedError> verdict(const Standing& standing,
                                   const Presented& presented,
                                   const TenantId& caller) {
  const StaleFence stale{presented.fence, 2_fence};
  if (presented.tenant != caller) return TenantMismatch{caller};
  if (standing.status != ShardStatus::kActive) return ShardTerminal{kKey, standing.status};
  if (presented.fence != 2_fence) return stale;
  if (standing.holding == Holding::kNobody) return stale;
  if (standing.holding == Holding::kExpired) return LeaseExpired{110_t, time_in(standing)};
  if (presented.owner != 1_w) return stale;
  return std::nullopt;
}

void bring_into(Conformance& suite, const Standing& standing) {
  suite.open();
  const Lease lease = suite.take(10_t, 1_w);
  switch (standing.status) {
    case ShardStatus::kActive:
      if (standing.holding != Holding::kNobody) return;
      ASSERT_TRUE(executed(suite.release(20_t, lease, CursorUpdate::initial(), 100_op)));
      return;
    case ShardStatus::kDone:
      ASSERT_TRUE(executed(suite.complete(20_t, lease, "x"_b, 100_op)));
      return;
    case ShardStatus::kParked:
      ASSERT_TRUE(executed(suite.park(20_t, lease, ParkReason::kOther, 100_op)));
      return;
    case ShardStatus::kSplit:
      ASSERT_TRUE(executed(
          suite.split_replace(20_t, lease, {child("a"_b, "b"_b), child("b"_b, "z"_b)}, 100_op)));
      return;
  }
}

std::vector<Presented> presentations(const TenantId& tenant) {
  std::vector<Presented> all;
  for (const TenantId& presented : {tenant, tenant_of(2)}) {
    for (const FenceEpoch fence : {2_fence, 1_fence, 3_fence}) {
      for (const WorkerId owner : {1_w, 99_w})
        all.push_back({presented, fence, owner});
    }
  }
  return all;
}

LeasedAnswer call(Conformance& suite,
                  const LeasedOperation& operation,
                  const LeasedRequest& request,
                  Payload payload,
                  OpId op) {
  const Footprint footprint{.shard = request.lease.shard_key()};
  return suite.watched(footprint,
                       [&] { return operation.call(suite.facade(), request, payload, op); });
}

// One operation against the record as it stands, under every lease that could be presented.
void expect_verdicts(Conformance& suite,
                     const Standing& standing,
                     const LeasedOperation& operation) {
  for (const Presented& presented : presentations(suite.tenant())) {
    const auto expected = verdict(standing, presented, suite.tenant());
    if (!expected) continue;  // A8EveryOperationTakesAGoodLease
    const Lease lease = Lease::granted(
        {presented.tenant, kKey, presented.owner, presented.fence, LogicalTime::from_raw(kU64Max)});
    const LeasedRequest request{time_in(standing), suite.tenant(), lease};
    for (const Payload payload : {Payload::kGood, Payload::kBad}) {
      EXPECT_EQ(refusal(call(suite, operation, request, payload, 7_op)), expected)
          << operation.name << " on a shard that is " << standing.name << ", presenting "
          << presented.tenant << " " << presented.fence << " " << presented.owner;
    }
  }
}

TEST_P(Conformance, A8EveryOperationRefusesEveryBadLeaseInTheOrderOfTheTable) {
  for (const Standing& standing : kStandings) {
    bring_into(*this, standing);
    for (const LeasedOperation& operation : leased_operations())
      expect_verdicts(*this, standing, operation);
  }
}

TEST_P(Conformance, A8EveryOperationTakesAGoodLease) {
  for (const LeasedOperation& operation : leased_operations()) {
    open();
    const Lease lease = take(10_t, 1_w);
    const LeasedRequest request{109_t, tenant(), lease};
    if (operation.has_bad_payload) {
      EXPECT_FALSE(call(*this, operation, request, Payload::kBad, 7_op)) << operation.name;
    }
    EXPECT_EQ(call(*this, operation, request, Payload::kGood, 7_op), Outcome::kExecuted)
        << operation.name;
  }
}

void expect_retry_answered(Conformance& suite,
                           const LeasedOperation& operation,
                           const Presented& presented) {
  const TenantId& tenant = suite.tenant();
  const Lease other =
      Lease::granted({presented.tenant, kKey, presented.owner, presented.fence, 110_t});
  for (const LogicalTime now : {15_t, 50_t, 110_t, 500_t}) {
    const auto answer = call(suite, operation, {now, tenant, other}, Payload::kGood, 7_op);
    if (presented.tenant == tenant) {
      EXPECT_EQ(answer, Outcome::kReplayed) << operation.name;
    } else {
      EXPECT_EQ(refusal(answer), TenantMismatch{tenant}) << operation.name;
    }
  }
}

// A retry is told by its op id before the lease is looked at, but after the tenant (D-3).
TEST_P(Conformance, A8EveryRetryIsAnsweredUnderEveryBadLease) {
  for (const LeasedOperation& operation : leased_operations()) {
    if (!operation.has_op_id) continue;
    open();
    const Lease lease = take(10_t, 1_w);
    ASSERT_EQ(call(*this, operation, {20_t, tenant(), lease}, Payload::kGood, 7_op),
              Outcome::kExecuted);
    for (const Presented& presented : presentations(tenant()))
      expect_retry_answered(*this, operation, presented);
  }
}

// An op id belongs to one request, whoever asks and whatever became of the shard.
TEST_P(Conformance, A8AnOpIdOfAnotherRequestIsAConflictBeforeTheLease) {
  for (const LeasedOperation& first : leased_operations()) {
    if (!first.has_op_id) continue;
    open();
    const Lease lease = take(10_t, 1_w);
    ASSERT_EQ(call(*this, first, {20_t, tenant(), lease}, Payload::kGood, 7_op),
              Outcome::kExecuted);
    const Lease stale = forged(lease, 99_w);
    for (const LeasedOperation& second : leased_operations()) {
      if (!second.has_op_id || second.name == first.name) continue;
      const auto answer = call(*this, second, {500_t, tenant(), stale}, Payload::kGood, 7_op);
      ASSERT_FALSE(answer) << second.name << " with the op id of " << first.name;
      const auto* const conflict = answer.error().get_if<OpIdConflict>();
      ASSERT_NE(conflict, nullptr) << to_text(answer.error());
      EXPECT_EQ(conflict->op_id(), 7_op);
      EXPECT_NE(conflict->unredacted_expected_hash(), conflict->unredacted_actual_hash());
    }
  }
}

}  // namespace
}  // namespace cadastre::coord::conformance
