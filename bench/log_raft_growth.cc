// The same load on more groups and on more voters; many groups that do nothing.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/signal.h"
#include "bench/log_callers.h"
#include "bench/log_raft_bench.h"
#include "bench/raft_processes.h"
#include "bench/report.h"
#include "bench/samples.h"

namespace cadastre::bench {
namespace {

constexpr std::array<std::size_t, 2> kSubmissions{1, 100};  // Commands in each.

// Of every round.
struct Rate {
  std::vector<double> commands;
  std::vector<double> syncs;  // Of the leader's disk.
};
// For each of kSubmissions.
using Rates = std::array<Rate, kSubmissions.size()>;

Rates take_rates(const ClusterPlan& cluster_plan, const RaftBenchPlan& plan) {
  RaftProcesses cluster(cluster_plan);
  Rates rates;
  for (int round = 0; round < plan.rounds; ++round) {
    for (std::size_t i = 0; i < kSubmissions.size(); ++i) {
      const LoadResult result = cluster.load({.groups = cluster_plan.groups,
                                              .commands = kSubmissions[i],
                                              .seconds = plan.seconds / 2});
      rates[i].commands.push_back(result.commands_per_second);
      rates[i].syncs.push_back(result.sets_per_second);
    }
  }
  return rates;
}

struct Compared {
  std::string what;
  std::string peer;
  std::optional<double> target;
};

void add_compared(Report& report, const Compared& row, const Rates& ours, const Rates& theirs) {
  for (std::size_t i = 0; i < kSubmissions.size(); ++i) {
    report.add({.what = fmt::format("{}, 64 submissions of {}", row.what, kSubmissions[i]),
                .unit = "commands/s",
                .better = Better::kHigher,
                .ours = median(ours[i].commands),
                .peer = row.peer,
                .theirs = median(theirs[i].commands),
                .target = row.target,
                .spread = spread(ours[i].commands)});
  }
}

// Syncs are bounded by the disk, not by groups (L-12).
void add_syncs(Report& report, const Rates& ours, const Rates& theirs) {
  for (std::size_t i = 0; i < kSubmissions.size(); ++i) {
    report.add({.what = fmt::format("64 groups, 64 submissions of {}: syncs", kSubmissions[i]),
                .unit = "syncs/s",
                .better = Better::kLower,
                .ours = median(ours[i].syncs),
                .peer = "one group",
                .theirs = median(theirs[i].syncs),
                .target = 1,
                .spread = spread(ours[i].syncs)});
  }
}

}  // namespace

void add_groups(Report& report, const RaftBenchPlan& plan) {
  const Rates one = take_rates({.groups = 1}, plan);
  for (const std::size_t groups : {3, 16, 64}) {
    const Rates many = take_rates({.groups = groups}, plan);
    add_compared(report,
                 {.what = fmt::format("{} groups", groups), .peer = "one group", .target = 0.8},
                 many, one);
    if (groups == 64) add_syncs(report, many, one);
  }
}

void add_voters(Report& report, const RaftBenchPlan& plan) {
  const Rates one = take_rates({.voters = 1}, plan);
  for (const std::size_t voters : {3, 5}) {
    add_compared(report,
                 {.what = fmt::format("{} voters", voters), .peer = "one voter", .target = {}},
                 take_rates({.voters = voters}, plan), one);
  }
}

void add_idle(Report& report, const RaftBenchPlan& plan) {
  constexpr std::size_t kGroups = 1'000;
  RaftProcesses cluster({.groups = kGroups, .leaders = Leaders::kAsElected});
  const auto processor_times = [&] {
    std::vector<double> seconds;
    for (std::size_t id = 1; id <= cluster.size(); ++id)
      seconds.push_back(std::stod(cluster.node(id).ask("cpu")));
    return seconds;
  };
  std::vector<double> busiest;  // Of the three nodes, in each round.
  for (int round = 0; round < plan.rounds; ++round) {
    const std::vector<double> before = processor_times();
    const auto began = std::chrono::steady_clock::now();
    base::Signal().wait_for(std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(plan.seconds)));
    const std::vector<double> after = processor_times();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    double most = 0;
    for (std::size_t i = 0; i < after.size(); ++i)
      most = std::max(most, (after[i] - before[i]) / took.count());
    busiest.push_back(100 * most);
  }
  report.add({.what = "1,000 idle groups on 3 nodes: busiest node",
              .unit = "% core",
              .better = Better::kLower,
              .ours = median(busiest),
              .target = 10,
              .spread = spread(busiest)});
}

}  // namespace cadastre::bench
