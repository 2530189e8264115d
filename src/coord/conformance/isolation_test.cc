// Group E: tenants do not see each other, and texts tell no secrets.

#include <algorithm>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/conformance/leased_operations_testing.h"
#include "coord/conformance/suite_testing.h"
#include "coord/conformance/words_testing.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/run_record.h"
#include "coord/shard_record.h"
#include "coord/shard_summary.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"

namespace cadastre::coord::conformance {
namespace {

const std::vector<InitialShardInput>& one_root() {
  static const std::vector<InitialShardInput> kRows{{kShard, spec("a"_b, "z"_b)}};
  return kRows;
}

// A tenant that nobody knows, and one that has a run of its own.
std::vector<TenantId> strangers(Conformance& suite) {
  auto& facade = suite.facade();
  EXPECT_TRUE(facade.create_run(1_t, tenant_of(3), 7_run, suite.config()));
  EXPECT_TRUE(facade.register_shards(2_t, tenant_of(3), 7_run, one_root(), 1_op));
  return {tenant_of(2), tenant_of(3)};
}

TEST_P(Conformance, E1AForeignTenantFindsNoShard) {
  const Lease lease = take(10_t, 1_w);
  const auto call = [&](const LeasedOperation& operation, const TenantId& stranger) {
    return watched({}, [&] {
      return operation.call(facade(), {20_t, stranger, lease}, Payload::kGood, 1_op);
    });
  };
  for (const TenantId& stranger : strangers(*this)) {
    for (const LeasedOperation& operation : leased_operations())
      EXPECT_EQ(refusal(call(operation, stranger)), ShardNotFound{kKey}) << operation.name;
    EXPECT_EQ(refusal(watched({},
                              [&] {
                                return facade().acquire_and_restore_into(200_t, stranger, kKey, 2_w,
                                                                         scratch());
                              })),
              ShardNotFound{kKey});
    EXPECT_EQ(
        refusal(watched({}, [&] { return facade().unpark_shard(20_t, stranger, kKey, 1_op); })),
        ShardNotFound{kKey});
  }
}

TEST_P(Conformance, E1AForeignTenantFindsNoRun) {
  for (const TenantId& stranger : strangers(*this)) {
    const auto call = [&](const auto& act) {
      return refusal(watched({}, act));
    };
    std::vector<ShardSummary> summaries;
    std::vector<ShardId> ids;
    const RunNotFound unknown{kRun};
    EXPECT_EQ(call([&] { return facade().get_run(stranger, kRun); }), unknown);
    EXPECT_EQ(call([&] { return facade().get_run_progress(5_t, stranger, kRun); }), unknown);
    EXPECT_EQ(
        call([&] { return facade().list_shards_into(5_t, stranger, kRun, {}, {}, summaries); }),
        unknown);
    EXPECT_EQ(
        call([&] { return facade().collect_claim_candidates_into(5_t, stranger, kRun, ids); }),
        unknown);
    EXPECT_EQ(
        call([&] { return facade().claim_next_available(5_t, stranger, kRun, 1_w, scratch()); }),
        unknown);
    EXPECT_EQ(call([&] {
                return facade().register_shards(5_t, stranger, kRun, one_root(), kRegistration);
              }),
              unknown);
    EXPECT_EQ(call([&] { return facade().complete_run(5_t, stranger, kRun, 1_op); }), unknown);
    EXPECT_EQ(call([&] { return facade().fail_run(5_t, stranger, kRun, 1_op); }), unknown);
    EXPECT_EQ(call([&] { return facade().cancel_run(5_t, stranger, kRun, 1_op); }), unknown);
    const auto runs = facade().list_runs(stranger, std::nullopt, 100).value();
    EXPECT_EQ(std::ranges::count(runs, kRun), 0);
    const World before = world();
    EXPECT_EQ(facade().gc_terminal_runs(stranger, 1000_t).value(), 0U);
    EXPECT_TRUE(world() == before);
  }
}

TEST_P(Conformance, E2EqualIdsOfTwoTenantsAreStrangers) {
  const TenantId other = tenant_of(2);
  ASSERT_TRUE(facade().create_run(1_t, other, kRun, config()));
  ASSERT_TRUE(facade().register_shards(2_t, other, kRun, one_root(), kRegistration));
  const auto acquired = facade().acquire_and_restore_into(5_t, other, kKey, 9_w, scratch());
  ASSERT_TRUE(acquired);
  const Lease foreign = acquired->lease;

  // The verbs hold that nothing of the other tenant changes.
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(checkpoint(11_t, lease, "d"_b, 1_op)));
  const auto own_split = split_residual(12_t, lease, cut("a"_b, "m"_b, "z"_b), 2_op);
  EXPECT_TRUE(executed(own_split));
  EXPECT_TRUE(executed(complete(13_t, lease, "k"_b, 3_op)));
  EXPECT_TRUE(executed(complete_run(14_t, 4_op)));

  // The same requests of the other one are new ones, with the same names.
  EXPECT_TRUE(executed(facade().checkpoint(20_t, other, foreign, CursorUpdate::make("d"_b), 1_op)));
  const auto split = facade().split_residual(21_t, other, foreign, cut("a"_b, "m"_b, "z"_b), 2_op);
  EXPECT_TRUE(executed(split));
  EXPECT_EQ(split->value().residual, own_split->value().residual);
  EXPECT_EQ(facade().get_run(other, kRun)->status, RunStatus::kActive);
}

// SEC-1: of a mismatch only the caller's own tenant is told.
TEST_P(Conformance, E2ALeaseOfAnotherTenantIsAMismatch) {
  ASSERT_TRUE(facade().create_run(1_t, tenant_of(2), kRun, config()));
  ASSERT_TRUE(facade().register_shards(2_t, tenant_of(2), kRun, one_root(), kRegistration));
  const Lease lease = take(10_t, 1_w);
  for (const LeasedOperation& operation : leased_operations()) {
    const auto answer = watched({}, [&] {
      return operation.call(facade(), {20_t, tenant_of(2), lease}, Payload::kGood, 1_op);
    });
    EXPECT_EQ(refusal(answer), TenantMismatch{tenant_of(2)}) << operation.name;
    EXPECT_EQ(to_text(answer.error()).find("01010101"), std::string::npos) << operation.name;
  }
}

// ---- E3 ------------------------------------------------------------------------------------------

// What no text may show. The owner and the hash are looked for as numbers, in both notations.
struct Secrets {
  static constexpr std::string_view kKey = "marker-key";
  static constexpr std::string_view kToken = "marker-token";
  static constexpr std::string_view kMetadata = "marker-metadata";
  static constexpr std::uint64_t kOwner = 7'316'842'905;
};

void expect_discreet(std::string_view text, const std::vector<std::uint64_t>& numbers = {}) {
  EXPECT_EQ(text.find("marker"), std::string_view::npos) << text;
  EXPECT_EQ(text.find(base::to_hex(base::as_bytes("marker"))), std::string_view::npos) << text;
  for (const std::uint64_t number : numbers) {
    EXPECT_EQ(text.find(std::to_string(number)), std::string_view::npos) << text;
    std::string hex;
    for (std::uint64_t rest = number; rest != 0; rest /= 16)
      hex.insert(hex.begin(), "0123456789abcdef"[rest % 16]);
    EXPECT_EQ(text.find(hex), std::string_view::npos) << text;
  }
}

template <class T, class E>
void expect_discreet_refusal(const std::expected<T, E>& answer,
                             const std::vector<std::uint64_t>& numbers = {}) {
  ASSERT_FALSE(answer);
  expect_discreet(to_text(answer.error()), numbers);
}

TEST_P(Conformance, E3RefusalsShowNoKeysTokensOrMetadata) {
  const ByteView key = base::as_bytes(Secrets::kKey);
  const ByteView token = base::as_bytes(Secrets::kToken);
  const ByteView metadata = base::as_bytes(Secrets::kMetadata);
  const Lease lease = take(10_t, 1_w);
  const CursorUpdate cursor = CursorUpdate::make(key, token);
  EXPECT_TRUE(executed(checkpoint(11_t, lease, cursor, 1_op)));
  expect_discreet_refusal(checkpoint(12_t, lease, CursorUpdate::make("b"_b, token), 2_op));
  base::Bytes long_key = base::to_owned(key);
  long_key.resize(4097);
  base::Bytes long_token = base::to_owned(token);
  long_token.resize(16'385);
  base::Bytes outside = base::to_owned("zz"_b);
  outside.insert(outside.end(), key.begin(), key.end());
  expect_discreet_refusal(checkpoint(12_t, lease, CursorUpdate::make(long_key, token), 2_op));
  expect_discreet_refusal(checkpoint(12_t, lease, CursorUpdate::make(key, long_token), 2_op));
  expect_discreet_refusal(checkpoint(12_t, lease, CursorUpdate::make(outside, token), 2_op));
  const auto cut_at = [&](ByteView point, ByteView end) {
    return SplitResidualPlan::try_make(spec("a"_b, point, metadata), spec(point, end, metadata))
        .value();
  };
  expect_discreet_refusal(split_residual(12_t, lease, cut_at(key, "z"_b), 2_op));
  expect_discreet_refusal(split_residual(12_t, lease, cut_at("n"_b, key), 2_op));
  expect_discreet_refusal(
      split_replace(12_t, lease, {child("a"_b, key), child(outside, "z"_b)}, 2_op));
  expect_discreet_refusal(split_replace(
      12_t, lease, {child("a"_b, "n"_b, CursorUpdate::make(outside, token)), child("n"_b, "z"_b)},
      2_op));
  ASSERT_TRUE(create_run(13_t, 2_run, config()));
  const std::vector<InitialShardInput> overlapping{
      {10_id, spec(key, outside, metadata), cursor},
      {11_id, spec("marker-later"_b, "zzz"_b, metadata)}};
  expect_discreet_refusal(register_shards(14_t, 2_run, overlapping, 1_op));
}

// SEC-5 and SEC-6: neither the owner of a lease nor a payload's hash.
TEST_P(Conformance, E3RefusalsShowNoOwnersOrHashes) {
  const Lease lease = take(10_t, WorkerId::from_raw(Secrets::kOwner));
  const auto leased = acquire(11_t, 2_w);
  expect_discreet_refusal(leased, {Secrets::kOwner});
  EXPECT_NE(to_text(leased.error()).find("<redacted>"), std::string::npos);
  EXPECT_EQ(leased.error().get_if<AlreadyLeased>()->unredacted_current_owner(), lease.owner());
  expect_discreet_refusal(checkpoint(11_t, forged(lease, 2_w), "d"_b, 1_op), {Secrets::kOwner});

  EXPECT_TRUE(executed(checkpoint(11_t, lease, "d"_b, 1_op)));
  const auto conflict = checkpoint(12_t, lease, "e"_b, 1_op);
  ASSERT_FALSE(conflict);
  const auto* const hashes = conflict.error().get_if<OpIdConflict>();
  ASSERT_NE(hashes, nullptr);
  expect_discreet_refusal(conflict,
                          {hashes->unredacted_expected_hash(), hashes->unredacted_actual_hash()});
}

}  // namespace
}  // namespace cadastre::coord::conformance
