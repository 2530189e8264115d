#include "client/retry.h"

#include <chrono>
#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include "base/random.h"
#include "client/wire_error.h"
#include "coord/errors.h"

namespace cadastre::client {
namespace {

using std::chrono::milliseconds;

const AnyError kLost = coord::transient("call", "connection lost");

struct NextAttempt : testing::Test {
  std::optional<milliseconds> next(Repeat repeat, const Attempts& attempts, const AnyError& error) {
    return next_attempt({}, repeat, attempts, error, random);
  }
  base::SeededRandom random{1};
};

TEST_F(NextAttempt, FollowsAnUnknownOutcome) {
  EXPECT_TRUE(next(Repeat::kSafe, {.made = 1}, kLost));
}

// an acquisition is not repeated blindly.
TEST_F(NextAttempt, IsNotMadeOfWhatIsSentOnce) {
  EXPECT_FALSE(next(Repeat::kOnce, {.made = 1}, kLost));
}

TEST_F(NextAttempt, IsNotMadeOfWhatWasAnswered) {
  EXPECT_FALSE(next(Repeat::kSafe, {.made = 1}, coord::StaleFence{}));
  EXPECT_FALSE(next(Repeat::kSafe, {.made = 1}, coord::corruption("x", "y")));
  EXPECT_FALSE(next(Repeat::kSafe, {.made = 1}, coord::refused("x", "y")));
}

TEST_F(NextAttempt, EndsWithTheAttemptsAndTheBudget) {
  const RetryPolicy policy;
  EXPECT_TRUE(next(Repeat::kSafe, {.made = policy.attempts_max - 1}, kLost));
  EXPECT_FALSE(next(Repeat::kSafe, {.made = policy.attempts_max}, kLost));
  EXPECT_FALSE(next(Repeat::kSafe, {.made = 1, .spent = policy.budget}, kLost));
}

TEST_F(NextAttempt, WaitsLongerEachTimeWithinItsBounds) {
  const RetryPolicy policy;
  for (std::uint32_t made = 1; made < policy.attempts_max; ++made) {
    const auto whole = std::min(policy.delay_min * (1U << (made - 1)), policy.delay_max);
    for (int i = 0; i < 100; ++i) {
      const auto delay = next(Repeat::kSafe, {.made = made}, kLost).value();
      EXPECT_LE(delay, whole);
      EXPECT_GE(delay, whole / 2);
    }
  }
}

}  // namespace
}  // namespace cadastre::client
