#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "base/signal.h"
#include "bench/coord_durable_bench.h"
#include "bench/report.h"
#include "bench/samples.h"
#include "bench/served_work.h"

namespace cadastre::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLease{2'000};
constexpr std::uint64_t kFirst = 1;
constexpr std::uint64_t kSecond = 2;

double seconds_since(SteadyClock::time_point then) {
  return std::chrono::duration<double>(SteadyClock::now() - then).count();
}

// One shard, so that whoever waits for it has nothing else to get.
ServedWork one_shard() {
  return {"takeover", {.shards = 1, .lease_ms = static_cast<std::uint64_t>(kLease.count())}};
}

void add_dead_worker(Report& report) {
  std::vector<double> leases;
  ServedWork work = one_shard();
  for (int round = 0; round < kDurableRounds; ++round) {
    (void)work.claim(kFirst);  // Never heard of again.
    const auto died = SteadyClock::now();
    WaitingWorker waiting(work.address(), kSecond);
    const auto grant = waiting.wait();
    leases.push_back(seconds_since(died) / std::chrono::duration<double>(kLease).count());
    work.release(grant.lease(), static_cast<std::uint64_t>(round) + 1);
  }
  report.add({.what = "over a socket: a dead worker's shard, claimed again",
              .unit = "leases",
              .better = Better::kLower,
              .ours = median(leases),
              .target = 1.5,
              .spread = spread(leases)});
}

void add_release(Report& report) {
  constexpr int kHandovers = 51;
  constexpr std::chrono::milliseconds kSettled{10};  // The stream waits by then.
  std::vector<double> milliseconds;
  ServedWork work = one_shard();
  auto held = work.claim(kFirst);
  for (int round = 0; round < kHandovers; ++round) {
    WaitingWorker waiting(work.address(), kSecond);
    base::Signal().wait_for(kSettled);
    const auto given_back = SteadyClock::now();
    work.release(held.lease(), static_cast<std::uint64_t>(round) + 1);
    held = waiting.wait();
    milliseconds.push_back(seconds_since(given_back) * 1e3);
  }
  report.add({.what = "over a socket: a released shard, from the call to the next grant",
              .unit = "ms",
              .better = Better::kLower,
              .ours = median(milliseconds),
              .target = 10,
              .note = fmt::format("the slowest of {}: {:.1f} ms", kHandovers,
                                  std::ranges::max(milliseconds)),
              .spread = spread(milliseconds)});
}

}  // namespace

void add_takeover(Report& report) {
  add_dead_worker(report);
  add_release(report);
}

}  // namespace cadastre::bench
