#include "coord/identity.h"

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <sstream>
#include <type_traits>
#include <unordered_set>

#include <gtest/gtest.h>

#include "coord/identity_testing.h"
#include "shard/limits.h"

namespace cadastre::coord {
namespace {

using testing::at;
using testing::tenant_of;

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

// C-1.2: nominally distinct, small, and not numbers.
static_assert(!std::is_constructible_v<RunId, std::uint64_t>);
static_assert(!std::is_convertible_v<std::uint64_t, OpId>);
static_assert(!std::is_convertible_v<RunId, std::uint64_t>);
static_assert(!std::is_constructible_v<RunId, WorkerId>);
static_assert(!std::is_constructible_v<FenceEpoch, LogicalTime>);
static_assert(!std::is_constructible_v<RunId, ShardId>);
static_assert(!std::equality_comparable_with<RunId, WorkerId>);
static_assert(!std::is_constructible_v<TenantId, TenantId::Bytes>);
static_assert(std::is_trivially_copyable_v<RunId> && sizeof(RunId) == 8);
static_assert(std::is_trivially_copyable_v<TenantId> && sizeof(TenantId) == 32);
static_assert(std::is_trivially_copyable_v<ShardKey> && sizeof(ShardKey) == 16);
static_assert(std::totally_ordered<RunId> && std::totally_ordered<TenantId>);
// C-1.2: keys have no order.
static_assert(std::equality_comparable<ShardKey> && !std::three_way_comparable<ShardKey>);

TEST(Identity, IdsPrintTheirTypeAndTheirNumber) {
  EXPECT_EQ(to_string(RunId::from_raw(10)), "RunId(10)");
  EXPECT_EQ(to_string(WorkerId::from_raw(7)), "WorkerId(7)");
  EXPECT_EQ(to_string(OpId::from_raw(kMax)), "OpId(18446744073709551615)");
  EXPECT_EQ(to_string(JobId::from_raw(7)), "JobId(7)");
  EXPECT_EQ(to_string(kFenceInitial), "FenceEpoch(1)");
  EXPECT_EQ(to_string(at(99)), "LogicalTime(99)");
  EXPECT_EQ(to_string(ShardKey{RunId::from_raw(10), ShardId::from_raw(20)}),
            "ShardKey { run: RunId(10), shard: ShardId(20) }");
  std::ostringstream stream;
  stream << RunId::from_raw(3) << ' ' << tenant_of(0x0a);
  EXPECT_EQ(stream.str(), "RunId(3) TenantId(0a0a0a0a..)");
}

TEST(Identity, ATenantPrintsFourOfItsBytes) {
  TenantId::Bytes bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes.at(i) = static_cast<std::byte>(0xf0 + i);
  EXPECT_EQ(to_string(TenantId::from_bytes(bytes)), "TenantId(f0f1f2f3..)");
  EXPECT_EQ(TenantId::from_bytes(bytes).as_bytes(), bytes);
  EXPECT_EQ(TenantId(), tenant_of(0));
}

TEST(Identity, TenantsOrderAsUnsignedBytes) {
  EXPECT_LT(tenant_of(0x7f), tenant_of(0x80));
  TenantId::Bytes last{};
  last.back() = std::byte{1};
  EXPECT_LT(TenantId(), TenantId::from_bytes(last));
}

TEST(Identity, IdsOrderByNumber) {
  EXPECT_LT(RunId::from_raw(9), RunId::from_raw(10));
  EXPECT_LT(RunId::from_raw(std::uint64_t{1} << 62), RunId::from_raw(kMax));
  EXPECT_EQ(RunId(), RunId::from_raw(0));
}

// C-1.2: bit 63, and derived shards behind the roots.
TEST(Identity, DerivedShardsHaveTheTopBit) {
  const ShardId last_root = ShardId::from_raw(shard::kDerivedShardBit - 1);
  const ShardId first_derived = ShardId::from_raw(shard::kDerivedShardBit);
  EXPECT_FALSE(last_root.is_derived());
  EXPECT_TRUE(first_derived.is_derived());
  EXPECT_LT(last_root, first_derived);
}

TEST(Identity, EpochsBeginAtOneAndRiseByOne) {
  EXPECT_FALSE(is_assigned(kFenceUnassigned));
  EXPECT_TRUE(is_assigned(kFenceInitial));
  EXPECT_EQ(next(kFenceInitial).raw(), 2U);
  EXPECT_EQ(next(FenceEpoch::from_raw(kMax - 1)).raw(), kMax);
}

// C-1.2: never saturates, for two owners with one epoch would break exclusion.
TEST(IdentityDeathTest, ThereIsNoEpochAfterTheLast) {
  EXPECT_DEATH((void)next(FenceEpoch::from_raw(kMax)), "changes hands fewer than 2\\^64 times");
}

TEST(Identity, TimeIsAddedWithAnAnswerForTheEnd) {
  EXPECT_EQ(checked_add(at(1), 2), at(3));
  EXPECT_EQ(checked_add(at(kMax - 5), 5), at(kMax));
  EXPECT_EQ(checked_add(at(kMax - 5), 6), std::nullopt);
  EXPECT_EQ(checked_add(at(kMax), 0), at(kMax));
  EXPECT_EQ(saturating_add(at(kMax - 5), 5), at(kMax));
  EXPECT_EQ(saturating_add(at(kMax - 5), 6), at(kMax));
  EXPECT_EQ(saturating_add(at(1), kMax), at(kMax));
}

TEST(Identity, EqualIdsHashAlikeAndNeighboursDoNot) {
  std::unordered_set<std::size_t> hashes;
  for (std::uint64_t run = 0; run < 10; ++run) {
    for (std::uint64_t shard = 0; shard < 10; ++shard) {
      const ShardKey key{RunId::from_raw(run), ShardId::from_raw(shard)};
      EXPECT_EQ(std::hash<ShardKey>{}(key), std::hash<ShardKey>{}(ShardKey(key)));
      hashes.insert(std::hash<ShardKey>{}(key));
    }
  }
  EXPECT_EQ(hashes.size(), 100U);
  EXPECT_NE(std::hash<TenantId>{}(tenant_of(1)), std::hash<TenantId>{}(tenant_of(2)));
  EXPECT_EQ(std::hash<RunId>{}(RunId::from_raw(5)), std::hash<RunId>{}(RunId::from_raw(5)));
}

}  // namespace
}  // namespace cadastre::coord
