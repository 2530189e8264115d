#include "coord/etcd/circuit_breaker.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/random.h"

namespace cadastre::coord::etcd {
namespace {

using std::chrono::milliseconds;
using Permit = CircuitBreaker::Permit;
using State = CircuitBreaker::State;

constexpr CircuitBreaker::Settings kSettings{
    .failures_max = 3, .rest = milliseconds{100}, .rest_max = milliseconds{300}};

// A breaker that has just opened at `now`.
CircuitBreaker opened(base::Elapsed now) {
  CircuitBreaker breaker(kSettings);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(breaker.admit(now), Permit::kCall);
    breaker.failed(Permit::kCall, now);
  }
  return breaker;
}

TEST(CircuitBreaker, OpensAtTheLastOfSoManyFailuresInARow) {
  CircuitBreaker breaker(kSettings);
  breaker.failed(Permit::kCall, milliseconds{1});
  breaker.failed(Permit::kCall, milliseconds{2});
  EXPECT_EQ(breaker.state(), State::kClosed);
  breaker.answered(Permit::kCall);  // Not in a row.
  breaker.failed(Permit::kCall, milliseconds{3});
  breaker.failed(Permit::kCall, milliseconds{4});
  EXPECT_EQ(breaker.admit(milliseconds{4}), Permit::kCall);
  breaker.failed(Permit::kCall, milliseconds{5});
  EXPECT_EQ(breaker.state(), State::kOpen);
  EXPECT_EQ(breaker.admit(milliseconds{104}), std::nullopt);
}

TEST(CircuitBreaker, GivesOneProbeAtATimeAfterTheRest) {
  CircuitBreaker breaker = opened(milliseconds{0});
  EXPECT_EQ(breaker.admit(milliseconds{99}), std::nullopt);
  EXPECT_EQ(breaker.admit(milliseconds{100}), Permit::kProbe);
  EXPECT_EQ(breaker.admit(milliseconds{100}), std::nullopt);
  EXPECT_EQ(breaker.admit(milliseconds{10'000}), std::nullopt);
  breaker.answered(Permit::kProbe);
  EXPECT_EQ(breaker.admit(milliseconds{10'000}), Permit::kCall);
}

TEST(CircuitBreaker, RestsLongerAfterEveryFailedProbeUpToABound) {
  CircuitBreaker breaker = opened(milliseconds{0});
  milliseconds now{0};
  for (const milliseconds rest :
       {milliseconds{100}, milliseconds{200}, milliseconds{300}, milliseconds{300}}) {
    EXPECT_EQ(breaker.admit(now + rest - milliseconds{1}), std::nullopt);
    now += rest;
    ASSERT_EQ(breaker.admit(now), Permit::kProbe);
    breaker.failed(Permit::kProbe, now);
  }
  now += milliseconds{300};
  ASSERT_EQ(breaker.admit(now), Permit::kProbe);
  breaker.answered(Permit::kProbe);
  for (int i = 0; i < 3; ++i)
    breaker.failed(Permit::kCall, now);
  EXPECT_EQ(breaker.admit(now + milliseconds{100}), Permit::kProbe);  // The first rest again.
}

TEST(CircuitBreaker, OnlyTheProbeDecidesWhileItIsOpen) {
  CircuitBreaker breaker = opened(milliseconds{0});
  breaker.answered(Permit::kCall);  // Asked before the opening.
  EXPECT_EQ(breaker.state(), State::kOpen);
  ASSERT_EQ(breaker.admit(milliseconds{100}), Permit::kProbe);
  breaker.answered(Permit::kCall);
  breaker.failed(Permit::kCall, milliseconds{110});
  EXPECT_EQ(breaker.state(), State::kHalfOpen);
}

// Invariant 1, over random programs.
TEST(CircuitBreaker, NeverHasTwoProbesOut) {
  base::SeededRandom random(7);
  CircuitBreaker breaker(kSettings);
  std::vector<Permit> out;
  int probes = 0;
  milliseconds now{0};
  for (int step = 0; step < 100'000; ++step) {
    now += milliseconds{random.below(20)};
    if (out.empty() || random.below(2) == 0) {
      const auto permit = breaker.admit(now);
      if (!permit) continue;
      if (*permit == Permit::kProbe) ++probes;
      out.push_back(*permit);
    } else {
      const Permit permit = out[random.below(out.size())];
      std::erase_if(out, [&, once = false](Permit other) mutable {
        return !once && (once = other == permit);
      });
      if (permit == Permit::kProbe) --probes;
      random.below(3) == 0 ? breaker.answered(permit) : breaker.failed(permit, now);
    }
    ASSERT_LE(probes, 1);
    ASSERT_EQ(probes == 1, breaker.state() == State::kHalfOpen);
  }
}

}  // namespace
}  // namespace cadastre::coord::etcd
