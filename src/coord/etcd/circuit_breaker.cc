#include "coord/etcd/circuit_breaker.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "base/clock.h"

namespace cadastre::coord::etcd {

std::optional<CircuitBreaker::Permit> CircuitBreaker::admit(base::Elapsed now) noexcept {
  switch (state_) {
    case State::kClosed: return Permit::kCall;
    case State::kHalfOpen: return std::nullopt;
    case State::kOpen: break;
  }
  if (now - opened_at_ < rest_) return std::nullopt;
  state_ = State::kHalfOpen;
  return Permit::kProbe;
}

void CircuitBreaker::answered(Permit permit) noexcept {
  if (permit == Permit::kProbe) {
    CAD_CHECK(state_ == State::kHalfOpen, "a probe is reported once");
    state_ = State::kClosed;
    rest_ = settings_.rest;
  }
  if (state_ == State::kClosed) failures_ = 0;
}

void CircuitBreaker::failed(Permit permit, base::Elapsed now) noexcept {
  if (permit == Permit::kProbe) {
    CAD_CHECK(state_ == State::kHalfOpen, "a probe is reported once");
    rest_ = std::min(rest_ * 2, settings_.rest_max);
    open(now);
    return;
  }
  if (state_ != State::kClosed) return;
  if (++failures_ >= settings_.failures_max) open(now);
}

void CircuitBreaker::open(base::Elapsed now) noexcept {
  state_ = State::kOpen;
  opened_at_ = now;
  failures_ = 0;
}

}  // namespace cadastre::coord::etcd
