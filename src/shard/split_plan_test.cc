#include "shard/split_plan.h"

#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "shard/bytes_testing.h"
#include "shard/cursor.h"
#include "shard/error_text_testing.h"
#include "shard/key_buf.h"
#include "shard/limits.h"
#include "shard/shard_spec.h"
#include "shard/split_coverage.h"
#include "shard/view_guard.h"

namespace cadastre::shard {
namespace {

using testing::operator""_b;
using Code = PlanError::Code;

const ShardSpecRef kParent = ShardSpecRef::must_make("a"_b, "z"_b, "meta"_b);

const auto kNoCursor = [](std::size_t /*index*/, const ShardSpecRef& /*child*/) {
  return CursorUpdate::initial();
};

std::vector<ByteView> many_points(const std::vector<std::string>& texts) {
  std::vector<ByteView> points;
  points.reserve(texts.size());
  for (const auto& text : texts)
    points.push_back(base::as_bytes(text));
  return points;
}

// Ascending three-letter keys inside kParent.
std::vector<std::string> ascending_texts(std::size_t count) {
  std::vector<std::string> texts;
  texts.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    texts.push_back({'b', static_cast<char>('a' + i / 26), static_cast<char>('a' + i % 26)});
  }
  return texts;
}

TEST(SplitReplacePlan, ChecksItsShapeOnly) {
  const SplitReplaceChild child{ShardSpecRef::must_make("a"_b, "b"_b)};
  EXPECT_EQ(SplitReplacePlan::try_make({}).error(),
            (PlanError{.code = Code::kTooFewChildren, .count = 0}));
  EXPECT_EQ(SplitReplacePlan::try_make(std::vector(1, child)).error(),
            (PlanError{.code = Code::kTooFewChildren, .count = 1}));
  EXPECT_TRUE(SplitReplacePlan::try_make(std::vector(2, child)));
  EXPECT_TRUE(SplitReplacePlan::try_make(std::vector(kMaxSplitChildren, child)));
  EXPECT_EQ(SplitReplacePlan::try_make(std::vector(kMaxSplitChildren + 5, child)).error(),
            (PlanError{.code = Code::kTooManyChildren, .count = 257}));
}

TEST(PlanSplitReplace, KeepsTheCallersOrderAndChecksCoverage) {
  const std::vector<SplitReplaceChild> children = {{ShardSpecRef::must_make("m"_b, "z"_b)},
                                                   {ShardSpecRef::must_make("a"_b, "m"_b)}};
  const auto plan = plan_split_replace(kParent, children);
  ASSERT_TRUE(plan);
  EXPECT_EQ(base::as_text(plan->children()[0].spec.start()), "m");
  EXPECT_EQ(*plan, *plan_split_replace(kParent, children)) << "equal inputs, equal plans";

  const std::vector<SplitReplaceChild> gap = {{ShardSpecRef::must_make("a"_b, "m"_b)},
                                              {ShardSpecRef::must_make("n"_b, "z"_b)}};
  const auto refused = plan_split_replace(kParent, gap);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalidCoverage);
  EXPECT_EQ(refused.error().coverage.code, SplitError::Code::kBoundaryMismatch);
  EXPECT_EQ(code_name(refused.error()), "boundary_mismatch");
}

TEST(PlanSplitReplaceAtPoints, CutsBetweenThePointsAndAsksForEachCursorInOrder) {
  std::vector<std::string> seen;
  const auto points = std::vector<ByteView>{"g"_b, "p"_b};
  const auto plan = plan_split_replace_at_points(
      kParent, points, [&](std::size_t index, const ShardSpecRef& child) {
        seen.push_back(std::to_string(index) + ":" + std::string(base::as_text(child.start())));
        return CursorUpdate::make(child.start());
      });
  ASSERT_TRUE(plan);
  EXPECT_EQ(seen, (std::vector<std::string>{"0:a", "1:g", "2:p"}));
  ASSERT_EQ(plan->children().size(), 3U);
  EXPECT_EQ(plan->children()[1].spec, ShardSpecRef::must_make("g"_b, "p"_b, "meta"_b));
  EXPECT_EQ(plan->children()[2].cursor, CursorUpdate::make("p"_b));
  EXPECT_TRUE(validate_child_cursors(*plan));
}

TEST(PlanSplitReplaceAtPoints, JudgesTheCountBeforeAnyCallback) {
  const auto never = [](std::size_t, const ShardSpecRef&) -> CursorUpdate {
    ADD_FAILURE() << "no cursor is asked for";
    return CursorUpdate::initial();
  };
  EXPECT_EQ(plan_split_replace_at_points(kParent, {}, never).error(),
            (PlanError{.code = Code::kTooFewChildren, .count = 1}));
  const auto texts = ascending_texts(kMaxSplitChildren);
  EXPECT_EQ(plan_split_replace_at_points(kParent, many_points(texts), never).error(),
            (PlanError{.code = Code::kTooManyChildren, .count = 257}));
  const auto most = ascending_texts(kMaxSplitChildren - 1);
  const auto plan = plan_split_replace_at_points(kParent, many_points(most), kNoCursor);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->children().size(), 256U);
}

// 9.1 #63
TEST(PlanSplitReplaceAtPoints, RefusesDuplicatesDisorderAndEmptyPoints) {
  const auto coverage = [](const std::vector<ByteView>& points) {
    const auto plan = plan_split_replace_at_points_initial_cursor(kParent, points);
    EXPECT_FALSE(plan.has_value());
    return plan.has_value() ? SplitError::Code::kNoChildren : plan.error().coverage.code;
  };
  EXPECT_EQ(coverage({"g"_b, "g"_b}), SplitError::Code::kInvertedChild);
  EXPECT_EQ(coverage({"p"_b, "g"_b}), SplitError::Code::kEndMismatch);
  EXPECT_EQ(coverage({""_b}), SplitError::Code::kStartMismatch);
  EXPECT_EQ(coverage({"a"_b}), SplitError::Code::kInvertedChild)
      << "the parent's start is no interior key";
  EXPECT_EQ(coverage({"z"_b}), SplitError::Code::kInvertedChild);
  const auto open = ShardSpecRef::unbounded();
  const std::vector<ByteView> empty_point{""_b};
  EXPECT_EQ(plan_split_replace_at_points_initial_cursor(open, empty_point).error().coverage.code,
            SplitError::Code::kOverlappingChild);
}

TEST(ValidateChildCursors, NamesTheFirstChildWhoseCursorIsOutside) {
  const auto points = std::vector<ByteView>{"g"_b, "p"_b};
  const auto plan =
      plan_split_replace_at_points(kParent, points, [](std::size_t index, const ShardSpecRef&) {
        return index == 1 ? CursorUpdate::make("q"_b) : CursorUpdate::initial();
      });
  ASSERT_TRUE(plan);
  EXPECT_EQ(validate_child_cursors(*plan).error(),
            (ChildCursorError{1, CursorBounds::kAboveRange}));
}

TEST(PlanSplitResidual, RefusesIdenticalSpecsAndSwappedArguments) {
  const auto left = ShardSpecRef::must_make("a"_b, "m"_b);
  const auto right = ShardSpecRef::must_make("m"_b, "z"_b);
  EXPECT_TRUE(plan_split_residual(kParent, left, right));
  EXPECT_EQ(plan_split_residual(kParent, left, left).error().code, Code::kIdenticalSpecs);
  EXPECT_EQ(plan_split_residual(kParent, right, left).error().coverage.code,
            SplitError::Code::kStartMismatch);
  EXPECT_EQ(plan_split_residual(kParent, left, ShardSpecRef::must_make("m"_b, "y"_b))
                .error()
                .coverage.code,
            SplitError::Code::kEndMismatch);
}

TEST(PlanSplitResidualAtPoint, DividesAtThePointWithTheParentsMetadata) {
  const auto plan = plan_split_residual_at_point(kParent, "m"_b);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->new_parent(), ShardSpecRef::must_make("a"_b, "m"_b, "meta"_b));
  EXPECT_EQ(plan->residual(), ShardSpecRef::must_make("m"_b, "z"_b, "meta"_b));
  EXPECT_FALSE(plan_split_residual_at_point(kParent, ""_b)) << "9.1 #63";
  EXPECT_FALSE(plan_split_residual_at_point(kParent, "a"_b));
  EXPECT_FALSE(plan_split_residual_at_point(kParent, "z"_b));
}

TEST(PlanSplitResidualFromCursor, CutsRightBehindTheCursor) {
  KeyBuf scratch;
  const auto plan = plan_split_residual_from_cursor(kParent, CursorUpdate::make("m"_b), scratch);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->residual(), ShardSpecRef::must_make("m\0"_b, "z"_b, "meta"_b));
  EXPECT_EQ(plan_split_residual_from_cursor(kParent, CursorUpdate::initial(), scratch).error().code,
            Code::kMissingCursor);
}

TEST(PlanError, SaysWhatWasWrongInWords) {
  EXPECT_EQ(text_of(PlanError{.code = Code::kTooFewChildren, .count = 1}),
            "a split has at least two children, not 1");
  EXPECT_EQ(text_of(plan_split_replace_at_points_initial_cursor(kParent,
                                                                std::vector<ByteView>{"g"_b, "g"_b})
                        .error()),
            "child 1 ends before it begins");
}

std::string canonical_hex(const auto& plan) {
  std::string hex;
  visit_canonical_bytes(plan, [&](ByteView bytes) { base::append_hex(hex, bytes); });
  return hex;
}

TEST(CanonicalBytes, AreLengthsAndBytesInOrder) {
  const auto parent = ShardSpecRef::must_make("a"_b, "c"_b, "M"_b);
  const auto plan = plan_split_replace_at_points(
      parent, std::vector<ByteView>{"b"_b}, [](std::size_t index, const ShardSpecRef&) {
        return index == 0 ? CursorUpdate::make("ab"_b, "T"_b) : CursorUpdate::initial();
      });
  EXPECT_EQ(canonical_hex(*plan),
            "02000000"  // two children
            "0100000061"
            "0100000062"
            "010000004d"  // "a", "b", "M"
            "01"
            "020000006162"
            "01"
            "0100000054"  // key "ab", token "T"
            "0100000062"
            "0100000063"
            "010000004d"
            "00"
            "00");  // "b", "c", "M", no cursor
  EXPECT_EQ(canonical_hex(*plan_split_residual_at_point(parent, "b"_b)),
            "0100000061"
            "0100000062"
            "010000004d"
            "0100000062"
            "0100000063"
            "010000004d");
}

// 9.1 #71
TEST(SplitPlanDeathTest, CheckedPlansNoticeScratchReuse) {
  KeyBuf scratch;
  const auto plan = plan_split_residual_from_cursor(kParent, CursorUpdate::make("m"_b), scratch);
  ASSERT_TRUE(plan);
  scratch.assign("other"_b);
  if constexpr (kCheckedViews) {
    EXPECT_DEATH((void)plan->residual().start(), "view outlived scratch reuse");
    EXPECT_DEATH((void)plan->new_parent().end(), "view outlived scratch reuse");
  }
  EXPECT_EQ(base::as_text(plan->new_parent().start()), "a") << "the parent's own bytes still stand";
}

}  // namespace
}  // namespace cadastre::shard
