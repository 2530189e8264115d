#include "coord/etcd/grpc_endpoints.h"

#include <chrono>
#include <cstddef>
#include <optional>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "coord/etcd/circuit_breaker.h"

namespace cadastre::coord::etcd {
namespace {

using std::chrono::milliseconds;

constexpr CircuitBreaker::Settings kSettings{
    .failures_max = 1, .rest = milliseconds{100}, .rest_max = milliseconds{100}};

std::optional<std::size_t> chosen(EndpointRing& ring, milliseconds now, EndpointSet tried = {}) {
  const auto choice = ring.choose(now, tried);
  if (!choice) return std::nullopt;
  return choice->endpoint;
}

// Asks at `now` and gets no answer.
std::optional<std::size_t> fail_one(EndpointRing& ring, milliseconds now) {
  const auto choice = ring.choose(now, {});
  if (!choice) return std::nullopt;
  ring.failed(*choice, now);
  return choice->endpoint;
}

TEST(EndpointRing, StaysWithTheMemberThatAnswers) {
  EndpointRing ring(3, kSettings);
  for (int i = 0; i < 3; ++i) {
    const auto choice = ring.choose(milliseconds{0}, {});
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->endpoint, 0U);
    ring.answered(*choice);
  }
}

TEST(EndpointRing, GoesOnToTheNextOneThatWasNotTried) {
  EndpointRing ring(3, kSettings);
  EXPECT_EQ(fail_one(ring, milliseconds{0}), 0U);
  EXPECT_EQ(chosen(ring, milliseconds{0}), 1U);
  EXPECT_EQ(chosen(ring, milliseconds{0}, EndpointSet(0b010)), 2U);
  EXPECT_EQ(chosen(ring, milliseconds{0}, EndpointSet(0b110)),
            std::nullopt);  // The first one rests.
}

TEST(EndpointRing, FailsFastWhileAllRestAndThenProbesOneByOne) {
  EndpointRing ring(2, kSettings);
  EXPECT_EQ(fail_one(ring, milliseconds{0}), 0U);
  EXPECT_EQ(fail_one(ring, milliseconds{0}), 1U);
  EXPECT_EQ(chosen(ring, milliseconds{99}), std::nullopt);
  const auto first = ring.choose(milliseconds{100}, {});
  const auto second = ring.choose(milliseconds{100}, {});
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->endpoint, second->endpoint);
  EXPECT_EQ(chosen(ring, milliseconds{100}), std::nullopt);
  ring.failed(*first, milliseconds{100});
  ring.answered(*second);
  EXPECT_EQ(chosen(ring, milliseconds{100}), second->endpoint);
}

TEST(EndpointRing, ProbesAMemberThatRestsOnlyWhenNoOtherIsLeft) {
  EndpointRing ring(2, kSettings);
  EXPECT_EQ(fail_one(ring, milliseconds{0}), 0U);
  EXPECT_EQ(chosen(ring, milliseconds{1'000}), 1U);
  EXPECT_EQ(chosen(ring, milliseconds{1'000}, EndpointSet(0b10)), 0U);
}

}  // namespace
}  // namespace cadastre::coord::etcd
