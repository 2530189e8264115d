// B11: a shard gives its right part away and works on.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/endian.h"
#include "coord/backend.h"
#include "coord/canonical.h"
#include "coord/conformance/suite_testing.h"
#include "coord/conformance/words_testing.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "shard/bytes_testing.h"
#include "shard/split_coverage.h"

namespace cadastre::coord::conformance {
namespace {

using Reason = shard::SplitError;
using Code = shard::SplitError::Code;

constexpr ShardId kResidual = 0xc9982bbef6c2b181_id;  // run 1, shard 10, op 2: a published vector

TEST_P(Conformance, B11AResidualIsAFreshShard) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(checkpoint(11_t, lease, CursorUpdate::make("d"_b, "tok"_b), 1_op)));
  const auto plan =
      SplitResidualPlan::try_make(spec("a"_b, "m"_b, "left"_b), spec("m"_b, "z"_b, "right"_b));
  const auto split = split_residual(12_t, lease, plan.value(), 2_op);
  EXPECT_TRUE(executed(split));
  EXPECT_EQ(split->value().residual, kResidual);
  ShardDump expected;
  expected.state.tenant = tenant();
  expected.state.run = kRun;
  expected.state.shard = kResidual;
  expected.state.parent = kShard;
  expected.start = base::to_owned("m"_b);
  expected.end = base::to_owned("z"_b);
  expected.metadata = base::to_owned("right"_b);
  EXPECT_EQ(shard(kResidual), expected);
  EXPECT_EQ(shard().metadata, base::to_owned("left"_b));
  EXPECT_EQ(shard().token, base::to_owned("tok"_b));
  EXPECT_EQ(shard().state.lease, (LeaseHolder{1_w, 110_t}));
  EXPECT_EQ(take(13_t, 2_w, kResidual).fence(), 2_fence);
}

struct ResidualRow {
  std::string_view sentence;
  SplitResidualPlan plan;
  std::optional<Reason> expected;
};

SplitResidualPlan parts(const ShardSpecRef& new_parent, const ShardSpecRef& residual) {
  return SplitResidualPlan::try_make(new_parent, residual).value();
}

std::vector<ResidualRow> residual_rows(ByteView too_long, ByteView key_too_long) {
  return {
      {"at a point", cut("a"_b, "m"_b, "z"_b), std::nullopt},
      {"right behind the cursor", cut("a"_b, "d\0"_b, "z"_b), std::nullopt},
      {"at the cursor", cut("a"_b, "d"_b, "z"_b),
       Reason{.code = Code::kParentCursorOutOfBounds, .values = {1, 1, 1}}},
      {"before the cursor", cut("a"_b, "bb"_b, "z"_b),
       Reason{.code = Code::kParentCursorOutOfBounds, .values = {1, 1, 2}}},
      {"parts are swapped", parts(spec("m"_b, "z"_b), spec("a"_b, "m"_b)),
       Reason{.code = Code::kStartMismatch, .values = {1, 1}}},
      {"the end is lost", parts(spec("a"_b, "m"_b), spec("m"_b, "yy"_b)),
       Reason{.code = Code::kEndMismatch, .values = {1, 2}}},
      {"a gap", parts(spec("a"_b, "m"_b), spec("n"_b, "z"_b)),
       Reason{.code = Code::kBoundaryMismatch, .values = {0, 1, 1, 1}}},
      {"an overlap", parts(spec("a"_b, "n"_b), spec("m"_b, "z"_b)),
       Reason{.code = Code::kBoundaryMismatch, .values = {0, 1, 1, 1}}},
      {"nothing is kept", cut("a"_b, "a"_b, "z"_b),
       Reason{.code = Code::kInvertedChild, .values = {0}}},
      {"nothing is given", cut("a"_b, "z"_b, "z"_b),
       Reason{.code = Code::kInvertedChild, .values = {1}}},
      {"too much metadata for the parent", parts(spec("a"_b, "m"_b, too_long), spec("m"_b, "z"_b)),
       Reason{.code = Code::kInvalidChildSpec, .values = {0}}},
      {"too much metadata for the residual",
       parts(spec("a"_b, "m"_b), spec("m"_b, "z"_b, too_long)),
       Reason{.code = Code::kInvalidChildSpec, .values = {1}}},
      {"sizes are told before coverage", parts(spec("b"_b, key_too_long), spec("m"_b, "z"_b)),
       Reason{.code = Code::kInvalidChildSpec, .values = {0}}},
  };
}

TEST_P(Conformance, B11PlansFollowTheTable) {
  const base::Bytes metadata_too_long = repeated('x', 16'385);
  const base::Bytes key_too_long = repeated('m', 4097);
  for (const ResidualRow& row : residual_rows(metadata_too_long, key_too_long)) {
    open();
    const Lease lease = take(10_t, 1_w);
    EXPECT_TRUE(executed(checkpoint(11_t, lease, "d"_b, 1_op)));
    const auto answer = split_residual(12_t, lease, row.plan, 2_op);
    if (row.expected) {
      EXPECT_EQ(refusal(answer), SplitInvalid{*row.expected}) << row.sentence;
    } else {
      EXPECT_TRUE(executed(answer)) << row.sentence;
    }
  }
}

TEST_P(Conformance, B11AnInitialCursorStandsNowhere) {
  EXPECT_TRUE(executed(split_residual(11_t, take(10_t, 1_w), cut("a"_b, "a\0"_b, "z"_b), 1_op)));
}

TEST_P(Conformance, B11ARetryIsFoundInTheLog) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(split_residual(11_t, lease, cut("a"_b, "m"_b, "z"_b), 2_op)));
  const auto again = split_residual(12_t, lease, cut("a"_b, "m"_b, "z"_b), 2_op);
  EXPECT_TRUE(replayed(again));
  EXPECT_EQ(again->value().residual, kResidual);
  EXPECT_EQ(refusal(split_residual(12_t, lease, cut("a"_b, "j"_b, "m"_b), 2_op)),
            OpIdConflict(2_op, hash_split_residual(cut("a"_b, "m"_b, "z"_b)),
                         hash_split_residual(cut("a"_b, "j"_b, "m"_b))));
}

// Sixteen requests later the log has forgotten.
void forget(Conformance& suite, const Lease& lease) {
  for (std::uint64_t i = 0; i < 16; ++i) {
    ASSERT_TRUE(executed(suite.checkpoint(20_t, lease, "d"_b, OpId::from_raw(100 + i))));
  }
}

TEST_P(Conformance, B11AForgottenRetryIsFoundAmongTheSpawned) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(split_residual(11_t, lease, cut("a"_b, "m"_b, "z"_b), 2_op)));
  EXPECT_TRUE(executed(split_residual(12_t, lease, cut("a"_b, "j"_b, "m"_b), 3_op)));
  forget(*this, lease);
  const auto again = split_residual(21_t, lease, cut("a"_b, "m"_b, "z"_b), 2_op);
  EXPECT_TRUE(replayed(again));
  EXPECT_EQ(again->value().residual, kResidual);
  // Before the lease is looked at, and in a terminal shard.
  EXPECT_TRUE(replayed(split_residual(500_t, lease, cut("a"_b, "m"_b, "z"_b), 2_op)));
  EXPECT_TRUE(executed(complete(22_t, lease, "h"_b, 4_op)));
  EXPECT_TRUE(replayed(split_residual(23_t, lease, cut("a"_b, "m"_b, "z"_b), 2_op)));
}

// D-17: the start of what was given away tells another plan from the same one.
TEST_P(Conformance, B11AnotherPlanUnderAForgottenOpIdIsAConflict) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(split_residual(11_t, lease, cut("a"_b, "m"_b, "z"_b), 2_op)));
  forget(*this, lease);
  const SplitResidualPlan other = cut("a"_b, "j"_b, "m"_b);
  EXPECT_EQ(refusal(split_residual(21_t, lease, other, 2_op)),
            OpIdConflict(2_op, 0, hash_split_residual(other)));
  EXPECT_TRUE(executed(split_residual(21_t, lease, other, 3_op)));
}

TEST_P(Conformance, B11ChildrenCountOnBehindResiduals) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(split_residual(11_t, lease, cut("a"_b, "m"_b, "z"_b), 2_op)));
  const std::vector children{child("g"_b, "m"_b), child("a"_b, "g"_b)};
  const auto split = split_replace(12_t, lease, children, 3_op);
  EXPECT_TRUE(executed(split));
  EXPECT_EQ(split->value().children[0], 0xbc812733081ce7c6_id);  // rows 9 and 10 of the vectors
  EXPECT_EQ(split->value().children[1], 0xa3ab34526fcf66e5_id);
  EXPECT_EQ(shard().spawned,
            (std::vector{kResidual, 0xbc812733081ce7c6_id, 0xa3ab34526fcf66e5_id}));
  const auto again = split_replace(13_t, lease, children, 3_op);
  EXPECT_TRUE(replayed(again));
  EXPECT_EQ(again->value(), split->value());
}

// The point of the `index`-th cut; later cuts are further left.
base::Bytes point(std::size_t index) {
  base::Bytes key(3, std::byte{'b'});
  base::store_be(key.data() + 1, static_cast<std::uint16_t>(0xffff - index));
  return key;
}

// Gives `count` shards away, one by one; the range that is left ends at point(count).
void give_away(Conformance& suite, const Lease& lease, std::size_t count) {
  base::Bytes end = base::to_owned("z"_b);
  for (std::size_t i = 1; i <= count; ++i) {
    base::Bytes at = point(i);
    const auto split = suite.facade().split_residual(11_t, suite.tenant(), lease,
                                                     cut("a"_b, at, end), OpId::from_raw(i));
    ASSERT_TRUE(executed(split));
    end = std::move(at);
  }
}

// With room for exactly as many shards as can be spawned: the spawn limit is told first.
TEST_P(Conformance, B11AShardSpawns1024) {
  open({.limits = {.per_tenant_max = 1 + kMaxSpawnedPerShard}});
  const Lease lease = take(10_t, 1_w);
  give_away(*this, lease, 1023);
  const base::Bytes end = point(1023);
  const base::Bytes middle = point(1024);
  const std::vector two{child("a"_b, middle), child(middle, end)};
  EXPECT_EQ(refusal(split_replace(12_t, lease, two, 5000_op)),
            (SplitInvalid{{.code = Code::kSpawnLimitExceeded, .values = {1023, 2, 1024}}}));
  EXPECT_TRUE(executed(split_residual(12_t, lease, cut("a"_b, middle, end), 1024_op)));
  EXPECT_EQ(shard().spawned.size(), 1024U);
  EXPECT_EQ(refusal(split_residual(13_t, lease, cut("a"_b, "b"_b, middle), 1025_op)),
            (SplitInvalid{{.code = Code::kSpawnLimitExceeded, .values = {1024, 1, 1024}}}));
  const auto first = split_residual(14_t, lease, cut("a"_b, point(1), "z"_b), 1_op);
  EXPECT_TRUE(replayed(first));
  EXPECT_EQ(first->value().residual, shard().spawned.front());
  EXPECT_EQ(acquire(110_t, 2_w)->snapshot.spawned.size(), 1024U);
}

TEST_P(Conformance, B11AReplaceFillsTheSpawnLimitExactly) {
  const Lease lease = take(10_t, 1_w);
  give_away(*this, lease, 1022);
  const base::Bytes end = point(1022);
  const base::Bytes middle = point(1023);
  EXPECT_TRUE(
      executed(split_replace(12_t, lease, {child("a"_b, middle), child(middle, end)}, 5000_op)));
  EXPECT_EQ(shard().spawned.size(), 1024U);
}

}  // namespace
}  // namespace cadastre::coord::conformance
