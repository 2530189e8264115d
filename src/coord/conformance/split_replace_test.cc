// B3 and B10: a shard ends and its children take its range.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/endian.h"
#include "coord/backend.h"
#include "coord/conformance/suite_testing.h"
#include "coord/conformance/words_testing.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/shard_record.h"
#include "shard/bytes_testing.h"
#include "shard/split_coverage.h"
#include "shard/split_plan.h"

namespace cadastre::coord::conformance {
namespace {

using Reason = shard::SplitError;
using Code = shard::SplitError::Code;

ShardDump derived(const Conformance& suite, ShardId id, ByteView start, ByteView end) {
  ShardDump expected;
  expected.state.tenant = suite.tenant();
  expected.state.run = kRun;
  expected.state.shard = id;
  expected.state.parent = kShard;
  expected.start = base::to_owned(start);
  expected.end = base::to_owned(end);
  return expected;
}

TEST_P(Conformance, B3ChildrenPartitionTheirParent) {
  const Lease lease = take(10_t, 1_w);
  const auto split = split_replace(11_t, lease, {child("a"_b, "m"_b), child("m"_b, "z"_b)}, 1_op);
  EXPECT_TRUE(executed(split));
  const auto ids = split->value().children;
  ASSERT_EQ(ids.size(), 2U);
  EXPECT_EQ(ids[0], 0xfa953263da67a2ec_id);  // the published vectors
  EXPECT_EQ(ids[1], 0x9d030d0866d720b1_id);
  EXPECT_EQ(shard(ids[0]), derived(*this, ids[0], "a"_b, "m"_b));
  EXPECT_EQ(shard(ids[1]), derived(*this, ids[1], "m"_b, "z"_b));
  const Lease left = take(12_t, 2_w, ids[0]);
  EXPECT_EQ(left.fence(), 2_fence);
  EXPECT_TRUE(executed(checkpoint(13_t, left, "d"_b, 1_op)));
  EXPECT_EQ(refusal(checkpoint(13_t, left, "m"_b, 2_op)), (CursorOutOfBounds{1, 1, 1}));
  EXPECT_TRUE(executed(complete(14_t, take(12_t, 3_w, ids[1]), "y"_b, 1_op)));
}

TEST_P(Conformance, B3TheOrderOfChildrenIsThatOfTheirStarts) {
  const Lease lease = take(10_t, 1_w);
  const std::vector reversed{child("m"_b, "z"_b), child("a"_b, "m"_b)};
  const auto split = split_replace(11_t, lease, reversed, 1_op);
  EXPECT_TRUE(executed(split));
  EXPECT_EQ(split->value().children[0], 0xfa953263da67a2ec_id);
  EXPECT_EQ(shard(0xfa953263da67a2ec_id).start, base::to_owned("a"_b));
  const auto again = split_replace(12_t, lease, reversed, 1_op);
  EXPECT_TRUE(replayed(again));
  EXPECT_EQ(again->value(), split->value());
  // D-38: the plan is hashed as it came.
  EXPECT_TRUE(refusal(split_replace(12_t, lease, {child("a"_b, "m"_b), child("m"_b, "z"_b)}, 1_op))
                  ->is<OpIdConflict>());
}

TEST_P(Conformance, B3ChildrenCarryTheirCursorsAndMetadata) {
  const std::vector<SplitReplaceChild> children{
      {spec("a"_b, "m"_b, "left"_b), CursorUpdate::make("d"_b, "tok"_b)},
      {spec("m"_b, "z"_b, "right"_b), CursorUpdate::make("m"_b)}};
  const auto split = split_replace(11_t, take(10_t, 1_w), children, 1_op);
  EXPECT_TRUE(executed(split));
  const auto ids = split->value().children;
  EXPECT_EQ(shard(ids[0]).metadata, base::to_owned("left"_b));
  EXPECT_EQ(shard(ids[0]).token, base::to_owned("tok"_b));
  EXPECT_EQ(shard(ids[1]).last_key, base::to_owned("m"_b));
  const auto taken = acquire(12_t, 2_w, ids[0]);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->snapshot.spec, children[0].spec);
  EXPECT_EQ(taken->snapshot.cursor, children[0].cursor);
  EXPECT_EQ(taken->snapshot.parent, kShard);
}

struct CoverageRow {
  std::string_view sentence;
  std::vector<SplitReplaceChild> children;
  std::optional<Reason> expected;  // nothing: it splits
};

std::vector<CoverageRow> coverage_rows(ByteView metadata_too_long, ByteView key_too_long) {
  return {
      {"in order", {child("a"_b, "m"_b), child("m"_b, "z"_b)}, std::nullopt},
      {"in any order",
       {child("m"_b, "q"_b), child("q"_b, "z"_b), child("a"_b, "m"_b)},
       std::nullopt},
      {"starts late",
       {child("b"_b, "m"_b), child("m"_b, "z"_b)},
       Reason{.code = Code::kStartMismatch, .values = {1, 1}}},
      {"starts early",
       {child("Aa"_b, "m"_b), child("m"_b, "z"_b)},
       Reason{.code = Code::kStartMismatch, .values = {1, 2}}},
      {"ends early",
       {child("a"_b, "m"_b), child("m"_b, "yy"_b)},
       Reason{.code = Code::kEndMismatch, .values = {1, 2}}},
      {"ends nowhere",
       {child("a"_b, "m"_b), child("m"_b, ""_b)},
       Reason{.code = Code::kEndMismatch, .values = {1, 0}}},
      {"a gap",
       {child("a"_b, "m"_b), child("nn"_b, "z"_b)},
       Reason{.code = Code::kBoundaryMismatch, .values = {0, 1, 1, 2}}},
      {"an overlap",
       {child("a"_b, "n"_b), child("m"_b, "z"_b)},
       Reason{.code = Code::kBoundaryMismatch, .values = {0, 1, 1, 1}}},
      {"a gap, told in the caller's indices (D-14)",
       {child("n"_b, "z"_b), child("a"_b, "m"_b)},
       Reason{.code = Code::kBoundaryMismatch, .values = {1, 0, 1, 1}}},
      {"an empty child",
       {child("a"_b, "a"_b), child("a"_b, "z"_b)},
       Reason{.code = Code::kInvertedChild, .values = {0}}},
      {"an inverted child, the last by its start",
       {child("a"_b, "q"_b), child("q"_b, "m"_b), child("m"_b, "z"_b)},
       Reason{.code = Code::kEndMismatch, .values = {1, 1}}},
      {"too much metadata",
       {{spec("a"_b, "m"_b, metadata_too_long)}, child("m"_b, "z"_b)},
       Reason{.code = Code::kInvalidChildSpec, .values = {0}}},
      {"a bound that is too long",
       {child("a"_b, key_too_long), child(key_too_long, "z"_b)},
       Reason{.code = Code::kInvalidChildSpec, .values = {0}}},
  };
}

TEST_P(Conformance, B10CoverageFollowsTheTable) {
  const base::Bytes metadata_too_long = repeated('x', 16'385);
  const base::Bytes key_too_long = repeated('b', 4097);
  for (const CoverageRow& row : coverage_rows(metadata_too_long, key_too_long)) {
    open();
    const auto answer = split_replace(11_t, take(10_t, 1_w), row.children, 1_op);
    if (row.expected) {
      EXPECT_EQ(refusal(answer), SplitInvalid{*row.expected}) << row.sentence;
    } else {
      EXPECT_TRUE(executed(answer)) << row.sentence;
    }
  }
}

// D-16: what a child would start with is held to the rules of a cursor.
TEST_P(Conformance, B10CursorsOfChildrenAreChecked) {
  const base::Bytes longest_key = repeated('b', 4096);
  const base::Bytes key_too_long = repeated('b', 4097);
  const base::Bytes token_too_long = repeated('x', 16'385);
  struct CursorRow {
    std::string_view sentence;
    CursorUpdate second;
    bool is_refused;
  };
  const std::vector<CursorRow> cursor_rows{
      {"none", CursorUpdate::initial(), false},
      {"at the start", CursorUpdate::make("b"_b), false},
      {"the longest key", CursorUpdate::make(longest_key), false},
      {"in the other child", CursorUpdate::make("a"_b), true},
      {"at the end", CursorUpdate::make("z"_b), true},
      {"a key that is too long", CursorUpdate::make(key_too_long), true},
      {"a token that is too long", CursorUpdate::make("b"_b, token_too_long), true},
  };
  for (const CursorRow& row : cursor_rows) {
    open();
    const std::vector children{child("a"_b, "b"_b), child("b"_b, "z"_b, row.second)};
    const auto answer = split_replace(11_t, take(10_t, 1_w), children, 1_op);
    if (row.is_refused) {
      const Reason reason{.code = Code::kInvalidChildCursor, .values = {1}};
      EXPECT_EQ(refusal(answer), SplitInvalid{reason}) << row.sentence;
    } else {
      EXPECT_TRUE(executed(answer)) << row.sentence;
    }
  }
}

// The bounds of `count` children of [a, z): a, then b and numbers, then z.
std::vector<base::Bytes> bounds_of(std::size_t count) {
  std::vector<base::Bytes> bounds{base::to_owned("a"_b)};
  for (std::size_t i = 1; i < count; ++i) {
    base::Bytes bound(3, std::byte{'b'});
    base::store_be(bound.data() + 1, static_cast<std::uint16_t>(i));
    bounds.push_back(bound);
  }
  bounds.push_back(base::to_owned("z"_b));
  return bounds;
}

std::vector<SplitReplaceChild> children_between(const std::vector<base::Bytes>& bounds) {
  std::vector<SplitReplaceChild> children;
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i)
    children.push_back(child(bounds[i], bounds[i + 1]));
  return children;
}

TEST_P(Conformance, B10TwoTo256Children) {
  const std::vector<base::Bytes> most = bounds_of(256);
  const auto split = split_replace(11_t, take(10_t, 1_w), children_between(most), 1_op);
  EXPECT_TRUE(executed(split));
  EXPECT_EQ(split->value().children.size(), 256U);
  EXPECT_EQ(introspection().dump_shards().size(), 257U);

  // Others cannot even be planned.
  const std::vector<base::Bytes> more = bounds_of(257);
  const auto too_many = SplitReplacePlan::try_make(children_between(more));
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().code, shard::PlanError::Code::kTooManyChildren);
  const std::vector<base::Bytes> one = bounds_of(1);
  const auto too_few = SplitReplacePlan::try_make(children_between(one));
  ASSERT_FALSE(too_few);
  EXPECT_EQ(too_few.error().code, shard::PlanError::Code::kTooFewChildren);
}

TEST_P(Conformance, B10ABackendMayTakeFewerChildrenAtOnce) {
  open({.children_max = 3});
  const Lease lease = take(10_t, 1_w);
  const Reason too_many{.code = Code::kBackendChildLimitExceeded, .values = {4, 3}};
  const std::vector<base::Bytes> four = bounds_of(4);
  EXPECT_EQ(refusal(split_replace(11_t, lease, children_between(four), 1_op)),
            SplitInvalid{too_many});
  // Told before coverage is looked at.
  const std::vector gaps{child("a"_b, "b"_b), child("c"_b, "d"_b), child("e"_b, "f"_b),
                         child("g"_b, "h"_b)};
  EXPECT_EQ(refusal(split_replace(11_t, lease, gaps, 1_op)), SplitInvalid{too_many});
  const std::vector<base::Bytes> three = bounds_of(3);
  EXPECT_TRUE(executed(split_replace(11_t, lease, children_between(three), 1_op)));
}

// Coverage is told before a cursor, a cursor before the limits.
TEST_P(Conformance, B10TheOrderOfChecks) {
  open({.limits = {.per_tenant_max = 1}});
  const Lease lease = take(10_t, 1_w);
  const CursorUpdate outside = CursorUpdate::make("z"_b);
  const auto reason_of = [&](ByteView second_start, const CursorUpdate& cursor) {
    const std::vector children{child("a"_b, "m"_b), child(second_start, "z"_b, cursor)};
    const auto error = refusal(split_replace(11_t, lease, children, 1_op));
    return error ? error->get_if<SplitInvalid>()->reason.code : Code::kNoChildren;
  };
  EXPECT_EQ(reason_of("n"_b, outside), Code::kBoundaryMismatch);
  EXPECT_EQ(reason_of("m"_b, outside), Code::kInvalidChildCursor);
  EXPECT_EQ(reason_of("m"_b, CursorUpdate::initial()), Code::kShardLimitExceeded);
}

}  // namespace
}  // namespace cadastre::coord::conformance
