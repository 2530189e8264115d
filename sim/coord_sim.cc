// coord_sim: repeats one seed, sweeps many, or explores a small world to its end.
//
//   coord_sim --scenario coord --seed N [--level L] [--steps N] [--backend B]  one run; a failure is shrunk
//   coord_sim --scenario coord --seed N --seeds N | --minutes M     many, from that seed on
//   coord_sim --scenario coord --explore [--bound small|large]      every interleaving

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <ratio>
#include <string>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>     // IWYU pragma: keep: App's members are defined there
#include <CLI/Formatter.hpp>  // IWYU pragma: keep: App's members are defined there
#include <CLI/Validators.hpp>
#include <fmt/format.h>

#include "base/clock.h"
#include "sim/coord/explorer/bound.h"
#include "sim/coord/explorer/explorer.h"
#include "sim/coord/faults.h"
#include "sim/coord/shrink.h"
#include "sim/coord/simulation.h"
#include "sim/coord/step.h"
#include "sim/coord/sweep.h"
#include "sim/coord/world.h"

namespace cadastre::sim {
namespace {

struct Arguments {
  std::string scenario = "coord";
  std::uint64_t seed = 0;
  std::string level;
  std::uint64_t steps = 1000;
  std::uint64_t seeds = 0;
  double minutes = 0;
  double hours = 0;
  bool explore = false;
  std::string bound = "small";
  std::string backend = "memory";

  [[nodiscard]] SimBackend sim_backend() const {
    return backend == "etcd" ? SimBackend::kEtcd : SimBackend::kMemory;
  }
};

int report_failure(const SimulationOptions& options, const History& history, Ending ending) {
  const History shrunk = shrink_failure(options, history, ending);
  fmt::print("{} of {} steps still fail:\n{}", shrunk.size(), history.size(), to_text(shrunk));
  if (ending == Ending::kViolated) fmt::print("{}", to_text(replay(options, shrunk)));
  fmt::print("again: {}\n", repeat_command(options));
  return EXIT_FAILURE;
}

int run_one(const SimulationOptions& options) {
  if (simulate_in_child(options) == Ending::kAborted) {
    fmt::print("seed {} level {}: a check of the code aborted\n", options.seed,
               name(options.level));
    return report_failure(options, history_of_abort(options), Ending::kAborted);
  }
  const Report report = simulate(options);
  fmt::print("{}{}", to_text(report), report.events.to_text());
  if (report.violations.empty()) return EXIT_SUCCESS;
  return report_failure(options, report.history, Ending::kViolated);
}

int run_many(const Arguments& arguments, std::optional<FaultLevel> level) {
  const base::SystemClock clock;
  const auto begin = clock.now();
  const std::chrono::duration<double, std::ratio<60>> limit(arguments.minutes +
                                                            60 * arguments.hours);
  const SweepOptions options{
      .first_seed = arguments.seed,
      .seeds = arguments.seeds == 0 ? std::numeric_limits<std::uint64_t>::max() : arguments.seeds,
      .level = level,
      .operations = arguments.steps,
      .backend = arguments.sim_backend()};
  const SweepReport report =
      sweep(options, [&] { return limit.count() == 0 || clock.now() - begin < limit; });
  fmt::print("{}", to_text(report));
  if (!report.failure) return EXIT_SUCCESS;
  fmt::print("{}", to_text(*report.failure));
  return report_failure(report.failure->options, report.failure->history, Ending::kViolated);
}

int explore_world(const Arguments& arguments) {
  const bool large = arguments.bound == "large";
  for (const Bound& bound : bounds_of(large ? BoundSize::kLarge : BoundSize::kSmall)) {
    const Exploration exploration = explore(bound);
    fmt::print("{}", to_text(exploration));
    if (!exploration.counterexample.empty()) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

int run(const Arguments& arguments) {
  if (arguments.scenario != "coord") {
    fmt::print(stderr, "coord_sim: there is one scenario: coord\n");
    return EXIT_FAILURE;
  }
  const auto level = fault_level_named(arguments.level);
  if (!level && !arguments.level.empty()) {
    fmt::print(stderr, "coord_sim: a level is sunny_day, stormy or radioactive\n");
    return EXIT_FAILURE;
  }
  if (arguments.explore) return explore_world(arguments);
  if (arguments.seeds != 0 || arguments.minutes > 0 || arguments.hours > 0) {
    return run_many(arguments, level);
  }
  const FaultLevel of_seed = kFaultLevels[arguments.seed % kFaultLevels.size()];
  SimulationOptions options = options_of(arguments.seed, level.value_or(of_seed), arguments.steps);
  options.world.backend = arguments.sim_backend();
  return run_one(options);
}

}  // namespace
}  // namespace cadastre::sim

int main(int argc, char** argv) {
  cadastre::sim::Arguments arguments;
  CLI::App app("The simulator of the coordination protocol");
  app.add_option("--scenario", arguments.scenario, "coord");
  app.add_option("--seed", arguments.seed, "the seed, or the first of many");
  app.add_option("--level", arguments.level,
                 "sunny_day, stormy or radioactive; by the seed if absent");
  app.add_option("--steps", arguments.steps, "operations of each run");
  app.add_option("--seeds", arguments.seeds, "so many seeds");
  app.add_option("--minutes", arguments.minutes, "seeds for so long");
  app.add_option("--hours", arguments.hours, "the same in hours");
  app.add_flag("--explore", arguments.explore, "every interleaving of a small world");
  app.add_option("--bound", arguments.bound, "of the exploration: small or large")
      ->check(CLI::IsMember({"small", "large"}));
  app.add_option("--backend", arguments.backend, "memory, or etcd: a model of one")
      ->check(CLI::IsMember({"memory", "etcd"}));
  CLI11_PARSE(app, argc, argv);
  return cadastre::sim::run(arguments);
}
