// The operations of a driver that are more than one request on one lease.

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/run_record.h"
#include "coord/states.h"
#include "sim/chacha_random.h"
#include "sim/coord/driver.h"
#include "sim/coord/request.h"
#include "sim/coord/shard_name.h"
#include "sim/coord/short_key.h"
#include "sim/coord/step.h"
#include "sim/coord/worker.h"
#include "sim/coord/world.h"

namespace cadastre::sim {
namespace {

constexpr std::size_t kSideRunsMax = 3;

}  // namespace

History Driver::draw_unpark() {
  std::vector<ShardName> parked;
  for (const ShardName& name : world_->mirror().shards()) {
    if (world_->mirror().find(name)->state.status == coord::ShardStatus::kParked) {
      parked.push_back(name);
    }
  }
  if (parked.empty()) return {};
  const ShardName& name = parked[random_->below(parked.size())];
  const auto worker = draw_worker([&](const Worker& w) { return w.tenant() == name.tenant; });
  if (!worker) return {};
  return {request(*worker, Call::kUnpark, name.key())};
}

History Driver::draw_repeat(StepKind kind) {
  const auto worker = draw_worker([](const Worker& w) { return !w.checkpoints().empty(); });
  if (!worker) return {};
  const auto& checkpoints = world_->workers()[*worker].checkpoints();
  const auto at = std::next(checkpoints.begin(),
                            static_cast<std::ptrdiff_t>(random_->below(checkpoints.size())));
  Step step;
  step.kind = kind;
  step.worker = *worker;
  step.shard = at->first.key();
  step.op = at->second.op;
  if (kind == StepKind::kConflict) {
    ShortKey other = ShortKey::prefix_of(at->second.last_key);
    other.push_back(static_cast<std::uint8_t>(random_->below(256)));
    step.keys.push_back(other);
  }
  return {step};
}

History Driver::draw_zombie() {
  static constexpr std::array kCalls{Call::kCheckpoint,   Call::kCheckpoint,   Call::kComplete,
                                     Call::kPark,         Call::kRenew,        Call::kRelease,
                                     Call::kSplitReplace, Call::kSplitResidual};
  const auto worker = draw_worker([](const Worker& w) { return !w.superseded().empty(); });
  if (!worker) return {};
  const auto& lost = world_->workers()[*worker].superseded();
  const std::uint64_t which = random_->below(lost.size());
  const Holding& holding = lost[which];
  Step step = request(*worker, kCalls[random_->below(kCalls.size())], holding.lease.shard_key());
  step.presents = Presents::kSuperseded;
  step.which = which;
  const auto key = draw_point(*random_, holding.start, holding.end);
  if (!key) return {};
  step.keys.push_back(*key);
  return {step};
}

History Driver::draw_session() {
  const auto worker = draw_worker();
  if (!worker) return {};
  const auto shard = draw_shard(world_->workers()[*worker].tenant());
  if (!shard) return {};
  const coord::ShardDump& record = *world_->mirror().find(*shard);
  const coord::Lease expected = coord::Lease::granted(
      {.tenant = record.state.tenant,
       .key = shard->key(),
       .owner = world_->workers()[*worker].id(),
       .fence = coord::next(record.state.fence),
       .deadline = coord::LogicalTime::from_raw(world_->clock() + kLeaseTicks)});
  Holding holding{expected, record.start, record.end, record.last_key};
  History out{request(*worker, Call::kAcquire, shard->key())};
  for (std::uint64_t i = between(*random_, 1, 3); i > 0; --i) {
    const auto step = draw_leased_step(Operation::kCheckpoint, *worker, holding);
    if (!step) break;
    holding.last_key = base::to_owned(step->keys[0].view());
    out.push_back(*step);
  }
  draw_session_end(*worker, holding, out);
  return out;
}

// Complete 50, park 20, split 20, give half away and complete 10.
void Driver::draw_session_end(std::uint32_t worker, const Holding& holding, History& out) {
  const std::uint64_t chance = random_->below(100);
  const auto add = [&](Operation operation, const Holding& with) {
    if (const auto step = draw_leased_step(operation, worker, with)) out.push_back(*step);
  };
  if (chance < 50) return add(Operation::kComplete, holding);
  if (chance < 70) return add(Operation::kPark, holding);
  if (chance < 90) return add(Operation::kSplitReplace, holding);
  const auto residual = draw_leased_step(Operation::kSplitResidual, worker, holding);
  if (!residual) return;
  out.push_back(*residual);
  Holding rest = holding;
  rest.end = base::to_owned(residual->keys[0].view());
  add(Operation::kComplete, rest);
}

// Runs beside the main one come and go, so that their ends are seen often; the main run's end is
// rare, for after it nothing can be claimed there.
History Driver::draw_run_affair() {
  static constexpr std::array kEnds{Call::kCompleteRun, Call::kFailRun, Call::kCancelRun};
  const auto worker = draw_worker();
  if (!worker) return {};
  const std::size_t tenant = world_->workers()[*worker].tenant();
  std::vector<coord::RunId> side;
  for (const auto& [name, run] : world_->mirror().runs()) {
    if (name.tenant == tenant && name.run != kMainRun) side.push_back(name.run);
  }
  const std::uint64_t chance = random_->below(20);
  if (chance == 0) {
    return {request(*worker, kEnds[random_->below(kEnds.size())], {kMainRun, {}})};
  }
  if (chance < 3) {
    Step step = request(*worker, Call::kCollectGarbage, {});
    step.amount = between(*random_, 1, world_->clock() + 1);
    // The main run stays: the rest of the simulation is about it.
    const auto* main = world_->mirror().find(RunName{tenant, kMainRun});
    if (main != nullptr && !main->completed_at) return {step};
    return {};
  }
  if (chance < 10 || side.empty()) {
    if (side.size() >= kSideRunsMax && random_->below(4) != 0) return {};
    const auto run = coord::RunId::from_raw(++runs_made_);
    Step manifest = request(*worker, Call::kRegister, {run, {}});
    manifest.amount = between(*random_, 2, 4);
    History out{request(*worker, Call::kCreateRun, {run, {}})};
    if (random_->below(4) != 0) out.push_back(manifest);  // else it stays Initializing
    return out;
  }
  const auto run = side[random_->below(side.size())];
  const Step end = request(*worker, kEnds[random_->below(kEnds.size())], {run, {}});
  History out{end};
  if (random_->below(4) == 0) out.push_back(end);  // asked twice
  return out;
}

History Driver::draw_mischief() {
  const auto worker = draw_worker([](const Worker& w) { return !w.held().empty(); });
  if (!worker) return {};
  const Holding& holding = draw_holding(world_->workers()[*worker]);
  Step step = request(*worker, Call::kCheckpoint, holding.lease.shard_key());
  step.kind = StepKind::kMischief;
  step.mischief = static_cast<Mischief>(random_->below(kMischiefCount));
  if (const auto point = draw_point(*random_, holding.start, holding.end)) {
    step.keys.push_back(*point);
  }
  const bool of_a_run = step.mischief >= Mischief::kDuplicateManifest;
  if (!of_a_run) return {step};
  // A run that waits for its manifest.
  const auto run = coord::RunId::from_raw(++runs_made_);
  History out;
  step.shard = {run, {}};
  if (step.mischief != Mischief::kRunWithoutLease) {
    out.push_back(request(*worker, Call::kCreateRun, {run, {}}));
  }
  out.push_back(step);
  if (step.mischief != Mischief::kRunWithoutLease) {
    out.push_back(request(*worker, Call::kCancelRun, {run, {}}));
  }
  return out;
}

History Driver::draw_pause() {
  const auto worker = draw_worker();
  if (!worker) return {};
  Step step;
  step.kind = StepKind::kPause;
  step.worker = *worker;
  return {step};
}

History Driver::draw_resume() {
  const auto& workers = world_->workers();
  const std::uint64_t first = random_->below(workers.size());
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const std::size_t at = (first + i) % workers.size();
    if (!world_->is_paused(workers[at])) continue;
    Step step;
    step.kind = StepKind::kResume;
    step.worker = static_cast<std::uint32_t>(at);
    return {step};
  }
  return {};
}

}  // namespace cadastre::sim
