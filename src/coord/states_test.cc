#include "coord/states.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include <gtest/gtest.h>

namespace cadastre::coord {
namespace {

// C-2.3: stored numbers. A value that moves makes every stored record lie.
static_assert(static_cast<int>(ShardStatus::kActive) == 0);
static_assert(static_cast<int>(ShardStatus::kDone) == 1);
static_assert(static_cast<int>(ShardStatus::kSplit) == 2);
static_assert(static_cast<int>(ShardStatus::kParked) == 3);
static_assert(static_cast<int>(ParkReason::kPermissionDenied) == 0);
static_assert(static_cast<int>(ParkReason::kNotFound) == 1);
static_assert(static_cast<int>(ParkReason::kPoisoned) == 2);
static_assert(static_cast<int>(ParkReason::kTooManyErrors) == 3);
static_assert(static_cast<int>(ParkReason::kOther) == 4);
static_assert(static_cast<int>(OpKind::kCheckpoint) == 0);
static_assert(static_cast<int>(OpKind::kComplete) == 1);
static_assert(static_cast<int>(OpKind::kPark) == 2);
static_assert(static_cast<int>(OpKind::kSplitReplace) == 3);
static_assert(static_cast<int>(OpKind::kSplitResidual) == 4);
static_assert(static_cast<int>(OpKind::kUnpark) == 5);
static_assert(static_cast<int>(OpKind::kRelease) == 6);
static_assert(static_cast<int>(OpResult::kCompleted) == 0);
static_assert(static_cast<int>(OpResult::kError) == 1);
static_assert(static_cast<int>(OpResult::kSuperseded) == 2);
static_assert(static_cast<int>(RunStatus::kInitializing) == 0);
static_assert(static_cast<int>(RunStatus::kActive) == 1);
static_assert(static_cast<int>(RunStatus::kDone) == 2);
static_assert(static_cast<int>(RunStatus::kFailed) == 3);
static_assert(static_cast<int>(RunStatus::kCancelled) == 4);
static_assert(static_cast<int>(RunOpKind::kRegisterShards) == 0);
static_assert(static_cast<int>(RunOpKind::kCompleteRun) == 1);
static_assert(static_cast<int>(RunOpKind::kFailRun) == 2);
static_assert(static_cast<int>(RunOpKind::kCancelRun) == 3);
static_assert(static_cast<int>(DerivedShardKind::kChild) == 0);
static_assert(static_cast<int>(DerivedShardKind::kResidual) == 1);

// How many numbers are values; the rest of the 256 are none.
template <class E>
int stored_values() {
  int count = 0;
  for (int stored = 0; stored < 256; ++stored) {
    const auto value = parse_stored<E>(static_cast<std::uint8_t>(stored));
    if (!value) continue;
    EXPECT_EQ(static_cast<int>(*value), stored);
    EXPECT_EQ(stored, count) << "the values have no gap";
    ++count;
  }
  return count;
}

TEST(States, ExactlyTheKnownNumbersAreValues) {
  EXPECT_EQ(stored_values<ShardStatus>(), 4);
  EXPECT_EQ(stored_values<ParkReason>(), 5);
  EXPECT_EQ(stored_values<OpKind>(), 7);
  EXPECT_EQ(stored_values<OpResult>(), 3);
  EXPECT_EQ(stored_values<RunStatus>(), 5);
  EXPECT_EQ(stored_values<RunOpKind>(), 4);
  EXPECT_EQ(stored_values<CursorSemantics>(), 2);
  EXPECT_EQ(stored_values<DerivedShardKind>(), 2);
}

template <class E>
void expect_distinct_names() {
  std::set<std::string_view> names;
  std::uint8_t stored = 0;
  for (; const auto value = parse_stored<E>(stored); ++stored)
    names.insert(name(*value));
  EXPECT_EQ(names.size(), stored);
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(States, ValuesHaveNamesOfTheirOwn) {
  expect_distinct_names<ShardStatus>();
  expect_distinct_names<ParkReason>();
  expect_distinct_names<OpKind>();
  expect_distinct_names<RunStatus>();
  expect_distinct_names<RunOpKind>();
  expect_distinct_names<CursorSemantics>();
}

TEST(States, NamesOfRequestsAreParsed) {
  for (std::uint8_t stored = 0; const auto reason = parse_stored<ParkReason>(stored); ++stored)
    EXPECT_EQ(park_reason_named(name(*reason)), reason);
  for (std::uint8_t stored = 0; const auto value = parse_stored<CursorSemantics>(stored); ++stored)
    EXPECT_EQ(semantics_named(name(*value)), value);
  EXPECT_EQ(park_reason_named("Poisoned"), std::nullopt);
  EXPECT_EQ(park_reason_named(""), std::nullopt);
  EXPECT_EQ(semantics_named("done"), std::nullopt);
}

// C-2.3
TEST(States, ParkReasonsHaveWordsForPeople) {
  EXPECT_EQ(words(ParkReason::kPermissionDenied), "permission denied");
  EXPECT_EQ(words(ParkReason::kNotFound), "not found");
  EXPECT_EQ(words(ParkReason::kPoisoned), "poisoned");
  EXPECT_EQ(words(ParkReason::kTooManyErrors), "too many errors");
  EXPECT_EQ(words(ParkReason::kOther), "other");
}

TEST(States, TerminalMeansThatWorkersAreDone) {
  EXPECT_FALSE(is_terminal(ShardStatus::kActive));
  EXPECT_TRUE(is_terminal(ShardStatus::kDone));
  EXPECT_TRUE(is_terminal(ShardStatus::kSplit));
  EXPECT_TRUE(is_terminal(ShardStatus::kParked));
  EXPECT_FALSE(is_terminal(RunStatus::kInitializing));
  EXPECT_FALSE(is_terminal(RunStatus::kActive));
  EXPECT_TRUE(is_terminal(RunStatus::kDone));
  EXPECT_TRUE(is_terminal(RunStatus::kFailed));
  EXPECT_TRUE(is_terminal(RunStatus::kCancelled));
}

}  // namespace
}  // namespace cadastre::coord
