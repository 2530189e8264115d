#include "shard/split_coverage.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "shard/bytes_testing.h"
#include "shard/error_text_testing.h"
#include "shard/key_range.h"
#include "shard/shard_spec.h"

namespace cadastre::shard {
namespace {

using testing::operator""_b;
using Code = SplitError::Code;

// Vectors SC-01 to SC-17 are in the vector suite; here is what they do not reach.

TEST(ValidateSplitCoverage, RefusesMoreThan256ChildrenBeforeAnythingElse) {
  const std::vector<ShardSpecRef> children(257, ShardSpecRef::unbounded());
  EXPECT_EQ(validate_split_coverage({}, children).error(),
            (SplitError{.code = Code::kTooManyChildren, .values = {257, 256}}));
}

TEST(ValidateSplitCoverage, SortsManyChildrenWithLongSharedHeads) {
  std::vector<std::string> bounds;
  for (int i = 0; i <= 256; ++i)
    bounds.push_back("shared/head/" + std::to_string(1000 + i));
  std::vector<ShardSpecRef> children;
  children.reserve(256);
  for (std::size_t i = 0; i < 256; ++i) {
    children.push_back(
        ShardSpecRef::must_make(base::as_bytes(bounds[i]), base::as_bytes(bounds[i + 1])));
  }
  std::ranges::reverse(children);
  std::ranges::rotate(children, children.begin() + 100);
  const KeyRange parent{base::as_bytes(bounds.front()), base::as_bytes(bounds.back())};
  EXPECT_TRUE(validate_split_coverage(parent, children));
  children[17] = children[18];
  EXPECT_FALSE(validate_split_coverage(parent, children));
}

TEST(ValidateSplitCoverage, OrdersAShortStartBeforeItsZeroPaddedTwin) {
  const std::vector<ShardSpecRef> children = {ShardSpecRef::must_make("a\0"_b, "b"_b),
                                              ShardSpecRef::must_make("a"_b, "a\0"_b)};
  EXPECT_TRUE(validate_split_coverage({"a"_b, "b"_b}, children));
}

TEST(ValidateResidualSplit, GuardsAgainstSwappedArguments) {
  const auto left = ShardSpecRef::must_make("a"_b, "m"_b);
  const auto right = ShardSpecRef::must_make("m"_b, "z"_b);
  const KeyRange old_range{"a"_b, "z"_b};
  EXPECT_TRUE(validate_residual_split(old_range, left, right));
  EXPECT_EQ(validate_residual_split(old_range, right, left).error().code, Code::kStartMismatch);
  EXPECT_EQ(validate_residual_split(old_range, left, left).error().code, Code::kEndMismatch);
}

TEST(SplitError, ReservesTheCodesOfTheLayersAbove) {
  EXPECT_EQ(code_name(SplitError{.code = Code::kParentCursorOutOfBounds}),
            "parent_cursor_out_of_bounds");
  EXPECT_EQ(text_of(SplitError{.code = Code::kSpawnLimitExceeded, .values = {1000, 30, 1024}}),
            "1000 spawned and 30 more exceed 1024");
  EXPECT_EQ(text_of(SplitError{.code = Code::kBackendChildLimitExceeded, .values = {200, 120}}),
            "200 children exceed the backend's limit of 120");
  EXPECT_EQ(text_of(SplitError{.code = Code::kShardLimitExceeded,
                               .scope = SplitError::Scope::kPerTenant,
                               .values = {9, 2, 10}}),
            "9 shards and 2 more exceed 10");
  EXPECT_EQ(text_of(SplitError{.code = Code::kDerivedIdCollision, .values = {7}}),
            "derived id 7 is taken");
}

}  // namespace
}  // namespace cadastre::shard
