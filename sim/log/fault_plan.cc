#include "sim/log/fault_plan.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "base/random.h"
#include "sim/schedule/sim_time.h"

namespace cadastre::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::uint64_t kPlanStream =
    0x706c616e;  // So that other uses of the seed have other luck.

// What is too rare, or too much for every run. From a stream of its own, so that the rest of a plan stays as it is.
constexpr std::uint64_t kRareStream = 0x72617265;

struct Weight {
  LogFaultKind kind;
  std::uint64_t share;
};
constexpr std::array kWeights{
    Weight{LogFaultKind::kCrash, 30},     Weight{LogFaultKind::kPause, 10},
    Weight{LogFaultKind::kSlowSync, 15},  Weight{LogFaultKind::kFailedSync, 5},
    Weight{LogFaultKind::kClockJump, 8},  Weight{LogFaultKind::kDrift, 5},
    Weight{LogFaultKind::kPartition, 10}, Weight{LogFaultKind::kReset, 7},
    Weight{LogFaultKind::kFlush, 40},     Weight{LogFaultKind::kBitFlip, 1},
};

// Voters are cut off from each other too; none of them is lost for ever.
constexpr std::array kVoterWeights{
    Weight{LogFaultKind::kCrash, 30},     Weight{LogFaultKind::kPause, 15},
    Weight{LogFaultKind::kSlowSync, 15},  Weight{LogFaultKind::kFailedSync, 5},
    Weight{LogFaultKind::kClockJump, 5},  Weight{LogFaultKind::kDrift, 5},
    Weight{LogFaultKind::kSlowDrift, 5},  Weight{LogFaultKind::kPartition, 5},
    Weight{LogFaultKind::kReset, 7},      Weight{LogFaultKind::kFlush, 25},
    Weight{LogFaultKind::kCutPair, 15},   Weight{LogFaultKind::kIsolate, 20},
    Weight{LogFaultKind::kTransfer, 40},  Weight{LogFaultKind::kMembership, 40},
    Weight{LogFaultKind::kSlowFiles, 10}, Weight{LogFaultKind::kFailedFiles, 10},
    Weight{LogFaultKind::kCrashFed, 20},
};

LogFaultKind pick_kind(base::Random& random, std::span<const Weight> weights) {
  std::uint64_t all = 0;
  for (const Weight& weight : weights)
    all += weight.share;
  std::uint64_t left = random.below(all);
  for (const Weight& weight : weights) {
    if (left < weight.share) return weight.kind;
    left -= weight.share;
  }
  return LogFaultKind::kCrash;
}

nanoseconds between(base::Random& random, nanoseconds least, nanoseconds most) {
  return least + nanoseconds(random.below(static_cast<std::uint64_t>((most - least).count()) + 1));
}

LogFault make_fault(base::Random& random, const PlanShape& shape) {
  LogFault fault;
  fault.when = between(random, nanoseconds(0), shape.lasts);
  fault.kind = shape.registers == Registers::kOfAll ? pick_kind(random, kVoterWeights)
                                                    : pick_kind(random, kWeights);
  fault.node = NodeId{1 + random.below(shape.nodes)};
  switch (fault.kind) {
    case LogFaultKind::kCrash:
    case LogFaultKind::kBitFlip:
      fault.lasts = between(random, microseconds(1), milliseconds(500));
      fault.amount = std::array<std::uint64_t, 3>{0, 1000, random.below(1001)}[random.below(3)];
      break;
    case LogFaultKind::kPause:
      fault.lasts = between(random, milliseconds(10), milliseconds(3000));
      break;
    case LogFaultKind::kSlowSync:
      fault.lasts = between(random, milliseconds(5), milliseconds(4000));
      if (shape.registers == Registers::kOfAll && random.below(4) == 0) fault.lasts *= 2;
      break;
    case LogFaultKind::kFailedSync:
      fault.lasts = between(random, microseconds(1), milliseconds(500));
      break;
    case LogFaultKind::kClockJump:
      fault.lasts = between(random, milliseconds(1), milliseconds(600'000));
      fault.amount = random.below(2);
      break;
    case LogFaultKind::kDrift:
    case LogFaultKind::kSlowDrift: fault.amount = random.below(shape.drift_ppm_max); break;
    case LogFaultKind::kTransfer:
    case LogFaultKind::kMembership: fault.amount = random.next_u64(); break;
    case LogFaultKind::kPartition:
      fault.lasts = between(random, milliseconds(10), milliseconds(3000));
      fault.amount = random.below(3);
      break;
    case LogFaultKind::kIsolate:
      fault.lasts = between(random, milliseconds(10), milliseconds(5000));
      fault.amount = random.below(3);
      break;
    case LogFaultKind::kCutPair:
      fault.lasts = between(random, milliseconds(10), milliseconds(5000));
      fault.amount = 1 + random.below(shape.nodes);
      break;
    case LogFaultKind::kSlowFiles:
      fault.lasts = between(random, milliseconds(10), milliseconds(3000));
      break;
    case LogFaultKind::kCrashFed:
      fault.lasts = between(random, microseconds(1), milliseconds(500));
      fault.amount = random.next_u64();
      break;
    case LogFaultKind::kFailedFiles:
    case LogFaultKind::kReset: break;
    case LogFaultKind::kFlush: fault.amount = random.below(shape.groups); break;
    case LogFaultKind::kFullDisk: break;  // make_rare
  }
  return fault;
}

std::string_view name(LogFaultKind kind) noexcept {
  switch (kind) {
    case LogFaultKind::kCrash: return "crash";
    case LogFaultKind::kPause: return "pause";
    case LogFaultKind::kSlowSync: return "slow sync";
    case LogFaultKind::kFailedSync: return "failed sync";
    case LogFaultKind::kClockJump: return "clock jump";
    case LogFaultKind::kDrift: return "fast clock";
    case LogFaultKind::kSlowDrift: return "slow clock";
    case LogFaultKind::kTransfer: return "transfer";
    case LogFaultKind::kMembership: return "membership";
    case LogFaultKind::kSlowFiles: return "slow files";
    case LogFaultKind::kFailedFiles: return "failed files";
    case LogFaultKind::kCrashFed: return "crash while fed";
    case LogFaultKind::kPartition: return "partition";
    case LogFaultKind::kReset: return "reset";
    case LogFaultKind::kFlush: return "flush";
    case LogFaultKind::kCutPair: return "cut pair";
    case LogFaultKind::kIsolate: return "isolate";
    case LogFaultKind::kBitFlip: return "bit flip";
    case LogFaultKind::kFullDisk: return "full disk";
  }
  return "unknown";
}

void add_rare(base::Random& random, const PlanShape& shape, std::vector<LogFault>& faults) {
  const auto add = [&](LogFaultKind kind, nanoseconds least, nanoseconds most) -> LogFault& {
    return faults.emplace_back(LogFault{.when = between(random, nanoseconds(0), shape.lasts),
                                        .kind = kind,
                                        .node = NodeId{1 + random.below(shape.nodes)},
                                        .lasts = between(random, least, most)});
  };
  if (random.below(4) == 0) add(LogFaultKind::kPause, milliseconds(3000), milliseconds(30'000));
  if (random.below(4) == 0) add(LogFaultKind::kSlowSync, milliseconds(4000), milliseconds(10'000));
  if (random.below(3) == 0) {
    LogFault& full = add(LogFaultKind::kFullDisk, milliseconds(500), milliseconds(6000));
    full.amount = random.below(3);
  }
  if (!shape.loses_disk) return;
  LogFault& flip = add(LogFaultKind::kBitFlip, microseconds(1), milliseconds(500));
  flip.amount = random.below(1001);
}

}  // namespace

std::vector<LogFault> plan_faults(std::uint64_t seed, const PlanShape& shape) {
  base::SeededRandom random(seed ^ kPlanStream);
  std::vector<LogFault> faults(10 + random.below(60));
  for (LogFault& fault : faults)
    fault = make_fault(random, shape);
  if (shape.registers == Registers::kOfAll) {
    base::SeededRandom rare(seed ^ kRareStream);
    add_rare(rare, shape, faults);
  }
  std::ranges::sort(faults, {}, &LogFault::when);
  return faults;
}

std::string to_text(const LogFault& fault) {
  return fmt::format("{:10.6f} s  node {}  {}  lasts {:.6f} s, amount {}", in_seconds(fault.when),
                     fault.node.value(), name(fault.kind), in_seconds(fault.lasts), fault.amount);
}

}  // namespace cadastre::sim
