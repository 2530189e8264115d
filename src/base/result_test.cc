#include "base/result.h"

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

namespace cadastre::base {
namespace {

enum class OpenError : std::uint8_t {
  kLocked,
  kDamaged,
};

// A plain error: no strings, no allocation.
struct TooLong {
  std::uint64_t actual = 0;
  std::uint64_t max = 0;
  friend constexpr bool operator==(const TooLong&, const TooLong&) noexcept = default;
};

static_assert(std::is_same_v<Result<int, OpenError>, std::expected<int, Error<OpenError>>>);
static_assert(std::is_same_v<Result<int, TooLong>, std::expected<int, TooLong>>);

Result<void, OpenError> lock(bool free) {
  if (!free) return fail(OpenError::kLocked, "held by process 7");
  return {};
}

Result<std::unique_ptr<int>, OpenError> load(bool sound) {
  if (!sound) return fail(OpenError::kDamaged);
  return std::make_unique<int>(42);
}

Result<int, OpenError> open(bool free, bool sound) {
  CAD_TRY(lock(free));
  const std::unique_ptr<int> value = CAD_TRY(load(sound));
  return *value + 1;
}

TEST(Result, TryUnwrapsVoidAndMoveOnlyValues) {
  EXPECT_EQ(open(true, true), 43);
}

TEST(Result, TryPassesOnCodeAndDetail) {
  const auto locked = open(false, true);
  ASSERT_FALSE(locked.has_value());
  EXPECT_EQ(locked.error().code, OpenError::kLocked);
  EXPECT_EQ(locked.error().detail, "held by process 7");

  const auto damaged = open(true, false);
  ASSERT_FALSE(damaged.has_value());
  EXPECT_EQ(damaged.error().code, OpenError::kDamaged);
  EXPECT_EQ(damaged.error().detail, "");
}

TEST(Result, ErrorsAreEqualWhenTheirCodesAre) {
  EXPECT_EQ((Error<OpenError>{OpenError::kLocked, "a"}),
            (Error<OpenError>{OpenError::kLocked, "b"}));
  EXPECT_NE((Error<OpenError>{OpenError::kLocked, "a"}),
            (Error<OpenError>{OpenError::kDamaged, "a"}));
}

constexpr Result<std::uint64_t, TooLong> bounded(std::uint64_t size) {
  if (size > 10) return fail(TooLong{size, 10});
  return size;
}

constexpr Result<std::uint64_t, TooLong> doubled(std::uint64_t size) {
  const auto within = bounded(size);
  if (!within) return fail(within.error());
  return 2 * *within;
}

Result<std::string, TooLong> repeated(std::uint64_t size) {
  return std::string(CAD_TRY(bounded(size)), 'x');
}

TEST(Result, PlainErrorsAreStoredAsTheyAre) {
  static_assert(doubled(4) == 8U);
  static_assert(doubled(11).error() == TooLong{11, 10});
  EXPECT_EQ(repeated(3), "xxx");
  EXPECT_EQ(repeated(12).error(), (TooLong{12, 10}));
}

TEST(Result, TryOnANamedResultLeavesItIntact) {
  const auto use = [](Result<std::string, OpenError>& named) -> Result<std::string, OpenError> {
    return CAD_TRY(named)
    +"!";
  };
  Result<std::string, OpenError> good = "a value that is too long to be stored inside the string";
  EXPECT_EQ(use(good), *good + "!");
  EXPECT_FALSE(good->empty());

  Result<std::string, OpenError> bad = fail(OpenError::kDamaged, "the footer is missing");
  EXPECT_EQ(use(bad).error().detail, "the footer is missing");
  EXPECT_EQ(bad.error().detail, "the footer is missing");
}

TEST(Result, TryEvaluatesItsExpressionOnce) {
  int calls = 0;
  const auto counted = [&]() -> Result<int, OpenError> {
    return ++calls;
  };
  const auto caller = [&]() -> Result<int, OpenError> {
    return CAD_TRY(counted());
  };
  EXPECT_EQ(caller(), 1);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace cadastre::base
