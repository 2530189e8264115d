// B12: how many shards there may be, of one tenant and in all.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/conformance/suite_testing.h"
#include "coord/conformance/words_testing.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/shard_limits.h"
#include "shard/bytes_testing.h"
#include "shard/split_coverage.h"

namespace cadastre::coord::conformance {
namespace {

using Code = shard::SplitError::Code;
using Scope = shard::SplitError::Scope;

// Up to 25 shards: [a, b), [b, c), ... with ids from 10 on.
std::vector<InitialShardInput> letters(std::size_t count) {
  static constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz";
  const ByteView alphabet = base::as_bytes(kAlphabet);
  std::vector<InitialShardInput> rows;
  rows.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back(
        {ShardId::from_raw(10 + i), spec(alphabet.subspan(i, 1), alphabet.subspan(i + 1, 1))});
  }
  return rows;
}

// Registers another tenant's shards, which count in all only.
void fill_with_others(Conformance& suite, std::size_t count) {
  auto& facade = suite.facade();
  ASSERT_TRUE(facade.create_run(1_t, tenant_of(2), kRun, suite.config()));
  ASSERT_TRUE(facade.register_shards(2_t, tenant_of(2), kRun, letters(count), 1_op));
}

struct LimitRow {
  Scope scope;
  ShardLimits limits;
  std::size_t others;  // another tenant's shards
};

// Room for five shards of this tenant, by either limit.
const std::vector<LimitRow>& limit_rows() {
  static const std::vector<LimitRow> kRows{
      {Scope::kPerTenant, {.per_tenant_max = 5, .total_max = 8}, 3},
      {Scope::kPerTenant, {.per_tenant_max = 5}, 0},
      {Scope::kGlobal, {.per_tenant_max = 7, .total_max = 8}, 3},
      {Scope::kGlobal, {.per_tenant_max = 100, .total_max = 5}, 0},
  };
  return kRows;
}

std::uint64_t counted(const LimitRow& row, std::uint64_t own) {
  return row.scope == Scope::kGlobal ? own + row.others : own;
}
std::uint64_t limit_of(const LimitRow& row) {
  return row.scope == Scope::kGlobal ? row.limits.total_max : row.limits.per_tenant_max;
}
SplitInvalid split_refused(const LimitRow& row, std::uint64_t own, std::uint64_t additional) {
  return {{.code = Code::kShardLimitExceeded,
           .scope = row.scope,
           .values = {counted(row, own), additional, limit_of(row)}}};
}

TEST_P(Conformance, B12RegistrationKeepsTheLimits) {
  for (const LimitRow& row : limit_rows()) {
    open_empty({.limits = row.limits});
    if (row.others != 0) fill_with_others(*this, row.others);
    ASSERT_TRUE(create_run(1_t, kRun, config()));
    EXPECT_EQ(refusal(register_shards(2_t, kRun, letters(6), 1_op)),
              (ShardLimitExceeded{counted(row, 0), 6, limit_of(row), row.scope}));
    EXPECT_TRUE(executed(register_shards(2_t, kRun, letters(5), 1_op)));
    ASSERT_TRUE(create_run(3_t, 2_run, config()));
    EXPECT_EQ(refusal(register_shards(4_t, 2_run, letters(1), 2_op)),
              (ShardLimitExceeded{counted(row, 5), 1, limit_of(row), row.scope}));
  }
}

TEST_P(Conformance, B12ReplaceKeepsTheLimits) {
  for (const LimitRow& row : limit_rows()) {
    open_empty({.limits = row.limits});
    if (row.others != 0) fill_with_others(*this, row.others);
    ASSERT_TRUE(create_run(1_t, kRun, config()));
    ASSERT_TRUE(register_roots(letters(3)));
    const Lease lease = take(10_t, 1_w);
    const std::vector three{child("a"_b, "a1"_b), child("a1"_b, "a2"_b), child("a2"_b, "b"_b)};
    const std::vector two{child("a"_b, "a1"_b), child("a1"_b, "b"_b)};
    EXPECT_EQ(refusal(split_replace(11_t, lease, three, 1_op)), split_refused(row, 3, 3));
    EXPECT_TRUE(executed(split_replace(11_t, lease, two, 1_op)));
    // The parent still counts, as every stored record does.
    const Lease other = take(12_t, 1_w, 11_id);
    const std::vector more{child("b"_b, "b1"_b), child("b1"_b, "c"_b)};
    EXPECT_EQ(refusal(split_replace(13_t, other, more, 1_op)), split_refused(row, 5, 2));
  }
}

TEST_P(Conformance, B12ResidualKeepsTheLimits) {
  for (const LimitRow& row : limit_rows()) {
    open_empty({.limits = row.limits});
    if (row.others != 0) fill_with_others(*this, row.others);
    ASSERT_TRUE(create_run(1_t, kRun, config()));
    ASSERT_TRUE(register_roots(letters(4)));
    const Lease lease = take(10_t, 1_w);
    EXPECT_TRUE(executed(split_residual(11_t, lease, cut("a"_b, "a5"_b, "b"_b), 1_op)));
    EXPECT_EQ(refusal(split_residual(12_t, lease, cut("a"_b, "a2"_b, "a5"_b), 2_op)),
              split_refused(row, 5, 1));
    // A retry needs no room.
    EXPECT_TRUE(replayed(split_residual(12_t, lease, cut("a"_b, "a5"_b, "b"_b), 1_op)));
  }
}

}  // namespace
}  // namespace cadastre::coord::conformance
