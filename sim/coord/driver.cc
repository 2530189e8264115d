#include "sim/coord/driver.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/function_ref.h"
#include "base/random.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/states.h"
#include "sim/chacha_random.h"
#include "sim/coord/faults.h"
#include "sim/coord/request.h"
#include "sim/coord/shard_name.h"
#include "sim/coord/short_key.h"
#include "sim/coord/step.h"
#include "sim/coord/worker.h"
#include "sim/coord/world.h"

namespace cadastre::sim {
namespace {

constexpr int kDrawsMax = 10;
constexpr std::uint64_t kOpsPerWorker = 1'000'000;
constexpr std::uint64_t kAdvanceMax = 50;
constexpr std::uint64_t kFirstTickMax = 10;
constexpr int kShardDraws = 4;

Operation draw_weighted(base::Random& random, std::span<const Weight> weights) {
  std::uint64_t total = 0;
  for (const Weight& weight : weights)
    total += weight.weight;
  std::uint64_t left = random.below(total);
  for (const Weight& weight : weights) {
    if (left < weight.weight) return weight.operation;
    left -= weight.weight;
  }
  return Operation::kAdvance;
}

Step advance(std::uint64_t ticks) {
  Step step;
  step.kind = StepKind::kAdvance;
  step.amount = ticks;
  return step;
}

base::ByteView later(base::ByteView a, base::ByteView b) {
  return base::less(a, b) ? b : a;
}

}  // namespace

Driver::Driver(base::Random& random, const World& world, FaultLevel level) noexcept
    : random_(&random),
      world_(&world),
      rates_(rates_of(level)),
      op_counts_(world.workers().size()) {}

coord::OpId Driver::next_op(std::uint32_t worker) {
  const std::uint64_t id = world_->workers()[worker].id().raw();
  return coord::OpId::from_raw(id * kOpsPerWorker + ++op_counts_[worker]);
}

coord::OpId Driver::next_admin_op() {
  return coord::OpId::from_raw(++admin_ops_);
}

std::optional<std::uint32_t> Driver::draw_worker(base::FunctionRef<bool(const Worker&)> suits) {
  const auto& workers = world_->workers();
  const std::uint64_t first = random_->below(workers.size());
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const std::size_t at = (first + i) % workers.size();
    if (!world_->is_paused(workers[at]) && suits(workers[at])) {
      return static_cast<std::uint32_t>(at);
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Driver::draw_worker() {
  return draw_worker([](const Worker&) { return true; });
}

std::optional<ShardName> Driver::draw_shard(std::size_t tenant) {
  const auto& shards = world_->mirror().shards();
  std::optional<ShardName> drawn;
  if (shards.empty()) return drawn;
  for (int i = 0; i < kShardDraws; ++i) {
    const ShardName& name = shards[random_->below(shards.size())];
    if (name.tenant != tenant) continue;
    drawn = name;
    // Most of the time a free one, as a worker that reads lists would find.
    const auto& state = world_->mirror().find(name)->state;
    const auto now = coord::LogicalTime::from_raw(world_->clock());
    if (!coord::is_terminal(state.status) && !coord::is_live(state.lease, now)) break;
  }
  return drawn;
}

const Holding& Driver::draw_holding(const Worker& worker) {
  const auto& held = worker.held();
  const auto at = std::next(held.begin(), static_cast<std::ptrdiff_t>(random_->below(held.size())));
  return at->second;
}

Step Driver::request(std::uint32_t worker, Call call, const coord::ShardKey& shard) {
  Step step;
  step.kind = StepKind::kSend;
  step.call = call;
  step.tenant = static_cast<std::uint32_t>(world_->workers()[worker].tenant());
  step.worker = worker;
  step.shard = shard;
  if (is_lease_gated(call)) step.op = next_op(worker);
  if (call == Call::kUnpark || is_run_call(call)) step.op = next_admin_op();
  return step;
}

History Driver::set_up() {
  History out{advance(between(*random_, 1, kFirstTickMax))};
  const std::size_t workers = world_->options().workers;
  for (std::size_t tenant = 0; tenant < world_->options().tenants; ++tenant) {
    const auto worker = static_cast<std::uint32_t>(tenant * workers);
    out.push_back(request(worker, Call::kCreateRun, {kMainRun, {}}));
    Step manifest = request(worker, Call::kRegister, {kMainRun, {}});
    manifest.op = kSetupOp;
    manifest.amount = world_->options().shards;
    out.push_back(manifest);
  }
  return out;
}

History Driver::scripted_zombie() {
  if (world_->options().workers < 2) return {};
  const coord::ShardKey first{kMainRun, coord::ShardId::from_raw(1)};
  const ShortKey start{0};
  Step zombie = request(0, Call::kCheckpoint, first);
  zombie.keys.push_back(start);
  return {request(0, Call::kAcquire, first), advance(kLeaseTicks + 1),
          request(1, Call::kAcquire, first), zombie};
}

History Driver::next(Stage stage) {
  History out;
  if (stage != Stage::kWarmUp) draw_faults(out);
  for (int i = 0; i < kDrawsMax; ++i) {
    const Operation operation = draw_weighted(*random_, weights_of(stage));
    History steps = draw(operation);
    if (steps.empty()) continue;
    for (Step& step : steps) {
      if (stage != Stage::kWarmUp) draw_delivery(step);
      out.push_back(step);
    }
    return out;
  }
  out.push_back(advance(between(*random_, 1, kAdvanceMax)));
  return out;
}

void Driver::draw_faults(History& out) {
  if (happens(*random_, rates_.expiry_ppm)) {
    if (const auto expiry = draw_expiry()) out.push_back(*expiry);
  }
  if (happens(*random_, rates_.jump_ppm)) {
    out.push_back(advance(between(*random_, rates_.jump_ticks_min, rates_.jump_ticks_max)));
  }
  Step step;
  step.worker = static_cast<std::uint32_t>(random_->below(world_->workers().size()));
  if (happens(*random_, rates_.pause_ppm)) {
    step.kind = StepKind::kPause;
    step.amount = between(*random_, 1, rates_.pause_steps_max);
    out.push_back(step);
  }
  if (happens(*random_, rates_.crash_ppm)) {
    step.kind = StepKind::kCrash;
    out.push_back(step);
  }
  if (happens(*random_, rates_.skew_ppm)) {
    step.kind = StepKind::kSkew;
    step.skew = static_cast<std::int64_t>(random_->below(2 * rates_.skew_ticks_max + 1)) -
                static_cast<std::int64_t>(rates_.skew_ticks_max);
    out.push_back(step);
  }
  const bool arrives = world_->in_flight() != 0 && random_->below(4) == 0;
  if (arrives) {
    Step arrival;
    arrival.kind = StepKind::kDeliver;
    arrival.amount = random_->below(world_->in_flight());
    out.push_back(arrival);
  }
}

// To the very tick at which somebody's lease ends.
std::optional<Step> Driver::draw_expiry() {
  const auto worker =
      draw_worker([&](const Worker& candidate) { return !candidate.held().empty(); });
  if (!worker) return std::nullopt;
  const std::uint64_t deadline = draw_holding(world_->workers()[*worker]).lease.deadline().raw();
  if (deadline <= world_->clock()) return std::nullopt;
  return advance(deadline - world_->clock());
}

void Driver::draw_delivery(Step& step) {
  const bool travels = step.kind == StepKind::kSend || step.kind == StepKind::kMischief;
  if (!travels || is_run_call(step.call) || step.call == Call::kCreateRun ||
      step.call == Call::kCollectGarbage) {
    return;
  }
  if (happens(*random_, rates_.reply_lost_ppm)) {
    step.delivery = Delivery::kReplyLost;
  } else if (happens(*random_, rates_.duplicated_ppm)) {
    step.delivery = Delivery::kDuplicated;
  } else if (happens(*random_, rates_.delayed_ppm)) {
    step.delivery = Delivery::kDelayed;
  }
}

History Driver::draw(Operation operation) {
  switch (operation) {
    case Operation::kAcquire: return draw_acquire();
    case Operation::kRenew:
    case Operation::kCheckpoint:
    case Operation::kComplete:
    case Operation::kPark:
    case Operation::kRelease:
    case Operation::kSplitReplace:
    case Operation::kSplitResidual: return draw_leased(operation);
    case Operation::kUnpark: return draw_unpark();
    case Operation::kReplay: return draw_repeat(StepKind::kReplay);
    case Operation::kConflict: return draw_repeat(StepKind::kConflict);
    case Operation::kZombie: return draw_zombie();
    case Operation::kSession: return draw_session();
    case Operation::kAdvance: return {advance(between(*random_, 1, kAdvanceMax))};
    case Operation::kPause: return draw_pause();
    case Operation::kResume: return draw_resume();
    case Operation::kTerminateRun: return draw_run_affair();
    case Operation::kMischief: return draw_mischief();
    case Operation::kRenewMany: return draw_renew_many();
    case Operation::kRetry: return draw_retry();
    case Operation::kClaim: return draw_claim();
  }
  return {};
}

History Driver::draw_claim() {
  const auto worker = draw_worker();
  if (!worker) return {};
  return {request(*worker, Call::kClaim, {kMainRun, {}})};
}

History Driver::draw_acquire() {
  const auto worker = draw_worker();
  if (!worker) return {};
  const auto shard = draw_shard(world_->workers()[*worker].tenant());
  if (!shard) return {};
  return {request(*worker, Call::kAcquire, shard->key())};
}

History Driver::draw_renew_many() {
  const auto worker = draw_worker([](const Worker& w) { return !w.held().empty(); });
  if (!worker) return {};
  return {request(*worker, Call::kRenewMany, {})};
}

History Driver::draw_retry() {
  const auto worker = draw_worker([](const Worker& w) { return w.unanswered().has_value(); });
  if (!worker) return {};
  Step step;
  step.kind = StepKind::kRetry;
  step.worker = *worker;
  return {step};
}

History Driver::draw_leased(Operation operation) {
  const auto worker = draw_worker([](const Worker& w) { return !w.held().empty(); });
  if (!worker) return {};
  const Holding& holding = draw_holding(world_->workers()[*worker]);
  const auto step = draw_leased_step(operation, *worker, holding);
  if (!step) return {};
  return {*step};
}

std::optional<Step> Driver::split_replace(std::uint32_t worker, const Holding& holding) {
  Step step = request(worker, Call::kSplitReplace, holding.lease.shard_key());
  step.amount = random_->below(4);
  base::ByteView low = holding.start;
  for (std::uint64_t points = between(*random_, 1, 3); points > 0; --points) {
    const auto point = draw_point(*random_, low, holding.end);
    if (!point) break;
    step.keys.push_back(*point);
    low = step.keys[step.keys.size() - 1].view();
  }
  if (step.keys.empty()) return std::nullopt;
  return step;
}

std::optional<Step> Driver::draw_leased_step(Operation operation,
                                             std::uint32_t worker,
                                             const Holding& holding) {
  const auto shard = holding.lease.shard_key();
  const base::ByteView low = later(holding.start, holding.last_key);
  const auto with_key = [&](Call call) -> std::optional<Step> {
    const auto key = draw_key(*random_, low, holding.end);
    if (!key) return std::nullopt;
    Step step = request(worker, call, shard);
    step.keys.push_back(*key);
    step.which = random_->below(6);  // now and then with a token
    return step;
  };
  if (operation == Operation::kCheckpoint) return with_key(Call::kCheckpoint);
  if (operation == Operation::kComplete) return with_key(Call::kComplete);
  if (operation == Operation::kRenew) return request(worker, Call::kRenew, shard);
  if (operation == Operation::kSplitReplace) return split_replace(worker, holding);
  if (operation == Operation::kRelease) {
    if (random_->below(2) == 0) return request(worker, Call::kRelease, shard);
    return with_key(Call::kRelease);
  }
  if (operation == Operation::kPark) {
    Step step = request(worker, Call::kPark, shard);
    step.amount = random_->below(5);
    return step;
  }
  const auto point = draw_point(*random_, low, holding.end);
  if (!point) return std::nullopt;
  Step step = request(worker, Call::kSplitResidual, shard);
  step.keys.push_back(*point);
  return step;
}

}  // namespace cadastre::sim
