// Leaders that are killed, and a follower that comes back to a group that went on without it.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "bench/log_callers.h"
#include "bench/log_load.h"
#include "bench/log_raft_bench.h"
#include "bench/raft_processes.h"
#include "bench/report.h"
#include "bench/samples.h"
#include "log/settings.h"

namespace cadastre::bench {
namespace {

using Seconds = std::chrono::duration<double>;

// ---- Failover ------------------------------------------------------------------------------------

std::vector<NodeProcess*> all_but(RaftProcesses& cluster, std::size_t id) {
  std::vector<NodeProcess*> others;
  for (std::size_t other = 1; other <= cluster.size(); ++other) {
    if (other != id) others.push_back(&cluster.node(other));
  }
  return others;
}

// Kills the leader: how long until a command at another node is answered. Then that node leads, and the killed one is
// back.
double fail_over(RaftProcesses& cluster, std::size_t& leader) {
  const std::size_t gone = leader;
  const std::vector<NodeProcess*> others = all_but(cluster, gone);
  for (NodeProcess* const other : others)
    other->tell(fmt::format("write {}", gone));
  const auto began = std::chrono::steady_clock::now();
  cluster.kill(gone);
  std::vector<NodeProcess*> asked = others;
  while (true) {
    const std::size_t speaker = first_to_speak(asked);
    NodeProcess* const node = asked[speaker];
    if (node->hear() == "written") {
      const double took = Seconds(std::chrono::steady_clock::now() - began).count();
      asked.erase(asked.begin() + static_cast<std::ptrdiff_t>(speaker));
      for (NodeProcess* const other : asked)
        (void)other->hear();
      for (std::size_t id = 1; id <= cluster.size(); ++id) {
        if (id != gone && &cluster.node(id) == node) leader = id;
      }
      cluster.restart(gone);
      const std::string applied = cluster.node(leader).ask("applied");
      (void)cluster.node(gone).ask("await " + applied);
      return took;
    }
    asked.erase(asked.begin() + static_cast<std::ptrdiff_t>(speaker));  // Another one leads.
    if (!asked.empty()) continue;
    asked = others;  // And it lost that before it wrote.
    for (NodeProcess* const other : others)
      other->tell(fmt::format("write {}", gone));
  }
}

// ---- Catching up ---------------------------------------------------------------------------------

constexpr std::uint64_t kMissedBytes = std::uint64_t{1} << 30;
constexpr std::size_t kMissedCommandBytes = 4'096;
constexpr std::size_t kLate = 3;  // The node that misses them.

struct CaughtUp {
  std::vector<double> steady;  // Commands/s in windows of a second, before.
  std::vector<double> steady_p99_us;
  std::vector<double> meanwhile;  // The same while it catches up.
  std::vector<double> meanwhile_p99_us;
  std::vector<double> mebibytes_per_second;
};

void catch_up(CaughtUp& taken) {
  RaftProcesses cluster({.flushes = Flushes::kNever});
  constexpr int kSteadyWindows = 5;
  for (int window = 0; window < kSteadyWindows; ++window) {
    const LoadResult result = cluster.load({.seconds = 1});
    taken.steady.push_back(result.commands_per_second);
    taken.steady_p99_us.push_back(result.p99_us);
  }
  cluster.kill(kLate);
  CAD_CHECK(
      cluster.node(1).ask(fmt::format("fill {} {}", kMissedBytes, kMissedCommandBytes)) == "ok",
      "two of three go on");
  const std::string goal = cluster.node(1).ask("applied");
  cluster.restart(kLate);
  NodeProcess& late = cluster.node(kLate);
  late.tell("await " + goal);
  while (!late.has_spoken()) {
    const LoadResult result = cluster.load({.seconds = 1});
    if (late.has_spoken()) break;  // A part of the window was after it.
    taken.meanwhile.push_back(result.commands_per_second);
    taken.meanwhile_p99_us.push_back(result.p99_us);
  }
  constexpr double kMebibyte = 1 << 20;
  taken.mebibytes_per_second.push_back(static_cast<double>(kMissedBytes) / kMebibyte /
                                       std::stod(late.hear()));
}

}  // namespace

void add_failover(Report& report, const RaftBenchPlan& plan) {
  RaftProcesses cluster({.flushes = Flushes::kNever});
  const double timeout = Seconds(log::RaftSettings{}.election_timeout()).count();
  std::vector<double> timeouts;
  std::size_t leader = 1;
  const int rounds = 2 * plan.rounds + 1;
  for (int round = 0; round < rounds; ++round)
    timeouts.push_back(fail_over(cluster, leader) / timeout);
  report.add({.what = fmt::format("kill -9 of the leader to the next write, median of {}", rounds),
              .unit = "election timeouts",
              .better = Better::kLower,
              .ours = median(timeouts),
              .target = 1.5,
              .note = fmt::format("of {:g} s; least {:.2f}, most {:.2f}", timeout,
                                  *std::ranges::min_element(timeouts),
                                  *std::ranges::max_element(timeouts)),
              .spread = spread(timeouts)});
}

void add_catch_up(Report& report, const RaftBenchPlan& plan) {
  CaughtUp taken;
  for (int round = 0; round < plan.rounds; ++round)
    catch_up(taken);
  std::vector<double> disk;
  constexpr std::size_t kMebibyteOfCommands = (1 << 20) / kCommandBytes;
  for (int round = 0; round < plan.rounds; ++round)
    disk.push_back(run_raw(kMebibyteOfCommands, 1).sets_per_second);
  if (taken.meanwhile.empty()) {
    report.add_missing("64 outstanding while a follower catches up", "",
                       "it caught up within one window");
  } else {
    report.add({.what = "64 outstanding while a follower catches up 1 GiB",
                .unit = "commands/s",
                .better = Better::kHigher,
                .ours = median(taken.meanwhile),
                .peer = "nobody behind",
                .theirs = median(taken.steady),
                .target = 0.8,
                .spread = spread(taken.meanwhile)});
    report.add({.what = "the same: p99",
                .unit = "us",
                .better = Better::kLower,
                .ours = median(taken.meanwhile_p99_us),
                .peer = "nobody behind",
                .theirs = median(taken.steady_p99_us),
                .target = 0.5,  // Less than twice as long.
                .spread = spread(taken.meanwhile_p99_us)});
  }
  report.add({.what = "the follower's pace meanwhile",
              .unit = "MiB/s",
              .better = Better::kHigher,
              .ours = median(taken.mebibytes_per_second),
              .target = 200,
              .limit = median(disk),
              .spread = spread(taken.mebibytes_per_second)});
}

}  // namespace cadastre::bench
