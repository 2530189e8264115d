// B9: the table of cursor rules, for every operation that moves a cursor.

#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/conformance/suite_testing.h"
#include "coord/conformance/words_testing.h"
#include "coord/errors.h"
#include "coord/lease.h"
#include "coord/shard_record.h"
#include "shard/bytes_testing.h"

namespace cadastre::coord::conformance {
namespace {

struct Row {
  std::string_view sentence;
  std::string_view stored;  // empty: none
  base::Bytes key;          // empty: none
  base::Bytes token;
  std::optional<CursorRuleError> expected;  // nothing: it moves
};

base::Bytes bytes(std::string_view text) {
  return base::to_owned(base::as_bytes(text));
}

// Of a shard over [a, z).
std::vector<Row> rows() {
  const base::Bytes no_token;
  const base::Bytes longest_key = repeated('b', 4096);
  const base::Bytes longest_token = repeated(0, 16'384);
  const base::Bytes key_too_long = repeated('b', 4097);
  const base::Bytes token_too_long = repeated(0, 16'385);
  return {
      {"no key", "", {}, {}, CheckpointMissingKey{}},
      {"no key where there was one", "d", {}, {}, CheckpointMissingKey{}},
      {"the start is inside", "", bytes("a"), no_token, std::nullopt},
      {"the end is outside", "", bytes("z"), no_token, CursorOutOfBounds{1, 1, 1}},
      {"just below the end", "", bytes("y\xff\xff"), no_token, std::nullopt},
      {"below the start", "", bytes("`zz"), no_token, CursorOutOfBounds{3, 1, 1}},
      {"the same key again", "d", bytes("d"), no_token, std::nullopt},
      {"forward", "d", bytes("e"), no_token, std::nullopt},
      {"back", "d", bytes("c"), no_token, CursorRegression{1, 1}},
      {"longer is greater", "d", bytes("da"), no_token, std::nullopt},
      {"shorter is less", "da", bytes("d"), no_token, CursorRegression{2, 1}},
      {"bytes are unsigned", "b\x7f", bytes("b\x80"), no_token, std::nullopt},
      {"and so is their order", "b\x80", bytes("b\x7f"), no_token, CursorRegression{2, 2}},
      {"the longest key", "", longest_key, no_token, std::nullopt},
      {"a byte more", "", key_too_long, no_token, CursorKeyTooLarge{4097, 4096}},
      {"the longest token", "", bytes("b"), longest_token, std::nullopt},
      {"a byte more", "", bytes("b"), token_too_long, CursorTokenTooLarge{16'385, 16'384}},
      {"a long key is told before a long token", "", key_too_long, token_too_long,
       CursorKeyTooLarge{4097, 4096}},
      {"a long key before going back", "d", key_too_long, no_token, CursorKeyTooLarge{4097, 4096}},
      {"a long token before going back", "d", bytes("c"), token_too_long,
       CursorTokenTooLarge{16'385, 16'384}},
      {"going back before going out", "d", bytes("A"), no_token, CursorRegression{1, 1}},
  };
}

// The error of any of the three operations, as the table names it.
template <class E>
std::optional<CursorRuleError> cursor_error(const std::optional<E>& error) {
  std::optional<CursorRuleError> found;
  if (!error) return found;
  error->visit([&](const auto& held) {
    if constexpr (CursorRuleError::kHas<std::remove_cvref_t<decltype(held)>>) {
      found = held;
    } else {
      ADD_FAILURE() << to_text(held);
    }
  });
  return found;
}

CursorUpdate cursor_of(const Row& row) {
  return row.key.empty() ? CursorUpdate::initial() : CursorUpdate::make(row.key, row.token);
}

Lease standing_at(Conformance& suite, std::string_view stored) {
  suite.open();
  const Lease lease = suite.take(10_t, 1_w);
  if (stored.empty()) return lease;
  EXPECT_TRUE(executed(
      suite.checkpoint(11_t, lease, CursorUpdate::make(base::as_bytes(stored), "old"_b), 1_op)));
  return lease;
}

void expect_stands_at(const Conformance& suite, const Row& row) {
  EXPECT_EQ(suite.shard().last_key, row.key) << row.sentence;
  EXPECT_EQ(suite.shard().token, row.token) << row.sentence;
}

TEST_P(Conformance, B9CheckpointFollowsTheTable) {
  for (const Row& row : rows()) {
    const Lease lease = standing_at(*this, row.stored);
    const auto answer = checkpoint(12_t, lease, cursor_of(row), 2_op);
    EXPECT_EQ(cursor_error(refusal(answer)), row.expected) << row.sentence;
    if (answer) expect_stands_at(*this, row);
  }
}

TEST_P(Conformance, B9CompletionFollowsTheTable) {
  for (const Row& row : rows()) {
    const Lease lease = standing_at(*this, row.stored);
    const auto answer = complete(12_t, lease, cursor_of(row), 2_op);
    EXPECT_EQ(cursor_error(refusal(answer)), row.expected) << row.sentence;
    if (answer) expect_stands_at(*this, row);
  }
}

// without a key a release moves nothing; with one it follows the same table.
TEST_P(Conformance, B9ReleaseFollowsTheTable) {
  for (const Row& row : rows()) {
    if (row.key.empty()) continue;
    const Lease lease = standing_at(*this, row.stored);
    const auto answer = release(12_t, lease, cursor_of(row), 2_op);
    EXPECT_EQ(cursor_error(refusal(answer)), row.expected) << row.sentence;
    if (answer) expect_stands_at(*this, row);
  }
}

TEST_P(Conformance, B9ACheckpointWithoutATokenErasesIt) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(checkpoint(11_t, lease, CursorUpdate::make("d"_b, "tok"_b), 1_op)));
  EXPECT_EQ(shard().token, base::to_owned("tok"_b));
  EXPECT_TRUE(executed(checkpoint(12_t, lease, "d"_b, 2_op)));
  EXPECT_EQ(shard().token, base::Bytes{});
}

// 4.5: monotone for the shard, whoever holds it.
TEST_P(Conformance, B9ANewOwnerCannotGoBackEither) {
  EXPECT_TRUE(executed(checkpoint(11_t, take(10_t, 1_w), "m"_b, 1_op)));
  EXPECT_EQ(refusal(checkpoint(111_t, take(110_t, 2_w), "d"_b, 2_op)), (CursorRegression{1, 1}));
}

}  // namespace
}  // namespace cadastre::coord::conformance
