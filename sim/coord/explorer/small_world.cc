#include "sim/coord/explorer/small_world.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/check.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/op_log.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "node/coordination.h"
#include "sim/coord/explorer/action.h"
#include "sim/coord/explorer/bound.h"
#include "sim/coord/request.h"
#include "sim/coord/shard_name.h"
#include "sim/coord/world.h"

namespace cadastre::sim {
namespace {

constexpr std::uint8_t kAdministrator = 7;
constexpr std::uint8_t kNoKey = 0xff;
constexpr std::uint64_t kShardsMax = 16;
constexpr std::uint64_t kSlabBytes = 8192;

// Root i is [i0, if); its split point is i8, its keys lie on both sides of that.
constexpr std::array<std::uint8_t, 3> kKeys{0x4, 0xc, 0x8};

base::Bytes key_of(std::size_t root, std::uint8_t digit) {
  return {static_cast<std::byte>((root + 1) << 4U | digit)};
}

Subject small_subject() {
  auto backend = node::make_memory_coordination(
      {.limits = {.per_tenant_max = kShardsMax, .total_max = kShardsMax},
       .slab_capacity = kSlabBytes});
  const coord::Introspection* const records = backend.get();
  return {.backend = std::move(backend), .records = records};
}

coord::OpId op_id(const Action& action, std::uint8_t worker, std::uint8_t key) {
  return coord::OpId::from_raw(std::uint64_t{worker} << 24U |
                               std::uint64_t{action.op_fence} << 16U |
                               std::uint64_t{static_cast<std::uint8_t>(action.call)} << 8U | key);
}

coord::OpId op_id(const Action& action) {
  return op_id(action, action.worker, action.key);
}

bool has_key(Call call) {
  return call == Call::kCheckpoint || call == Call::kComplete;
}

}  // namespace

SmallWorld::SmallWorld(const Bound& bound, coord::AcquireScratch& scratch)
    : bound_(bound),
      scratch_(&scratch),
      subject_(small_subject()),
      judge_(*subject_.backend, *subject_.records, 0) {
  Request request;
  request.call = Call::kCreateRun;
  request.now = coord::LogicalTime::from_raw(clock_);
  request.tenant = tenant_number(0);
  request.key.run = kMainRun;
  request.config.lease_duration = bound.lease_ticks;
  judge_.follow(request, call(*subject_.backend, request, *scratch_));
  request.call = Call::kRegister;
  request.op = kSetupOp;
  for (std::size_t i = 0; i < bound.roots; ++i) {
    const auto id = coord::ShardId::from_raw(i + 1);
    request.pieces.push_back({id, key_of(i, 0), key_of(i, 0xf), {}});
    shards_.push_back({id, i, {}});
  }
  judge_.follow(request, call(*subject_.backend, request, *scratch_));
  judge_.catch_up();
}

const coord::ShardDump& SmallWorld::record(const Known& shard) const {
  const auto* const found = judge_.mirror().find(ShardName{0, kMainRun, shard.id});
  CAD_CHECK(found != nullptr, "a shard that was named exists");
  return *found;
}

// Whether another owner is inside the bound.
bool SmallWorld::can_rise(const Known& shard) const {
  const std::uint64_t most = shard.id.is_derived() ? bound_.derived_fence_max : bound_.fence_max;
  return record(shard).state.fence.raw() < most;
}

bool SmallWorld::is_logged_op(const Known& shard, coord::OpId op) const {
  return coord::find_op(record(shard).state.op_log, op) != nullptr;
}

std::vector<Action> SmallWorld::actions() const {
  std::vector<Action> out;
  if (clock_ < bound_.ticks) out.push_back({});
  for (std::uint8_t worker = 0; worker < kExplorerWorkers; ++worker)
    add_worker_actions(worker, out);
  Action admin{.kind = ActionKind::kSend, .call = Call::kUnpark, .worker = kAdministrator};
  for (std::size_t place = 0; place < shards_.size(); ++place) {
    if (!can_rise(shards_[place])) continue;
    admin.shard = static_cast<std::uint8_t>(place);
    admin.op_fence = static_cast<std::uint8_t>(record(shards_[place]).state.fence.raw());
    out.push_back(admin);
  }
  if (bound_.run_ends) {
    out.push_back({.kind = ActionKind::kSend, .call = Call::kCancelRun, .worker = kAdministrator});
  }
  return out;
}

void SmallWorld::add_worker_actions(std::uint8_t worker, std::vector<Action>& out) const {
  Action action{.kind = ActionKind::kSend, .worker = worker};
  const bool bounded = std::ranges::all_of(shards_, [&](const Known& shard) {
    return can_rise(shard) || record(shard).state.status != coord::ShardStatus::kActive;
  });
  if (bounded) {
    action.call = Call::kClaim;
    out.push_back(action);
  }
  const bool holds =
      std::ranges::any_of(shards_, [&](const Known& shard) { return shard.granted[worker] != 0; });
  if (holds) {
    action.call = Call::kRenewMany;
    out.push_back(action);
  }
  for (std::size_t place = 0; place < shards_.size(); ++place) {
    action.shard = static_cast<std::uint8_t>(place);
    add_shard_actions(action, out);
  }
}

void SmallWorld::add_shard_actions(Action action, std::vector<Action>& out) const {
  const Known& shard = shards_[action.shard];
  const auto in_force = static_cast<std::uint8_t>(record(shard).state.fence.raw());
  if (can_rise(shard)) {
    action.call = Call::kAcquire;
    out.push_back(action);
  }
  const std::uint8_t granted = shard.granted[action.worker];
  if ((granted >> in_force & 1U) == 0) {
    Action forge = action;
    forge.kind = ActionKind::kForge;
    forge.call = Call::kCheckpoint;
    forge.fence = forge.op_fence = in_force;
    out.push_back(forge);
  }
  for (action.fence = 1; action.fence <= bound_.fence_max; ++action.fence) {
    if ((granted >> action.fence & 1U) == 0) continue;
    action.op_fence = action.fence;
    add_lease_actions(action, out);
    // Under this lease, what was done under an earlier one.
    for (action.op_fence = 1; action.op_fence < action.fence; ++action.op_fence) {
      if ((granted >> action.op_fence & 1U) != 0) add_repeats(action, out);
    }
  }
}

// What a worker may send under one of its leases.
void SmallWorld::add_lease_actions(Action action, std::vector<Action>& out) const {
  const auto add = [&](Call call) {
    action.call = call;
    out.push_back(action);
  };
  add(Call::kRenew);
  for (action.key = 0; action.key < bound_.keys; ++action.key) {
    add(Call::kCheckpoint);
    add(Call::kComplete);
    for (std::uint8_t other = 0; other < bound_.keys; ++other) {
      Action conflict = action;
      conflict.kind = ActionKind::kConflict;
      conflict.call = Call::kCheckpoint;
      conflict.other_key = other;
      const bool used = other != action.key &&
                        is_logged_op(shards_[action.shard], op_id(conflict, action.worker, other));
      if (used) out.push_back(conflict);
    }
  }
  action.key = kNoKey;
  add(Call::kPark);
  add(Call::kRelease);
  if (bound_.splits && action.shard == 0) {
    add(Call::kSplitReplace);
    add(Call::kSplitResidual);
  }
}

void SmallWorld::add_repeats(Action action, std::vector<Action>& out) const {
  std::vector<Action> earlier;
  add_lease_actions(action, earlier);
  for (const Action& repeat : earlier) {
    const bool done = repeat.kind == ActionKind::kSend && repeat.call != Call::kRenew &&
                      is_logged_op(shards_[repeat.shard], op_id(repeat));
    if (done) out.push_back(repeat);
  }
}

Request SmallWorld::request_of(const Action& action) const {
  Request request;
  request.call = action.call;
  request.now = coord::LogicalTime::from_raw(clock_);
  request.tenant = tenant_number(0);
  request.worker = coord::WorkerId::from_raw(std::uint64_t{action.worker} + 1);
  request.key = {kMainRun, shards_[action.shard].id};
  request.op = action.kind == ActionKind::kConflict ? op_id(action, action.worker, action.other_key)
                                                    : op_id(action);
  const auto present = [&](const Known& shard, std::uint8_t fence) {
    request.leases.push_back(coord::Lease::granted({.tenant = request.tenant,
                                                    .key = {kMainRun, shard.id},
                                                    .owner = request.worker,
                                                    .fence = coord::FenceEpoch::from_raw(fence),
                                                    .deadline = coord::LogicalTime::from_raw(1)}));
  };
  if (action.call == Call::kRenewMany) {
    for (const Known& shard : shards_) {
      const std::uint8_t granted = shard.granted[action.worker];
      if (granted != 0) present(shard, static_cast<std::uint8_t>(std::bit_width(granted) - 1));
    }
  }
  if (action.fence != 0) present(shards_[action.shard], action.fence);
  const std::size_t root = shards_[action.shard].root;
  if (has_key(action.call)) request.last_key = key_of(root, kKeys[action.key]);
  if (action.call == Call::kSplitReplace || action.call == Call::kSplitResidual) {
    request.pieces = {{{}, key_of(root, 0), key_of(root, 8), {}},
                      {{}, key_of(root, 8), key_of(root, 0xf), {}}};
  }
  return request;
}

SmallWorld::Effect SmallWorld::perform(const Action& action) {
  if (action.kind == ActionKind::kTick) {
    ++clock_;
    check_state();
    return Effect::kPerhapsOther;
  }
  const Request request = request_of(action);
  const Answer answer = call(*subject_.backend, request, *scratch_);
  judge_.judge(request, answer);
  violations_ = judge_.violations();
  if (!answer.effective()) return Effect::kSame;
  learn(action, answer);
  check_state();
  return Effect::kPerhapsOther;
}

void SmallWorld::follow(const Action& action) {
  if (action.kind == ActionKind::kTick) {
    ++clock_;
    return;
  }
  const Request request = request_of(action);
  const Answer answer = call(*subject_.backend, request, *scratch_);
  judge_.follow(request, answer);
  learn(action, answer);
}

void SmallWorld::recount() {
  judge_.recount_all(coord::LogicalTime::from_raw(clock_));
  violations_.insert(violations_.end(), judge_.violations().begin(), judge_.violations().end());
}

void SmallWorld::learn(const Action& action, const Answer& answer) {
  if (answer.lease) {
    const auto at = std::ranges::find(shards_, answer.lease->shard(), &Known::id);
    CAD_CHECK(at != shards_.end(), "granted shards are known");
    at->granted[action.worker] |= static_cast<std::uint8_t>(1U << answer.lease->fence().raw());
  }
  if (answer.verdict != Verdict::kExecuted) return;
  const std::size_t root = shards_[action.shard].root;
  for (const coord::ShardId id : answer.shards)
    shards_.push_back({id, root, {}});
}

}  // namespace cadastre::sim
