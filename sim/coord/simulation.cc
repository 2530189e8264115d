#include "sim/coord/simulation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "coord/states.h"
#include "sim/chacha_random.h"
#include "sim/coord/driver.h"
#include "sim/coord/faults.h"
#include "sim/coord/oracles/violation.h"
#include "sim/coord/shard_name.h"
#include "sim/coord/step.h"
#include "sim/coord/world.h"

namespace cadastre::sim {
namespace {

constexpr std::uint64_t kCooldownTicks = 25;
constexpr std::uint64_t kTightShards = 24;
constexpr std::uint64_t kTightSlab = 4096;

std::size_t count_active(const World& world) {
  return static_cast<std::size_t>(
      std::ranges::count_if(world.mirror().shards(), [&](const ShardName& name) {
        return world.mirror().find(name)->state.status == coord::ShardStatus::kActive;
      }));
}

// Carries steps out one by one, until the first violation.
class Recorder {
 public:
  Recorder(World& world, Report& report) noexcept : world_(&world), report_(&report) {}

  void carry_out(const History& steps) {
    for (const Step& step : steps) {
      if (is_broken()) return;
      report_->history.push_back(step);
      world_->carry_out(step);
    }
  }
  [[nodiscard]] bool is_broken() const noexcept { return !world_->judge().violations().empty(); }

  void finish() {
    if (!is_broken()) world_->finish();
    report_->events = world_->events();
    report_->violations = world_->judge().violations();
    report_->end_time = world_->clock();
    report_->non_terminal = count_active(*world_);
  }

 private:
  World* world_;
  Report* report_;
};

}  // namespace

SimulationOptions options_of(std::uint64_t seed, FaultLevel level, std::uint64_t operations) {
  SimulationOptions options;
  options.seed = seed;
  options.level = level;
  options.safety_operations = operations;
  if (seed % 2 == 1) options.world.cooldown_ticks = kCooldownTicks;
  if (seed % 5 == 3) options.world.shards_per_tenant_max = kTightShards;
  if (seed % 7 == 5) options.world.slab_bytes = kTightSlab;
  if (seed % 11 == 7) options.world.tenants = 2;
  return options;
}

Report simulate(const SimulationOptions& options) {
  Report report;
  report.options = options;
  World world(options.world, memory_subject(options.world));
  ChaChaRandom random(options.seed);
  Driver driver(random, world, options.level);
  Recorder recorder(world, report);
  recorder.carry_out(driver.set_up());
  recorder.carry_out(driver.scripted_zombie());
  const std::uint64_t total = options.safety_operations + options.liveness_operations;
  for (; report.operations < total && !recorder.is_broken(); ++report.operations) {
    const Stage stage = report.operations < kWarmUpOperations           ? Stage::kWarmUp
                        : report.operations < options.safety_operations ? Stage::kSafety
                                                                        : Stage::kLiveness;
    recorder.carry_out(driver.next(stage));
  }
  recorder.finish();
  return report;
}

Report replay(const SimulationOptions& options, const History& history) {
  Report report;
  report.options = options;
  World world(options.world, memory_subject(options.world));
  Recorder recorder(world, report);
  recorder.carry_out(history);
  report.operations = report.history.size();
  recorder.finish();
  return report;
}

std::string to_text(const Report& report) {
  std::string text = fmt::format(
      "seed {} level {}: {} operations, {} requests, simulated time {}, {} shards "
      "still active, digest {:016x}, {} violations\n",
      report.options.seed, name(report.options.level), report.operations, report.events.requests(),
      report.end_time, report.non_terminal, report.events.digest(), report.violations.size());
  for (const Violation& violation : report.violations)
    text += fmt::format("  {}: {}\n", violation.rule, violation.text);
  return text;
}

}  // namespace cadastre::sim
