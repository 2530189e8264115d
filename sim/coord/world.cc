#include "sim/coord/world.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/op_log.h"
#include "coord/snapshot.h"
#include "node/coordination.h"
#include "sim/coord/mirror.h"
#include "sim/coord/oracles/judge.h"
#include "sim/coord/request.h"
#include "sim/coord/request_of.h"
#include "sim/coord/shard_name.h"
#include "sim/coord/step.h"
#include "sim/coord/worker.h"

namespace cadastre::sim {

Subject memory_subject(const WorldOptions& options) {
  auto backend = node::make_memory_coordination(
      {.limits = {.per_tenant_max = options.shards_per_tenant_max,
                  .total_max = options.shards_per_tenant_max * options.tenants},
       .claim_cooldown_interval = options.cooldown_ticks,
       .slab_capacity = options.slab_bytes});
  const coord::Introspection* const records = backend.get();
  return {.backend = std::move(backend), .records = records};
}

World::World(const WorldOptions& options, Subject subject)
    : options_(options),
      subject_(std::move(subject)),
      scratch_(std::make_unique<coord::AcquireScratch>()),
      judge_(*subject_.backend, *subject_.records, options.cooldown_ticks) {
  for (std::size_t tenant = 0; tenant < options.tenants; ++tenant) {
    for (std::size_t worker = 1; worker <= options.workers; ++worker)
      workers_.emplace_back(tenant, coord::WorkerId::from_raw(worker));
  }
}

coord::LogicalTime World::now_of(const Worker& worker) const noexcept {
  const std::uint64_t behind =
      worker.skew < 0 ? std::min(clock_ - 1, static_cast<std::uint64_t>(-worker.skew)) : 0;
  const std::uint64_t ahead = worker.skew > 0 ? static_cast<std::uint64_t>(worker.skew) : 0;
  return coord::LogicalTime::from_raw(clock_ - behind + ahead);
}

void World::carry_out(const Step& step) {
  ++steps_;
  if (step.kind == StepKind::kAdvance) {
    clock_ += step.amount;
    if (subject_.storage) {
      subject_.storage->advance(step.amount);
      note_lost_owners();
    }
    return;
  }
  if (clock_ == 0) return;  // there is no time yet
  CAD_CHECK(step.worker < workers_.size(), "a history belongs to its world");
  Worker& worker = workers_[step.worker];
  switch (step.kind) {
    case StepKind::kAdvance: return;
    case StepKind::kPause:
      worker.paused_until =
          step.amount == 0 ? std::numeric_limits<std::uint64_t>::max() : steps_ + step.amount;
      events_.count("fault", "pause");
      return;
    case StepKind::kResume: worker.paused_until = 0; return;
    case StepKind::kCrash:
      worker.crash();
      events_.count("fault", "crash");
      return;
    case StepKind::kSkew:
      worker.skew = step.skew;
      events_.count("fault", "skew");
      return;
    case StepKind::kDeliver: return deliver(step.amount);
    case StepKind::kRetry: return retry(worker);
    case StepKind::kReplay:
    case StepKind::kConflict:
    case StepKind::kSend:
    case StepKind::kMischief: break;
  }
  const Sender sender{worker, options_, now_of(worker)};
  const auto request = request_of(step, sender);
  if (request) dispatch(step, *request);
}

void World::dispatch(const Step& step, const Request& request) {
  Worker& worker = workers_[step.worker];
  if (step.kind == StepKind::kMischief) events_.count("mischief", name(step.mischief));
  if (step.presents == Presents::kSuperseded) events_.count("worker", "zombie");
  if (step.delivery != Delivery::kPrompt) events_.count("fault", name(step.delivery));
  const bool queued = step.delivery == Delivery::kDelayed || step.delivery == Delivery::kDuplicated;
  if (queued) {
    in_flight_.push_back(request);
    if (in_flight_.size() > kInFlightMax) in_flight_.pop_front();
  }
  if (step.delivery == Delivery::kDelayed) return worker.miss_answer(request);
  const Answer answer = send(request);
  if (step.delivery == Delivery::kReplyLost) return worker.miss_answer(request);
  // Answers to what was sent in somebody else's name teach nothing.
  if (number_of(request.tenant) == worker.tenant()) worker.learn(request, answer);
}

namespace {

constexpr std::string_view kTransient = "transient";

bool is_unresolved(const Answer& answer) {
  return answer.code == kTransient ||
         std::ranges::any_of(answer.renewals,
                             [](const Renewal& renewal) { return renewal.code == kTransient; });
}

bool is_acquisition(Call call) {
  return call == Call::kAcquire || call == Call::kClaim;
}

// Whether the records held the effect before the request was sent.
bool was_done(const Request& request, const Answer& answer, const Mirror& before) {
  if (is_run_call(request.call)) {
    const auto* const run = before.find(RunName{number_of(request.tenant), request.key.run});
    return run != nullptr && coord::find_op(run->op_log, request.op) != nullptr;
  }
  const auto key = request.leases.empty() ? request.key : request.leases.front().shard_key();
  const auto* const shard = before.find(shard_name(request.tenant, key));
  if (shard == nullptr) return false;
  if (coord::find_op(shard->state.op_log, request.op) != nullptr) return true;
  return request.call == Call::kSplitResidual && !answer.shards.empty() &&
         std::ranges::find(shard->spawned, answer.shards.front()) != shard->spawned.end();
}

// What the retry of a request without answer says about the request.
Answer resolved(const Request& request, Answer retried, const Mirror& before) {
  if (retried.verdict == Verdict::kReplayed && !was_done(request, retried, before)) {
    retried.verdict = Verdict::kExecuted;
  }
  const RunName run{number_of(request.tenant), request.key.run};
  if (request.call == Call::kCreateRun && retried.code == "run_already_exists" &&
      before.find(run) == nullptr) {
    retried = {};
    retried.verdict = Verdict::kDone;
  }
  return retried;
}

}  // namespace

void World::note_lost_owners() {
  const std::vector<ShardName> lost = subject_.storage->lost_owners();
  for (const ShardName& name : lost)
    judge_.lose_owner(name);
  if (!lost.empty()) events_.count("fault", "owner_lost", lost.size());
  if (!lost.empty()) judge_.catch_up();
}

Answer World::call_through_storage(const Request& request) {
  // Collecting is not told apart run by run: its retry would say less than what happened.
  if (request.call != Call::kCollectGarbage) {
    subject_.storage->begin(request);
    note_lost_owners();
  }
  Answer answer = call(*subject_.backend, request, *scratch_);
  subject_.storage->calm();
  if (!is_unresolved(answer)) return answer;
  events_.count("fault", "no_answer_from_storage");
  if (is_acquisition(request.call)) return answer;
  return resolved(request, call(*subject_.backend, request, *scratch_), judge_.mirror());
}

Answer World::send(const Request& request) {
  Answer answer = subject_.storage ? call_through_storage(request)
                                   : call(*subject_.backend, request, *scratch_);
  events_.observe(request, answer);
  if (answer.code == kTransient) {
    judge_.accept(request);
  } else {
    judge_.judge(request, answer);
  }
  if (events_.requests() % options_.recount_every == 0) judge_.recount_all(request.now);
  return answer;
}

void World::deliver(std::uint64_t which) {
  if (in_flight_.empty()) return;
  const auto at = in_flight_.begin() + static_cast<std::ptrdiff_t>(which % in_flight_.size());
  const Request request = std::move(*at);
  in_flight_.erase(at);
  events_.count("fault", "delivered_late");
  std::ignore = send(request);  // whoever sent it has stopped waiting
}

void World::retry(Worker& worker) {
  if (!worker.unanswered()) return;
  Request request = *worker.unanswered();
  worker.forget_unanswered();
  request.now = now_of(worker);
  events_.count("worker", "retry");
  worker.learn(request, send(request));
}

std::uint64_t World::available(std::size_t tenant, coord::LogicalTime now) const {
  std::vector<coord::ShardId> candidates;
  const auto collected = subject_.backend->collect_claim_candidates_into(now, tenant_number(tenant),
                                                                         kMainRun, candidates);
  return collected ? candidates.size() : 0;
}

void World::finish() {
  if (clock_ != 0) judge_.recount_all(coord::LogicalTime::from_raw(clock_));
}

}  // namespace cadastre::sim
