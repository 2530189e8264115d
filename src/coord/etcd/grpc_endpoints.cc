#include "coord/etcd/grpc_endpoints.h"

#include <cstddef>
#include <optional>

#include "base/check.h"
#include "base/clock.h"
#include "coord/etcd/circuit_breaker.h"
#include "coord/etcd/grpc_limits.h"

namespace cadastre::coord::etcd {

EndpointRing::EndpointRing(std::size_t count, CircuitBreaker::Settings settings)
    : breakers_(count, CircuitBreaker(settings)) {
  CAD_CHECK(count >= 1, "the configuration has an endpoint");
  CAD_CHECK(count <= kEndpointsMax, "the configuration bounds its endpoints");
}

std::optional<EndpointRing::Choice> EndpointRing::choose(base::Elapsed now,
                                                         const EndpointSet& tried) {
  for (std::size_t i = 0; i < breakers_.size(); ++i) {
    const std::size_t endpoint = (preferred_ + i) % breakers_.size();
    if (tried.test(endpoint)) continue;
    if (breakers_[endpoint].state() == CircuitBreaker::State::kClosed)
      return Choice{endpoint, *breakers_[endpoint].admit(now)};
  }
  for (std::size_t i = 0; i < breakers_.size(); ++i) {
    const std::size_t endpoint = (preferred_ + i) % breakers_.size();
    if (tried.test(endpoint)) continue;
    if (const auto permit = breakers_[endpoint].admit(now)) return Choice{endpoint, *permit};
  }
  return std::nullopt;
}

void EndpointRing::answered(const Choice& choice) {
  breakers_[choice.endpoint].answered(choice.permit);
  if (choice.permit == CircuitBreaker::Permit::kProbe) preferred_ = choice.endpoint;
}

void EndpointRing::failed(const Choice& choice, base::Elapsed now) {
  breakers_[choice.endpoint].failed(choice.permit, now);
  if (preferred_ == choice.endpoint) preferred_ = (preferred_ + 1) % breakers_.size();
}

}  // namespace cadastre::coord::etcd
