// How fast the simulator's parts are, on one core: prints a line for each. Not a test: nothing is judged.

#include <chrono>
#include <cstdint>
#include <functional>

#include <fmt/core.h>

#include "base/clock.h"
#include "base/random.h"
#include "sim/schedule/node_id.h"
#include "sim/schedule/scheduler.h"

namespace cadastre::sim {
namespace {

using std::chrono::nanoseconds;

template <class Work>
double seconds_of(Work work) {
  const base::SystemClock clock;
  const base::Instant begin = clock.now();
  work();
  return std::chrono::duration<double>(clock.now() - begin).count();
}

struct Ticker {
  Scheduler* scheduler;
  base::SeededRandom* random;
  NodeId owner;

  void operator()() const {
    scheduler->after(owner, nanoseconds(1 + random->below(1'000)), Ticker(*this));
  }
};

void measure_events(std::uint64_t pending) {
  constexpr std::uint64_t kEvents = 5'000'000;
  Scheduler scheduler(1);
  base::SeededRandom random(1);
  for (std::uint64_t i = 0; i < pending; ++i)
    Ticker{&scheduler, &random, NodeId(1 + i % 7)}();
  const double seconds = seconds_of([&] {
    while (scheduler.executed() < kEvents)
      scheduler.step();
  });
  fmt::print("events, {:6} pending   {:10.2f} million/s\n", pending, kEvents / seconds / 1e6);
}

}  // namespace
}  // namespace cadastre::sim

int main() {
  for (const std::uint64_t pending : {16U, 1'000U, 100'000U})
    cadastre::sim::measure_events(pending);
  return 0;
}
