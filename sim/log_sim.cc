// log_sim: repeats one seed of the log's world, or runs many.
//
//   log_sim --scenario log --seed N                          one run; a failure is shrunk
//   log_sim --scenario log --seed N --seeds N | --minutes M  many, from that seed on
//   log_sim --scenario raft …                                the same with replicated groups

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ratio>
#include <string>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>     // IWYU pragma: keep: App's members are defined there
#include <CLI/Formatter.hpp>  // IWYU pragma: keep: App's members are defined there
#include <fmt/format.h>

#include "base/clock.h"
#include "sim/log/log_world.h"

namespace cadastre::sim {
namespace {

struct Arguments {
  std::string scenario = "log";
  std::uint64_t seed = 0;
  std::uint64_t seeds = 1;
  double seconds = 0;  // 0: as the seed says.
  double minutes = 0;
  double hours = 0;
};

int report_failure(const Arguments& arguments,
                   const LogWorldOptions& options,
                   const LogReport& report) {
  const auto few = shrink_log_failure(options, report.faults);
  fmt::print("{} of {} faults still fail:\n", few.size(), report.faults.size());
  for (const LogFault& fault : few)
    fmt::print("  {}\n", to_text(fault));
  const bool shared = options.registers == Registers::kOfAll;
  const std::string lasts =
      arguments.seconds > 0 ? fmt::format(" --seconds {}", arguments.seconds) : std::string();
  fmt::print("again: ./dev sim --scenario {} --seed {}{}\n", shared ? "raft" : "log", options.seed,
             lasts);
  return EXIT_FAILURE;
}

int run(const Arguments& arguments) {
  const base::SystemClock clock;
  const auto begin = clock.elapsed();
  const std::chrono::duration<double, std::ratio<60>> limit(arguments.minutes +
                                                            60 * arguments.hours);
  LogReport sum;
  std::uint64_t seed = arguments.seed;
  std::uint64_t done = 0;
  for (;; ++seed, ++done) {
    const bool over =
        limit.count() > 0 ? clock.elapsed() - begin >= limit : done == arguments.seeds;
    if (over) break;
    LogWorldOptions options =
        arguments.scenario == "raft" ? raft_world_of(seed) : log_world_of(seed);
    if (arguments.seconds > 0) {
      options.lasts = std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::chrono::duration<double>(arguments.seconds));
    }
    const LogReport report = simulate_log(options);
    sum.add(report);
    if (arguments.seeds == 1 || !report.violations.empty())
      fmt::print("{}", to_text(options, report));
    if (!report.violations.empty()) return report_failure(arguments, options, report);
  }
  const double seconds = std::chrono::duration<double>(clock.elapsed() - begin).count();
  fmt::print("{} seeds from {} in {:.1f} s: {}; no violation\n", done, arguments.seed, seconds,
             to_text(sum));
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace cadastre::sim

int main(int argc, char** argv) {
  cadastre::sim::Arguments arguments;
  CLI::App app("The simulator of the log");
  app.add_option("--scenario", arguments.scenario, "log or raft")
      ->check(CLI::IsMember({"log", "raft"}));
  app.add_option("--seed", arguments.seed, "the seed, or the first of many");
  app.add_option("--seeds", arguments.seeds, "so many seeds");
  app.add_option("--seconds", arguments.seconds,
                 "of simulated time with faults, in place of what the seed says");
  app.add_option("--minutes", arguments.minutes, "seeds for so long");
  app.add_option("--hours", arguments.hours, "the same in hours");
  CLI11_PARSE(app, argc, argv);
  return cadastre::sim::run(arguments);
}
