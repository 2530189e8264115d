#include "bench/harness.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ratio>

#include "base/function_ref.h"

namespace cadastre::bench {
namespace {

double time_ns(Body body, std::uint64_t iterations) {
  const auto begin = std::chrono::steady_clock::now();
  body(iterations);
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::nano>(end - begin).count();
}

// How many iterations fill one repetition; warms caches on the way.
std::uint64_t calibrate(Body body) {
  std::uint64_t iterations = 1;
  while (true) {
    const double elapsed = time_ns(body, iterations);
    if (elapsed >= static_cast<double>(kRepetitionNs)) return iterations;
    const double scale = elapsed <= 0 ? 16.0 : 1.2 * static_cast<double>(kRepetitionNs) / elapsed;
    const double next = static_cast<double>(iterations) * std::clamp(scale, 1.2, 16.0);
    iterations = std::max(iterations + 1, static_cast<std::uint64_t>(next));
  }
}

using Samples = std::array<double, kRepetitions>;

Timing summarise(Samples samples) {
  std::ranges::sort(samples);
  const double median = samples[kRepetitions / 2];
  return {median, samples.front(), (samples[kRepetitions - 2] - samples[1]) / median};
}

}  // namespace

Timing measure(Body body) {
  const std::uint64_t iterations = calibrate(body);
  Samples samples{};
  for (double& sample : samples)
    sample = time_ns(body, iterations) / static_cast<double>(iterations);
  return summarise(samples);
}

double time_once(base::FunctionRef<void()> work) {
  return time_ns([&](std::uint64_t) { work(); }, 1);
}

Timing measure_samples(base::FunctionRef<double()> sample) {
  Samples samples{};
  for (double& taken : samples)
    taken = sample();
  return summarise(samples);
}

Duel measure_against(Body ours, Body theirs) {
  const std::uint64_t our_iterations = calibrate(ours);
  const std::uint64_t their_iterations = calibrate(theirs);
  Samples our_samples{};
  Samples their_samples{};
  for (std::size_t i = 0; i < kRepetitions; ++i) {
    our_samples[i] = time_ns(ours, our_iterations) / static_cast<double>(our_iterations);
    their_samples[i] = time_ns(theirs, their_iterations) / static_cast<double>(their_iterations);
  }
  return {summarise(our_samples), summarise(their_samples)};
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace cadastre::bench
