// How the bitmap benchmarks measure: work with a plan and a time limit, since a peer may be a thousand
// times slower than the next one. What was not done is said, never assumed:
//
//   - a read counts only as a whole, and is repeated while there is time. If the first one gave up, it
//     takes at least as long as it had then taken;
//   - of a peer's transactions only the first may be cut short, when it alone would take too long. Then what
//     it got done before its commit is a bound: the peer does no better than that. Ours are never cut.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/function_ref.h"
#include "bench/harness.h"
#include "bench/peers/set_store.h"

namespace cadastre::bench {

class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds limit)
      : end_(std::chrono::steady_clock::now() + limit) {}
  [[nodiscard]] bool has_passed() const { return std::chrono::steady_clock::now() >= end_; }
  [[nodiscard]] std::chrono::milliseconds left() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(end_ -
                                                                 std::chrono::steady_clock::now());
  }

 private:
  std::chrono::steady_clock::time_point end_;
};

// Tells a step when to stop, and remembers when it did.
class StepClock {
 public:
  explicit StepClock(const Deadline& deadline) : deadline_(deadline) {}

  // Asked after each operation. Once true, what the step still does is not counted.
  [[nodiscard]] bool must_stop_after(std::uint64_t operations);
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> stopped_at() const {
    return stopped_at_;
  }

 private:
  const Deadline& deadline_;
  std::optional<std::chrono::steady_clock::time_point> stopped_at_;
};

struct Rate {
  double per_second = 0;  // Median of a few slices of the work.
  double spread = 0;
  std::uint64_t done = 0;
  std::uint64_t planned = 0;
  bool is_bound = false;  // Not one step was whole: at most so many.
  std::vector<double> step_ns{};
};

// A step, which is a transaction, does some operations, at most so many, and answers how many.
using Step = base::FunctionRef<std::uint64_t(std::uint64_t most, StepClock& clock)>;

inline constexpr std::chrono::milliseconds kNoLimit = std::chrono::hours(24);

struct Limits {
  std::chrono::milliseconds all = kNoLimit;         // No step begins after that.
  std::chrono::milliseconds first_step = kNoLimit;  // It is cut short then.
};

// Steps until all is done or the time is over; at least one.
[[nodiscard]] Rate measure_rate(std::uint64_t planned, const Limits& limits, Step step);

struct Walks {
  Timing timing;
  std::size_t runs = 0;  // Each of them whole. 0: it takes at least so long.
};

// The median of up to kRepetitions runs, as many as the time allows; at least one.
[[nodiscard]] Walks measure_within(std::chrono::milliseconds limit, base::FunctionRef<void()> work);
// Reads of a whole set. The first may give up after `first`; the others take about as long as it did.
[[nodiscard]] Walks measure_walks(SetReader& reader,
                                  std::chrono::milliseconds first,
                                  std::chrono::milliseconds all,
                                  base::FunctionRef<void()> walk);
// A call that may be short or long: measured as short ones are, unless the first was long.
[[nodiscard]] Walks measure_calls(std::chrono::milliseconds limit, Body body);

// Of what was measured, `share` is not above this.
[[nodiscard]] double percentile(std::vector<double> samples, double share);

// Bytes of this process's heap that are in use.
[[nodiscard]] std::uint64_t heap_bytes();
// The most this process has had in memory so far, mapped files included.
[[nodiscard]] std::uint64_t peak_resident_bytes();

}  // namespace cadastre::bench
