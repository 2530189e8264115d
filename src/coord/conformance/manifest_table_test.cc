// C5 and C6: what may be registered, and what a retry of a registration is answered.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
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
#include "coord/op_log.h"
#include "coord/run_record.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"
#include "shard/cursor.h"
#include "shard/manifest.h"
#include "shard/spec_error.h"

namespace cadastre::coord::conformance {
namespace {

using Reason = shard::ManifestError;
using Code = shard::ManifestError::Code;
using Rows = std::vector<InitialShardInput>;

// Long strings for the table to borrow.
struct Strings {
  base::Bytes longest_key = repeated('b', 4096);
  base::Bytes key_too_long = repeated('b', 4097);
  base::Bytes token_too_long = repeated('t', 16'385);
  base::Bytes metadata_too_long = repeated('m', 16'385);
};

struct ManifestRow {
  std::string_view sentence;
  Rows rows;
  std::optional<Reason> expected;  // nothing: it is registered
};

InitialShardInput row(ShardId id,
                      ByteView start,
                      ByteView end,
                      CursorUpdate cursor = CursorUpdate::initial()) {
  return {id, spec(start, end), cursor};
}

constexpr ShardId kDerived = 0x8000000000000001_id;

std::vector<ManifestRow> shape_rows() {
  const auto inverted = shard::SpecError::inverted_range(1, 1);
  return {
      {"nothing", {}, Reason{.code = Code::kEmpty}},
      {"a derived id (D-11)",
       {row(kDerived, "a"_b, "z"_b)},
       Reason{.code = Code::kDerivedShardId, .shard = kDerived}},
      {"one id twice",
       {row(10_id, "a"_b, "m"_b), row(10_id, "m"_b, "z"_b)},
       Reason{.code = Code::kDuplicateIds, .shard = 10_id}},
      {"no start",
       {row(10_id, ""_b, "z"_b)},
       Reason{.code = Code::kUnboundedRange, .shard = 10_id}},
      {"no end", {row(10_id, "a"_b, ""_b)}, Reason{.code = Code::kUnboundedRange, .shard = 10_id}},
      {"upside down",
       {row(10_id, "z"_b, "a"_b)},
       Reason{.code = Code::kInvalidSpec, .shard = 10_id, .spec_error = inverted}},
      {"an overlap",
       {row(10_id, "a"_b, "n"_b), row(11_id, "m"_b, "z"_b)},
       Reason{.code = Code::kOverlappingRanges, .shard = 10_id, .other = 11_id}},
      {"a gap is legal", {row(10_id, "a"_b, "f"_b), row(11_id, "m"_b, "z"_b)}, std::nullopt},
      {"any order is legal", {row(11_id, "m"_b, "z"_b), row(10_id, "a"_b, "m"_b)}, std::nullopt},
  };
}

std::vector<ManifestRow> cursor_rows(const Strings& strings) {
  return {
      {"a key that is too long",
       {row(10_id, "a"_b, "z"_b, CursorUpdate::make(strings.key_too_long))},
       Reason{.code = Code::kCursorKeyTooLarge, .shard = 10_id, .size = 4097, .max = 4096}},
      {"a token that is too long",
       {row(10_id, "a"_b, "z"_b, CursorUpdate::make("b"_b, strings.token_too_long))},
       Reason{.code = Code::kCursorTokenTooLarge, .shard = 10_id, .size = 16'385, .max = 16'384}},
      {"a cursor outside",
       {row(10_id, "a"_b, "m"_b, CursorUpdate::make("p"_b))},
       Reason{.code = Code::kCursorOutOfBounds, .shard = 10_id}},
      {"a cursor at the end",
       {row(10_id, "a"_b, "m"_b, CursorUpdate::make("m"_b))},
       Reason{.code = Code::kCursorOutOfBounds, .shard = 10_id}},
      {"a cursor at the start",
       {row(10_id, "a"_b, "m"_b, CursorUpdate::make("a"_b, "t"_b))},
       std::nullopt},
      {"the longest key",
       {row(10_id, "a"_b, "z"_b, CursorUpdate::make(strings.longest_key))},
       std::nullopt},
  };
}

// Two things are wrong, and the earlier one is told.
std::vector<ManifestRow> order_rows(const Strings& strings) {
  const CursorUpdate outside = CursorUpdate::make("zz"_b);
  return {
      {"derived before duplicate",
       {row(10_id, "a"_b, "m"_b), row(10_id, "m"_b, "z"_b), row(kDerived, "y"_b, "z"_b)},
       Reason{.code = Code::kDerivedShardId, .shard = kDerived}},
      {"duplicate before unbounded",
       {row(10_id, ""_b, "m"_b), row(10_id, "m"_b, "z"_b)},
       Reason{.code = Code::kDuplicateIds, .shard = 10_id}},
      {"unbounded before overlapping",
       {row(10_id, "a"_b, "n"_b), row(11_id, "m"_b, ""_b)},
       Reason{.code = Code::kUnboundedRange, .shard = 11_id}},
      {"overlapping before a cursor's size",
       {row(10_id, "a"_b, "n"_b, CursorUpdate::make(strings.key_too_long)),
        row(11_id, "m"_b, "z"_b)},
       Reason{.code = Code::kOverlappingRanges, .shard = 10_id, .other = 11_id}},
      {"a cursor's size before its place",
       {row(10_id, "a"_b, "b"_b, CursorUpdate::make(strings.key_too_long))},
       Reason{.code = Code::kCursorKeyTooLarge, .shard = 10_id, .size = 4097, .max = 4096}},
      {"a token's size before a key's place",
       {row(10_id, "a"_b, "b"_b, CursorUpdate::make("zz"_b, strings.token_too_long))},
       Reason{.code = Code::kCursorTokenTooLarge, .shard = 10_id, .size = 16'385, .max = 16'384}},
      {"overlapping before a cursor's place",
       {row(10_id, "a"_b, "n"_b, outside), row(11_id, "m"_b, "z"_b)},
       Reason{.code = Code::kOverlappingRanges, .shard = 10_id, .other = 11_id}},
  };
}

void expect_table(Conformance& suite, const std::vector<ManifestRow>& table) {
  for (const ManifestRow& row : table) {
    suite.open_empty({});
    ASSERT_TRUE(suite.create_run(1_t, kRun, suite.config()));
    const auto answer = suite.register_shards(2_t, kRun, row.rows, 1_op);
    if (row.expected) {
      EXPECT_EQ(refusal(answer), ManifestInvalid{*row.expected}) << row.sentence;
      EXPECT_EQ(suite.run().status, RunStatus::kInitializing);
    } else {
      EXPECT_TRUE(executed(answer)) << row.sentence;
      EXPECT_EQ(suite.run().status, RunStatus::kActive);
    }
  }
}

TEST_P(Conformance, C5ManifestsFollowTheTable) {
  const Strings strings;
  expect_table(*this, shape_rows());
  expect_table(*this, cursor_rows(strings));
}

TEST_P(Conformance, C5OfTwoFaultsTheEarlierIsTold) {
  const Strings strings;
  expect_table(*this, order_rows(strings));
}

TEST_P(Conformance, C5SizesOfSpecsAreChecked) {
  const Strings strings;
  for (const ShardSpecRef& bad :
       {spec(strings.key_too_long, "z"_b), spec("a"_b, strings.key_too_long),
        spec("a"_b, "z"_b, strings.metadata_too_long)}) {
    open_empty({});
    ASSERT_TRUE(create_run(1_t, kRun, config()));
    const auto refused = refusal(register_shards(2_t, kRun, {{10_id, bad}}, 1_op));
    ASSERT_TRUE(refused && refused->is<ManifestInvalid>());
    EXPECT_EQ(refused->get_if<ManifestInvalid>()->reason.code, Code::kInvalidSpec);
  }
}

// As many neighbours as asked for, each a few bytes wide.
struct ManyRows {
  explicit ManyRows(std::size_t count) : keys(count + 1) {
    for (std::size_t i = 0; i <= count; ++i)
      base::store_be(keys[i].data(), static_cast<std::uint32_t>(i + 1));
    for (std::size_t i = 0; i < count; ++i)
      rows.push_back({ShardId::from_raw(i), spec(keys[i], keys[i + 1])});
  }

  std::vector<std::array<std::byte, 4>> keys;
  Rows rows;
};

TEST_P(Conformance, C5AManifestHas10000RowsAtMost) {
  open_empty({});
  ASSERT_TRUE(create_run(1_t, kRun, config()));
  const ManyRows too_many(10'001);
  EXPECT_EQ(refusal(register_shards(2_t, kRun, too_many.rows, 1_op)),
            (ManifestInvalid{{.code = Code::kTooManyShards, .size = 10'001, .max = 10'000}}));
  const ManyRows most(10'000);
  const auto registered = facade().register_shards(2_t, tenant(), kRun, most.rows, 1_op);
  EXPECT_TRUE(executed(registered));
  EXPECT_EQ(registered->value().size(), 10'000U);
  EXPECT_EQ(facade().get_run_progress(3_t, tenant(), kRun)->total, 10'000U);
}

TEST_P(Conformance, C5ARootStartsAsTheManifestSays) {
  open_empty({});
  ASSERT_TRUE(create_run(1_t, kRun, config()));
  const InitialShardInput wanted{10_id, spec("a"_b, "z"_b, "meta"_b),
                                 CursorUpdate::make("d"_b, "tok"_b)};
  const auto registered = register_shards(2_t, kRun, {wanted}, 1_op);
  EXPECT_TRUE(executed(registered));
  ShardDump expected;
  expected.state.tenant = tenant();
  expected.state.run = kRun;
  expected.state.shard = 10_id;
  expected.start = base::to_owned("a"_b);
  expected.end = base::to_owned("z"_b);
  expected.metadata = base::to_owned("meta"_b);
  expected.last_key = base::to_owned("d"_b);
  expected.token = base::to_owned("tok"_b);
  EXPECT_EQ(shard(), expected);
  RunRecord record;
  record.tenant = tenant();
  record.run = kRun;
  record.config = config();
  record.status = RunStatus::kActive;
  record.created_at = 1_t;
  record.root_shards = {10_id};
  record.op_log.push_back_overwrite({.op_id = 1_op,
                                     .payload_hash = hash_register(std::array{wanted}),
                                     .executed_at = 2_t,
                                     .kind = RunOpKind::kRegisterShards,
                                     .registered = {10_id}});
  EXPECT_TRUE(run() == record);
}

TEST_P(Conformance, C6ARetryIsAnsweredInTheFirstOrder) {
  open_empty({});
  ASSERT_TRUE(create_run(1_t, kRun, config()));
  const Rows first{row(11_id, "m"_b, "z"_b), row(10_id, "a"_b, "m"_b)};
  const Rows turned{first[1], first[0]};
  const auto registered = register_shards(2_t, kRun, first, 1_op);
  EXPECT_TRUE(executed(registered));
  EXPECT_EQ(registered->value(), (std::vector{11_id, 10_id}));
  const auto again = register_shards(3_t, kRun, turned, 1_op);
  EXPECT_TRUE(replayed(again));
  EXPECT_EQ(again->value(), (std::vector{11_id, 10_id}));
  EXPECT_EQ(run().root_shards, (std::vector{11_id, 10_id}));

  Rows other = first;
  other[0].cursor = CursorUpdate::make("n"_b);
  EXPECT_EQ(refusal(register_shards(3_t, kRun, other, 1_op)), RunOpIdConflict{1_op});
  EXPECT_EQ(refusal(register_shards(3_t, kRun, {}, 1_op)), RunOpIdConflict{1_op});
  EXPECT_TRUE(executed(complete_run(4_t, 2_op)));
  EXPECT_TRUE(replayed(register_shards(5_t, kRun, turned, 1_op)));
}

}  // namespace
}  // namespace cadastre::coord::conformance
