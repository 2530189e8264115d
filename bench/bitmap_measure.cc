#include "bench/bitmap_measure.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <ratio>
#include <string>
#include <vector>

#include <malloc.h>

#include "base/function_ref.h"
#include "bench/harness.h"
#include "bench/peers/set_store.h"

namespace cadastre::bench {
namespace {

constexpr double kSecondNs = 1e9;
constexpr std::size_t kSlices = 5;

struct StepTaken {
  std::uint64_t operations = 0;
  double ns = 0;
};

double rate_of(const StepTaken& step) {
  return static_cast<double>(step.operations) / step.ns * kSecondNs;
}

// The steps in slices of about equally many operations.
std::vector<StepTaken> slice(const std::vector<StepTaken>& steps, std::uint64_t operations) {
  std::vector<StepTaken> slices(1);
  for (const StepTaken& step : steps) {
    if (slices.back().operations * kSlices >= operations) slices.emplace_back();
    slices.back().operations += step.operations;
    slices.back().ns += step.ns;
  }
  return slices;
}

void summarise(const std::vector<StepTaken>& steps, Rate& rate) {
  std::vector<double> rates;
  for (const StepTaken& one : slice(steps, rate.done))
    rates.push_back(rate_of(one));
  std::ranges::sort(rates);
  rate.per_second = rates[rates.size() / 2];
  rate.spread = (rates.back() - rates.front()) / rate.per_second;
}

StepTaken take(Step step, std::uint64_t most, StepClock& clock) {
  const auto begin = std::chrono::steady_clock::now();
  const std::uint64_t operations = step(most, clock);
  const auto end = clock.stopped_at().value_or(std::chrono::steady_clock::now());
  return {operations, std::chrono::duration<double, std::nano>(end - begin).count()};
}

}  // namespace

bool StepClock::must_stop_after(std::uint64_t operations) {
  constexpr std::uint64_t kOperationsPerLook = 16;  // at the clock, once they are many
  if (operations > kOperationsPerLook && operations % kOperationsPerLook != 0) return false;
  if (!deadline_.has_passed()) return false;
  stopped_at_ = std::chrono::steady_clock::now();
  return true;
}

Rate measure_rate(std::uint64_t planned, const Limits& limits, Step step) {
  const Deadline deadline(limits.all);
  const Deadline first_deadline(limits.first_step);
  const Deadline never(kNoLimit);  // Later steps take about as long as the first, which was whole.
  Rate rate{.planned = planned};
  std::vector<StepTaken> steps;
  do {
    StepClock clock(steps.empty() ? first_deadline : never);
    const StepTaken taken = take(step, planned - rate.done, clock);
    rate.is_bound = clock.stopped_at().has_value();
    rate.done += taken.operations;
    rate.step_ns.push_back(taken.ns);
    steps.push_back(taken);
  } while (rate.done < planned && !deadline.has_passed());
  summarise(steps, rate);
  return rate;
}

namespace {

// More of the same while there is time.
Walks repeat(std::vector<double> samples,
             const Deadline& deadline,
             base::FunctionRef<void()> work) {
  while (samples.size() < kRepetitions && !deadline.has_passed())
    samples.push_back(time_once(work));
  std::ranges::sort(samples);
  const double median = samples[samples.size() / 2];
  const double spread = (samples.back() - samples.front()) / median;
  return {{median, samples.front(), spread}, samples.size()};
}

}  // namespace

Walks measure_within(std::chrono::milliseconds limit, base::FunctionRef<void()> work) {
  const Deadline deadline(limit);
  return repeat({time_once(work)}, deadline, work);
}

Walks measure_walks(SetReader& reader,
                    std::chrono::milliseconds first,
                    std::chrono::milliseconds all,
                    base::FunctionRef<void()> walk) {
  const Deadline deadline(all);
  reader.set_patience(std::chrono::steady_clock::now() + first);
  const double ns = time_once(walk);
  const bool is_whole = !reader.has_given_up();
  reader.set_patience(std::nullopt);
  if (!is_whole) return {{ns, ns, 0}, 0};
  return repeat({ns}, deadline, walk);
}

Walks measure_calls(std::chrono::milliseconds limit, Body body) {
  const auto call = [&] {
    body(1);
  };
  if (time_once(call) >= static_cast<double>(kRepetitionNs)) return measure_within(limit, call);
  return {measure(body), kRepetitions};
}

double percentile(std::vector<double> samples, double share) {
  std::ranges::sort(samples);
  const auto at = static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1));
  return samples[at];
}

std::uint64_t heap_bytes() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

std::uint64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  std::string field;
  constexpr std::uint64_t kKibibyte = 1024;
  while (status >> field) {
    std::uint64_t kibibytes = 0;
    if (field == "VmHWM:" && status >> kibibytes) return kibibytes * kKibibyte;
  }
  return 0;
}

}  // namespace cadastre::bench
