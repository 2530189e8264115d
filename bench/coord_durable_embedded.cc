#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/signal.h"
#include "bench/coord_durable_bench.h"
#include "bench/coord_load.h"
#include "bench/embedded_work.h"
#include "bench/harness.h"
#include "bench/log_load.h"
#include "bench/report.h"
#include "bench/samples.h"
#include "bench/work_keys.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "coord/replicated/command.h"
#include "shard/cursor.h"
#include "shard/shard_id.h"

namespace cadastre::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

// What a checkpoint of this work takes in the log.
std::size_t checkpoint_command_bytes() {
  const auto lease =
      coord::Lease::granted({.tenant = work_tenant(),
                             .key = {coord::RunId::from_raw(1), shard::ShardId::from_raw(1)},
                             .owner = coord::WorkerId::from_raw(1),
                             .fence = coord::FenceEpoch::from_raw(2),
                             .deadline = logical_now()});
  const std::string key = cursor_key(1, 1);
  return coord::replicated::encode({logical_now(), work_tenant(),
                                    coord::replicated::Checkpoint{
                                        .lease = lease,
                                        .cursor = shard::CursorUpdate::make(base::as_bytes(key)),
                                        .op = coord::OpId::from_raw(1)}})
      .size();
}

double run_embedded_checkpoints() {
  EmbeddedWork work("embedded");
  return CoordWork(work.coordination().async(), {})
      .run_checkpoints({.callers = 64, .seconds = kDurableRoundSeconds});
}

void add_checkpoints(Report& report) {
  const std::size_t bytes = checkpoint_command_bytes();
  std::vector<double> ours;
  std::vector<double> raw;
  for (int round = 0; round < kDurableRounds; ++round) {
    raw.push_back(
        run_load({.outstanding = 64, .command_bytes = bytes, .seconds = kDurableRoundSeconds})
            .commands_per_second);
    ours.push_back(run_embedded_checkpoints());
  }
  report.add({.what = "in process, 64 callers: checkpoints",
              .unit = "1/s",
              .better = Better::kHigher,
              .ours = median(ours),
              .peer = fmt::format("the raw log, commands of {} B", bytes),
              .theirs = median(raw),
              .target = 0.6,
              .spread = spread(ours)});
}

// Every lease is renewed three times in its life, in calls that follow each other evenly.
void add_renewal(Report& report) {
  constexpr std::size_t kLeases = 10'000;
  constexpr std::size_t kCalls = (kLeases + coord::kRenewManyMax - 1) / coord::kRenewManyMax;
  constexpr std::chrono::seconds kLease{30};
  constexpr auto kStep = std::chrono::nanoseconds(kLease) / 3 / kCalls;
  constexpr std::size_t kStepsOfASample = kCalls / 2;
  EmbeddedWork work("renewal");
  CoordWork run(
      work.coordination().async(),
      {.shards = kLeases,
       .lease_ms = static_cast<std::uint64_t>(std::chrono::milliseconds(kLease).count())});
  const std::vector<coord::Lease> leases = run.claim(kLeases);
  std::vector<double> processor;
  std::vector<double> entries;
  std::size_t call = 0;
  for (int sample = 0; sample < kDurableRounds; ++sample) {
    const double processor_before = processor_seconds();
    const auto entries_before = work.coordination().group().status().last;
    const auto started = SteadyClock::now();
    for (std::size_t step = 0; step < kStepsOfASample; ++step, ++call) {
      const std::size_t first = call % kCalls * coord::kRenewManyMax;
      const std::size_t end = std::min(first + coord::kRenewManyMax, kLeases);
      run.renew_many(std::vector(leases.begin() + static_cast<std::ptrdiff_t>(first),
                                 leases.begin() + static_cast<std::ptrdiff_t>(end)));
      base::Signal().wait_for(started + kStep * (step + 1) - SteadyClock::now());
    }
    const double seconds = std::chrono::duration<double>(SteadyClock::now() - started).count();
    processor.push_back((processor_seconds() - processor_before) / seconds * 1e3);
    entries.push_back(static_cast<double>(work.coordination().group().status().last.value() -
                                          entries_before.value()) /
                      seconds);
  }
  const std::string what = "in process: renewing 10,000 leases of 30 s";
  report.add({.what = what + ", processor",
              .unit = "ms/s",
              .better = Better::kLower,
              .ours = median(processor),
              .target = 10,
              .spread = spread(processor)});
  report.add({.what = what + ", log entries",
              .unit = "1/s",
              .better = Better::kLower,
              .ours = median(entries),
              .target = 10,
              .spread = spread(entries)});
}

}  // namespace

void add_embedded(Report& report) {
  add_checkpoints(report);
  add_renewal(report);
}

}  // namespace cadastre::bench
