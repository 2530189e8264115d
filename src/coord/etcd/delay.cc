#include "coord/etcd/delay.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/random.h"

namespace cadastre::coord::etcd {
namespace {

constexpr std::uint32_t kDoublingsMax = 6;
constexpr std::uint64_t kJitterSteps = 1'000'000;

}  // namespace

std::chrono::milliseconds retry_delay(std::uint32_t attempt) noexcept {
  return std::min(kRetryDelayFirst * (1U << std::min(attempt, kDoublingsMax)), kRetryDelayMax);
}

std::chrono::nanoseconds jittered(std::chrono::nanoseconds delay, base::Random& random) noexcept {
  const auto steps = static_cast<std::int64_t>(kJitterSteps / 2 + random.below(kJitterSteps));
  return delay * steps / static_cast<std::int64_t>(kJitterSteps);
}

}  // namespace cadastre::coord::etcd
