// The groups about specs, cursors and splits.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "shard/cursor.h"
#include "shard/cursor_names_testing.h"
#include "shard/hexrun_testing.h"
#include "shard/key_buf.h"
#include "shard/shard_spec.h"
#include "shard/spec_error.h"
#include "shard/split_coverage.h"
#include "shard/split_plan.h"
#include "shard/vector_entry_testing.h"
#include "shard/vectors_testing.h"

namespace cadastre::shard {
namespace {

Json to_json(const SpecError& error) {
  if (error.code == SpecError::Code::kInvertedRange) {
    return {{"code", code_name(error)}, {"start_len", error.first}, {"end_len", error.second}};
  }
  return {{"code", code_name(error)}, {"size", error.first}, {"max", error.second}};
}

// The names of an error's values in the order of `SplitError::values`.
std::vector<std::string> value_names(SplitError::Code code) {
  using Code = SplitError::Code;
  switch (code) {
    case Code::kStartMismatch: return {"parent_start", "first_child_start"};
    case Code::kEndMismatch: return {"parent_end", "last_child_end"};
    case Code::kBoundaryMismatch:
      return {"child_index", "next_child_index", "child_end", "next_child_start"};
    case Code::kOverlappingChild: return {"child_index", "next_child_index"};
    case Code::kInvertedChild:
    case Code::kInvalidChildSpec: return {"child_index"};
    case Code::kTooManyChildren: return {"count", "max"};
    case Code::kNoChildren:
    case Code::kSingleChild:
    case Code::kParentCursorOutOfBounds:
    case Code::kSpawnLimitExceeded:
    case Code::kBackendChildLimitExceeded:
    case Code::kShardLimitExceeded:
    case Code::kDerivedIdCollision:
    case Code::kInvalidChildCursor: break;
  }
  return {};
}

Json to_json(const SplitError& error) {
  Json json = {{"code", code_name(error)}};
  const auto names = value_names(error.code);
  for (std::size_t i = 0; i < error.values.size(); ++i) {
    if (i < names.size()) {
      json[names[i]] = error.values[i];
    } else {
      EXPECT_EQ(error.values[i], 0U);
    }
  }
  return json;
}

CursorUpdate cursor_at(const std::optional<base::Bytes>& key) {
  return key ? CursorUpdate::make(*key) : CursorUpdate::initial();
}

struct OwnedBounds {
  base::Bytes start;
  base::Bytes end;

  [[nodiscard]] ShardSpecRef spec() const { return ShardSpecRef::unchecked(start, end); }
};

}  // namespace

void check_spec_validate(const Json& group) {
  for_each_entry(group, [](VectorEntry& entry) {
    const auto start = entry.bytes("start");
    const auto end = entry.bytes("end");
    const auto metadata = entry.bytes("metadata");
    const auto verdict = validate(ShardSpecRef::unchecked(start, end, metadata));
    const auto made = ShardSpecRef::try_make(start, end, metadata);
    if (entry.has("error")) {
      const Json& error = entry.at("error");
      ASSERT_FALSE(verdict.has_value());
      EXPECT_EQ(to_json(verdict.error()), error);
      ASSERT_FALSE(made.has_value());
      EXPECT_EQ(to_json(made.error()), error);
      return;
    }
    EXPECT_EQ(entry.at("ok"), true);
    EXPECT_TRUE(verdict.has_value());
    EXPECT_TRUE(made.has_value());
  });
}

void check_cursor_advance(const Json& group) {
  for_each_entry(group, [](VectorEntry& entry) {
    const auto before = entry.optional_bytes("old");
    const auto after = entry.optional_bytes("new");
    EXPECT_EQ(verdict_name(check_cursor_advance(cursor_at(before), cursor_at(after))),
              entry.text("verdict"));
  });
}

void check_cursor_bounds(const Json& group) {
  for_each_entry(group, [](VectorEntry& entry) {
    const auto key = entry.optional_bytes("key");
    const OwnedBounds bounds{entry.bytes("start"), entry.bytes("end")};
    EXPECT_EQ(verdict_name(check_cursor_bounds(cursor_at(key), bounds.spec())),
              entry.text("verdict"));
  });
}

void check_split_coverage(const Json& group) {
  for_each_entry(group, [](VectorEntry& entry) {
    const OwnedBounds parent{entry.bytes("parent_start"), entry.bytes("parent_end")};
    std::vector<OwnedBounds> owned;
    for (const Json& child : entry.at("children")) {
      ASSERT_EQ(child.size(), 2U);
      owned.push_back({hex(child[0].get<std::string>()), hex(child[1].get<std::string>())});
    }
    std::vector<ShardSpecRef> children;
    children.reserve(owned.size());
    for (const OwnedBounds& child : owned)
      children.push_back(child.spec());
    const auto verdict = validate_split_coverage({parent.start, parent.end}, children);
    if (entry.has("error")) {
      const Json& error = entry.at("error");
      ASSERT_FALSE(verdict.has_value());
      EXPECT_EQ(to_json(verdict.error()), error);
      return;
    }
    EXPECT_EQ(entry.at("ok"), true);
    EXPECT_TRUE(verdict.has_value());
  });
}

void check_residual_from_cursor(const Json& group) {
  for_each_entry(group, [](VectorEntry& entry) {
    const OwnedBounds parent{entry.bytes("parent_start"), entry.bytes("parent_end")};
    const auto last_key = entry.optional_bytes("last_key");
    KeyBuf scratch;
    const auto plan = plan_split_residual_from_cursor(parent.spec(), cursor_at(last_key), scratch);
    KeyBuf point_scratch;
    const auto point =
        residual_point_from_cursor(parent.spec(), cursor_at(last_key), point_scratch);
    if (entry.has("error")) {
      const Json& error = entry.at("error");
      ASSERT_FALSE(plan.has_value());
      EXPECT_EQ((Json{{"code", code_name(plan.error())}}), error);
      ASSERT_FALSE(point.has_value());
      EXPECT_EQ(point.error(), plan.error());
      return;
    }
    const auto expected = entry.bytes("split_point");
    ASSERT_TRUE(plan.has_value()) << code_name(plan.error());
    EXPECT_EQ(shown(plan->new_parent().start()), shown(parent.start));
    EXPECT_EQ(shown(plan->new_parent().end()), shown(expected));
    EXPECT_EQ(shown(plan->residual().start()), shown(expected));
    EXPECT_EQ(shown(plan->residual().end()), shown(parent.end));
    ASSERT_TRUE(point.has_value());
    EXPECT_EQ(shown(*point), shown(expected));
  });
}

}  // namespace cadastre::shard
