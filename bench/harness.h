// The stopwatch: how long one call takes, as the median of many repetitions.
//
// A body runs an operation `iterations` times over inputs prepared before (at least kInputs distinct
// ones, so that branches cannot be learned by heart) and keeps each result alive with keep().
// Every repetition runs long enough to drown the clock; the spread between repetitions is kept, so
// that a noisy figure says so.

#pragma once

#include <cstddef>
#include <cstdint>

#include "base/function_ref.h"

namespace cadastre::bench {

inline constexpr std::size_t kInputs = 512;      // a power of two: bodies index by mask
inline constexpr std::size_t kRepetitions = 11;  // at least nine
inline constexpr std::uint64_t kRepetitionNs = 15'000'000;

// The compiler must believe that `value` is used.
template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}
template <class T>
inline void keep_memory(const T* value) {
  asm volatile("" : : "r"(value) : "memory");
}

struct Timing {
  double median_ns = 0;
  double best_ns = 0;
  double spread = 0;  // (90th - 10th percentile) / median
};

using Body = base::FunctionRef<void(std::uint64_t iterations)>;

[[nodiscard]] Timing measure(Body body);

// For work that cannot be repeated as it is: `sample` prepares, does it once and returns its time.
[[nodiscard]] Timing measure_samples(base::FunctionRef<double()> sample);
// How many nanoseconds the work takes.
[[nodiscard]] double time_once(base::FunctionRef<void()> work);

// Processor time of all threads of this process so far.
[[nodiscard]] double processor_seconds();

// Two bodies in alternation, so that a slow minute of the machine hits both.
struct Duel {
  Timing ours;
  Timing theirs;
};
[[nodiscard]] Duel measure_against(Body ours, Body theirs);

}  // namespace cadastre::bench
