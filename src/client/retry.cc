#include "client/retry.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/random.h"
#include "client/wire_error.h"
#include "coord/errors.h"

namespace cadastre::client {

using std::chrono::milliseconds;

std::optional<milliseconds> next_attempt(const RetryPolicy& policy,
                                         Repeat repeat,
                                         const Attempts& attempts,
                                         const Failure& failure,
                                         base::Random& random) {
  const auto* const infra = failure.error.get_if<coord::InfraError>();
  if (infra == nullptr || infra->kind != coord::InfraError::Kind::kTransient) return std::nullopt;
  if (repeat == Repeat::kOnce && failure.executed != Executed::kNo) return std::nullopt;
  if (attempts.made >= policy.attempts_max) return std::nullopt;

  milliseconds delay = policy.delay_min;
  for (std::uint32_t i = 1; i < attempts.made && delay < policy.delay_max; ++i)
    delay *= 2;
  delay = std::min(delay, policy.delay_max);
  const auto half = static_cast<std::uint64_t>(delay.count() / 2);
  delay -= milliseconds(random.below(half + 1));
  if (attempts.spent + delay >= policy.budget) return std::nullopt;
  return delay;
}

}  // namespace cadastre::client
