// How fast the simulator's parts are, on one core: prints a line for each. Not a test: nothing is judged.

#include <chrono>
#include <cstdint>
#include <utility>

#include <fmt/core.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/random.h"
#include "sim/checkers/any_history_testing.h"
#include "sim/checkers/history.h"
#include "sim/checkers/linearizability.h"
#include "sim/checkers/model.h"
#include "sim/network/faults.h"
#include "sim/network/network.h"
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

// Answers every frame with another one, as replicas do.
class Echo final : public FrameSink {
 public:
  explicit Echo(Network& network) : network_(network) {}

  void on_frame(const StreamId& stream, base::Bytes frame) override {
    network_.send({{stream.link.to, stream.link.from}, stream.lane}, std::move(frame));
  }
  void on_reset(const StreamId&) override {}

 private:
  Network& network_;
};

void measure_frames() {
  constexpr std::uint64_t kFrames = 2'000'000;
  constexpr std::uint64_t kNodes = 5;
  constexpr LaneFaults kLane = {
      .delay = {.tail_ppm = 1'000, .tail_most = std::chrono::milliseconds(10)}};
  Scheduler scheduler(1);
  Network network(scheduler, 1, {.control = kLane, .bulk = kLane});
  Echo echo(network);
  for (std::uint64_t node = 1; node <= kNodes; ++node)
    network.attach(NodeId(node), echo);
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Link link = {NodeId(1 + i % kNodes), NodeId(1 + (i + 1) % kNodes)};
    network.send({link, i % 2 == 0 ? Lane::kBulk : Lane::kControl}, base::Bytes(256));
  }
  const double seconds = seconds_of([&] {
    while (network.counters().delivered < kFrames)
      scheduler.step();
  });
  fmt::print("frames, 200 in flight   {:10.2f} million/s\n", kFrames / seconds / 1e6);
}

void measure_linearizability(std::uint64_t unknown_ppm) {
  const checkers::RegisterModel model;
  const checkers::Load load = {
      .operations = 10'000, .clients = 8, .keys = 10, .unknown_ppm = unknown_ppm};
  const checkers::History history = checkers::perfect_history(1, load, model);
  checkers::Judgement judgement;
  const double seconds =
      seconds_of([&] { judgement = checkers::check_linearizable(history.operations(), model); });
  fmt::print("10,000 operations, {:3} % unknown: {} after {:.1f} ms, work {}\n",
             unknown_ppm / 10'000, name(judgement.verdict), seconds * 1e3, judgement.work);
}

}  // namespace
}  // namespace cadastre::sim

int main() {
  for (const std::uint64_t pending : {16U, 1'000U, 100'000U})
    cadastre::sim::measure_events(pending);
  cadastre::sim::measure_frames();
  for (const std::uint64_t unknown_ppm : {0U, 50'000U, 300'000U})
    cadastre::sim::measure_linearizability(unknown_ppm);
  return 0;
}
