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

namespace {

// A run under way.
class Run {
 public:
  explicit Run(const SimulationOptions& options)
      : world_(options.world, subject_of(options.world, options.level, options.seed)),
        random_(options.seed),
        driver_(random_, world_, options.level),
        recorder_(world_, report_) {
    report_.options = options;
    recorder_.carry_out(driver_.set_up());
    recorder_.carry_out(driver_.scripted_zombie());
    const std::uint64_t total = options.safety_operations + options.liveness_operations;
    for (; report_.operations < total && !recorder_.is_broken(); ++report_.operations)
      recorder_.carry_out(driver_.next(stage()));
  }

  Report finish() {
    recorder_.finish();
    return std::move(report_);
  }
  History look_ahead() {
    const History next = driver_.next(stage());
    report_.history.insert(report_.history.end(), next.begin(), next.end());
    return std::move(report_.history);
  }

 private:
  [[nodiscard]] Stage stage() const noexcept {
    if (report_.operations < kWarmUpOperations) return Stage::kWarmUp;
    const bool safety = report_.options.liveness_operations == 0 ||
                        report_.operations < report_.options.safety_operations;
    return safety ? Stage::kSafety : Stage::kLiveness;
  }

  Report report_;
  World world_;
  ChaChaRandom random_;
  Driver driver_;
  Recorder recorder_;
};

}  // namespace

Report simulate(const SimulationOptions& options) {
  return Run(options).finish();
}

History look_ahead(const SimulationOptions& options) {
  return Run(options).look_ahead();
}

Report replay(const SimulationOptions& options, const History& history) {
  Report report;
  report.options = options;
  World world(options.world, subject_of(options.world, options.level, options.seed));
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
