// How the bitmap benchmarks measure: work with a plan and a time limit, since a peer may be a thousand
// times slower than the next one. What was not done is said, never assumed.

#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/function_ref.h"
#include "bench/harness.h"

namespace cadastre::bench {

class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds limit)
      : end_(std::chrono::steady_clock::now() + limit) {}
  [[nodiscard]] bool has_passed() const { return std::chrono::steady_clock::now() >= end_; }

 private:
  std::chrono::steady_clock::time_point end_;
};

struct Rate {
  double per_second = 0;  // Median of a few slices of the work.
  double spread = 0;
  std::uint64_t done = 0;
  std::uint64_t planned = 0;
  std::vector<double> step_ns{};
};

// A step does some operations, at most so many, and answers how many; it looks at the deadline if it
// may be long.
using Step = base::FunctionRef<std::uint64_t(std::uint64_t most, const Deadline& deadline)>;

// Steps until all is done or the time is over; at least one.
[[nodiscard]] Rate measure_rate(std::uint64_t planned, std::chrono::milliseconds limit, Step step);

// The median of up to kRepetitions runs, as many as the time allows; at least one.
[[nodiscard]] Timing measure_within(std::chrono::milliseconds limit,
                                    base::FunctionRef<void()> work);

// Of what was measured, `share` is not above this.
[[nodiscard]] double percentile(std::vector<double> samples, double share);

// Bytes of this process's heap that are in use.
[[nodiscard]] std::uint64_t heap_bytes();
// The most this process has had in memory so far, mapped files included.
[[nodiscard]] std::uint64_t peak_resident_bytes();

}  // namespace cadastre::bench
