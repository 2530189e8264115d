#include "sim/coord/overload.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "coord/identity.h"
#include "sim/chacha_random.h"
#include "sim/coord/driver.h"
#include "sim/coord/oracles/recount.h"
#include "sim/coord/request.h"
#include "sim/coord/simulation.h"
#include "sim/coord/step.h"
#include "sim/coord/world.h"

namespace cadastre::sim {
namespace {

constexpr std::uint64_t kDropTicks = 200;
constexpr std::uint64_t kClaimEvery = 10;

class OverloadRun {
 public:
  explicit OverloadRun(const SimulationOptions& options)
      : world_(options.world, memory_subject(options.world)),
        random_(options.seed),
        driver_(random_, world_, options.level) {
    out_.report.options = options;
    carry_out(driver_.set_up());
  }

  OverloadReport run(std::uint64_t warmup, const Overload& overload, std::uint64_t recovery) {
    for (std::uint64_t i = 0; i < warmup; ++i)
      operate(i < kWarmUpOperations ? Stage::kWarmUp : Stage::kSafety);
    const std::uint64_t before_rounds = completions();
    for (std::uint64_t i = 0; i < overload.rounds; ++i) {
      play_round(overload.kind);
      sample();
    }
    out_.round_completions = completions() - before_rounds;
    recover(recovery);
    world_.finish();
    out_.report.events = world_.events();
    out_.report.violations = world_.judge().violations();
    out_.report.end_time = world_.clock();
    return std::move(out_);
  }

 private:
  void carry_out(const History& steps) {
    for (const Step& step : steps) {
      out_.report.history.push_back(step);
      world_.carry_out(step);
    }
  }
  void operate(Stage stage) {
    ++out_.report.operations;
    carry_out(driver_.next(stage));
  }
  [[nodiscard]] std::uint64_t completions() const {
    return world_.events().of("complete", "executed");
  }
  void round_step(const History& steps) {
    if (steps.empty()) return;
    ++out_.round_operations;
    carry_out(steps);
  }

  void claim_with(std::uint32_t worker) {
    round_step({driver_.request(worker, Call::kClaim, {kMainRun, {}})});
  }

  void play_round(OverloadKind kind) {
    const auto workers = static_cast<std::uint32_t>(world_.workers().size());
    const bool drop = kind == OverloadKind::kCapacityDrop;
    if (drop) stop_half();
    for (std::uint32_t worker = 0; worker < workers; ++worker) {
      if (!world_.is_paused(world_.workers()[worker])) claim_with(worker);
    }
    if (kind == OverloadKind::kBurstShards) {
      for (std::uint32_t worker = 0; worker < workers; ++worker)
        split_all(worker);
    } else {
      round_step(driver_.draw(Operation::kComplete));
    }
  }

  void stop_half() {
    Step step;
    step.kind = StepKind::kPause;
    for (step.worker = 0; step.worker < world_.workers().size(); step.worker += 2)
      carry_out({step});
    step.kind = StepKind::kAdvance;
    step.worker = 0;
    step.amount = kDropTicks;
    carry_out({step});
  }

  void split_all(std::uint32_t worker) {
    const auto held = world_.workers()[worker].held();  // a copy: splitting changes it
    for (const auto& [name, holding] : held) {
      if (const auto step = driver_.split_replace(worker, holding)) round_step({*step});
    }
  }

  void sample() {
    const auto now = coord::LogicalTime::from_raw(world_.clock());
    for (std::size_t tenant = 0; tenant < world_.options().tenants; ++tenant) {
      out_.samples.push_back(
          {world_.available(tenant, now),
           recount(world_.mirror(), {tenant, kMainRun}, now).capacity.available_count});
    }
  }

  void recover(std::uint64_t operations) {
    const std::uint64_t before = completions();
    Step resume;
    resume.kind = StepKind::kResume;
    for (; resume.worker < world_.workers().size(); ++resume.worker)
      carry_out({resume});
    for (std::uint64_t i = 0; i < operations; ++i) {
      if (i % kClaimEvery == 0) carry_out(driver_.draw(Operation::kClaim));
      operate(Stage::kLiveness);
    }
    out_.recovery_completions = completions() - before;
  }

  World world_;
  ChaChaRandom random_;
  Driver driver_;
  OverloadReport out_;
};

}  // namespace

std::string_view name(OverloadKind kind) noexcept {
  switch (kind) {
    case OverloadKind::kBurstClaim: return "burst_claim";
    case OverloadKind::kCapacityDrop: return "capacity_drop";
    case OverloadKind::kBurstShards: return "burst_shards";
  }
  return "";
}

OverloadReport run_overload(const SimulationOptions& options,
                            std::uint64_t warmup,
                            const Overload& overload,
                            std::uint64_t recovery) {
  return OverloadRun(options).run(warmup, overload, recovery);
}

}  // namespace cadastre::sim
