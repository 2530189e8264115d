// EndpointRing: which of etcd's members to ask next.
//
// One endpoint is preferred, so that a caller's calls go through one member while it answers. One that fails
// hands the preference to the next. Each has its CircuitBreaker: an endpoint that rests is passed over, and is
// tried again, by one call, only when no other is left.
//
// A step machine. One thread at a time.

#pragma once

#include <bitset>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "coord/etcd/circuit_breaker.h"
#include "coord/etcd/grpc_limits.h"

namespace cadastre::coord::etcd {

using EndpointSet = std::bitset<kEndpointsMax>;

class EndpointRing {
 public:
  struct Choice {
    std::size_t endpoint = 0;
    CircuitBreaker::Permit permit = CircuitBreaker::Permit::kCall;
  };

  // At least one endpoint.
  EndpointRing(std::size_t count, CircuitBreaker::Settings settings);

  // Not one of `tried`. Nothing: all others rest.
  [[nodiscard]] std::optional<Choice> choose(base::Elapsed now, const EndpointSet& tried);
  void answered(const Choice& choice);
  void failed(const Choice& choice, base::Elapsed now);

 private:
  std::vector<CircuitBreaker> breakers_;
  std::size_t preferred_ = 0;
};

}  // namespace cadastre::coord::etcd
