#include "coord/decide_split.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "coord/canonical.h"
#include "coord/errors.h"
#include "coord/held_shard_testing.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/limits.h"
#include "coord/op_log.h"
#include "coord/shard_limits.h"
#include "coord/shard_record.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"
#include "shard/limits.h"
#include "shard/shard_spec.h"
#include "shard/split_coverage.h"
#include "shard/split_plan.h"

// Splits as workers see them are conformance cases B3, B10 and B11. Here: names that are taken, the
// order of the last checks, and records that contradict themselves.

namespace cadastre::coord {
namespace {

using Code = shard::SplitError::Code;
using shard::SplitReplaceChild;
using shard::testing::operator""_b;
using testing::at;
using testing::HeldShard;
using testing::op;

// Which ids other shards of the run have, and where those start.
struct Taken {
  std::vector<ShardId> ids;

  std::optional<ByteView> operator()(ShardId id) const {
    for (const ShardId taken : ids) {
      if (taken == id) return "m"_b;
    }
    return std::nullopt;
  }
};

SplitReplacePlan halves() {
  const std::array children{SplitReplaceChild{ShardSpecRef::must_make("a"_b, "m"_b)},
                            SplitReplaceChild{ShardSpecRef::must_make("m"_b, "z"_b)}};
  return SplitReplacePlan::try_make(children).value();
}

SplitResidualPlan right_half() {
  return SplitResidualPlan::try_make(ShardSpecRef::must_make("a"_b, "m"_b),
                                     ShardSpecRef::must_make("m"_b, "z"_b))
      .value();
}

ShardId derived(DerivedShardKind kind, std::uint32_t index, std::uint64_t op_id = 1) {
  return derive_split_shard_id({.run = RunId::from_raw(1),
                                .parent = ShardId::from_raw(10),
                                .op = op(op_id),
                                .kind = kind,
                                .index = index});
}

SplitSurroundings among(const Taken& taken, const ShardLimits& limits = {}) {
  return {.counts = {1, 1}, .limits = limits, .find_start = taken};
}

template <class Decision>
std::optional<Code> reason_of(const Result<Decision, SplitRuleError>& decision) {
  if (decision) return std::nullopt;
  const auto* const invalid = decision.error().template get_if<SplitInvalid>();
  return invalid == nullptr ? std::nullopt : std::optional(invalid->reason.code);
}

template <class Decision>
bool is_corrupt(const Result<Decision, SplitRuleError>& decision) {
  const auto* const infra = decision ? nullptr : decision.error().template get_if<InfraError>();
  return infra != nullptr && infra->kind == InfraError::Kind::kCorruption;
}

// B13.
TEST(DecideSplitReplace, ANameThatIsTakenIsTold) {
  HeldShard shard;
  for (const std::uint32_t index : {0U, 1U}) {
    const Taken taken{{derived(DerivedShardKind::kChild, index)}};
    const auto decision =
        decide_split_replace(shard.view(), shard.request(), halves(), op(1), among(taken));
    ASSERT_FALSE(decision);
    EXPECT_EQ(decision.error(),
              (SplitInvalid{{.code = Code::kDerivedIdCollision, .values = {taken.ids[0].raw()}}}));
  }
}

TEST(DecideSplitResidual, ANameThatIsTakenIsTold) {
  HeldShard shard;
  const Taken taken{{derived(DerivedShardKind::kResidual, 0)}};
  const auto decision =
      decide_split_residual(shard.view(), shard.request(), right_half(), op(1), among(taken));
  ASSERT_FALSE(decision);
  EXPECT_EQ(decision.error(),
            (SplitInvalid{{.code = Code::kDerivedIdCollision, .values = {taken.ids[0].raw()}}}));
}

// 5.4: the spawn limit, then the shard limits, then names.
TEST(DecideSplit, LimitsAreToldInTheirOrder) {
  HeldShard shard;
  const Taken taken{
      {derived(DerivedShardKind::kChild, 0), derived(DerivedShardKind::kResidual, 0)}};
  const ShardLimits none_left{.per_tenant_max = 1};
  const auto replace = [&](const ShardLimits& limits) {
    return reason_of(
        decide_split_replace(shard.view(), shard.request(), halves(), op(1), among(taken, limits)));
  };
  const auto residual = [&](const ShardLimits& limits) {
    return reason_of(decide_split_residual(shard.view(), shard.request(), right_half(), op(1),
                                           among(taken, limits)));
  };
  EXPECT_EQ(replace({}), Code::kDerivedIdCollision);
  EXPECT_EQ(residual({}), Code::kDerivedIdCollision);
  EXPECT_EQ(replace(none_left), Code::kShardLimitExceeded);
  EXPECT_EQ(residual(none_left), Code::kShardLimitExceeded);
  for (std::size_t i = 0; i < kMaxSpawnedPerShard; ++i)
    shard.record.spawned.push_back(ShardId::from_raw(shard::kDerivedShardBit | i));
  EXPECT_EQ(replace(none_left), Code::kSpawnLimitExceeded);
  EXPECT_EQ(residual(none_left), Code::kSpawnLimitExceeded);
}

// 5.4, phase 1: a replay answers from the list of spawned shards.
TEST(DecideSplitReplace, AReplayWithoutItsChildrenIsCorrupt) {
  HeldShard shard;
  shard.record.spawned = {derived(DerivedShardKind::kChild, 0)};
  shard.record.state.op_log.push_back_overwrite({.op_id = op(1),
                                                 .payload_hash = hash_split_replace(halves()),
                                                 .executed_at = at(11),
                                                 .kind = OpKind::kSplitReplace});
  EXPECT_TRUE(
      is_corrupt(decide_split_replace(shard.view(), shard.request(), halves(), op(1), among({}))));
}

TEST(DecideSplitResidual, AReplayWithoutItsShardIsCorrupt) {
  HeldShard shard;
  shard.record.spawned = {derived(DerivedShardKind::kResidual, 0, 99)};
  shard.record.state.op_log.push_back_overwrite({.op_id = op(1),
                                                 .payload_hash = hash_split_residual(right_half()),
                                                 .executed_at = at(11),
                                                 .kind = OpKind::kSplitResidual});
  EXPECT_TRUE(is_corrupt(
      decide_split_residual(shard.view(), shard.request(), right_half(), op(1), among({}))));
}

// 5.5, second tier: the list of spawned shards names one that is not there.
TEST(DecideSplitResidual, ASpawnedShardWithoutARecordIsCorrupt) {
  HeldShard shard;
  shard.record.spawned = {derived(DerivedShardKind::kResidual, 0)};
  EXPECT_TRUE(is_corrupt(
      decide_split_residual(shard.view(), shard.request(), right_half(), op(1), among({}))));
}

}  // namespace
}  // namespace cadastre::coord
