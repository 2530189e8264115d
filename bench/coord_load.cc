#include "bench/coord_load.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/signal.h"
#include "bench/closed_loop.h"
#include "bench/work_keys.h"
#include "coord/async_backend.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/snapshot.h"
#include "shard/cursor.h"
#include "shard/manifest.h"
#include "shard/shard_id.h"
#include "shard/shard_spec.h"

namespace cadastre::bench {
namespace {

using coord::AsyncCoordinationFacade;
using coord::CursorUpdate;
using coord::Lease;
using coord::OpId;
using coord::RunId;
using coord::TenantId;
using coord::WorkerId;

constexpr RunId kRun = RunId::from_raw(1);
constexpr std::size_t kClaimsAtOnce = 16;

// Starts an operation and waits until it has completed without a refusal.
template <class Start>
void wait_for(const Start& start) {
  base::Signal completed;
  start([&completed](const auto& result) {
    CAD_CHECK(result.has_value(), "the backend does what was asked");
    completed.raise();
  });
  completed.wait();
}

// One caller of a closed loop: op ids of its own, and a place for what a claim returns.
class Caller {
 public:
  Caller(AsyncCoordinationFacade& backend, const TenantId& tenant, std::size_t number)
      : backend_(backend),
        tenant_(tenant),
        worker_(WorkerId::from_raw(number + 1)),
        scratch_(std::make_unique<coord::AcquireScratch>()) {}

  void hold(const Lease& lease) { lease_ = lease; }

  void checkpoint(LoopDone done) {
    const std::string key = cursor_key(lease_->shard().raw(), ++step_);
    backend_.checkpoint(logical_now(), tenant_, *lease_, CursorUpdate::make(base::as_bytes(key)),
                        next_op(), [done = std::move(done)](const auto& result) mutable {
                          CAD_CHECK(result.has_value(), "a checkpoint of the holder is taken");
                          done();
                        });
  }

  void claim_and_release(LoopDone done) {
    backend_.claim_next_available(logical_now(), tenant_, kRun, worker_, *scratch_,
                                  [this, done = std::move(done)](const auto& claimed) mutable {
                                    CAD_CHECK(claimed.has_value(), "there are free shards");
                                    release(claimed->lease, std::move(done));
                                  });
  }

 private:
  void release(const Lease& lease, LoopDone done) {
    backend_.release_shard(logical_now(), tenant_, lease, CursorUpdate::initial(), next_op(),
                           [done = std::move(done)](const auto& result) mutable {
                             CAD_CHECK(result.has_value(), "the holder gives back");
                             done();
                           });
  }
  OpId next_op() { return OpId::from_raw(worker_.raw() << 40U | ++ops_); }

  AsyncCoordinationFacade& backend_;
  const TenantId& tenant_;
  WorkerId worker_;
  std::unique_ptr<coord::AcquireScratch> scratch_;
  std::optional<Lease> lease_;
  std::uint64_t step_ = 0;
  std::uint64_t ops_ = 0;
};

struct Claimed {
  std::unique_ptr<coord::AcquireScratch> scratch = std::make_unique<coord::AcquireScratch>();
  std::optional<Lease> lease;
};

// Whether every lease of the call was renewed.
bool is_renewed(const auto& answer) {
  return answer.has_value() &&
         std::ranges::all_of(*answer, [](const auto& one) { return one.has_value(); });
}

std::vector<std::unique_ptr<Caller>> make_callers(AsyncCoordinationFacade& backend,
                                                  const TenantId& tenant,
                                                  std::size_t count) {
  std::vector<std::unique_ptr<Caller>> callers;
  callers.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    callers.push_back(std::make_unique<Caller>(backend, tenant, i));
  return callers;
}

}  // namespace

coord::LogicalTime logical_now() {
  return coord::LogicalTime::from_raw(
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count()));
}

TenantId work_tenant() {
  return TenantId::from_bytes({std::byte{1}});
}

CoordWork::CoordWork(AsyncCoordinationFacade& backend, const WorkPlan& plan) : backend_(backend) {
  wait_for([&](auto done) {
    backend_.create_run(logical_now(), tenant_, kRun, {.lease_duration = plan.lease_ms},
                        std::move(done));
  });
  std::vector<std::string> starts;
  starts.reserve(plan.shards + 1);
  for (std::size_t i = 0; i <= plan.shards; ++i)
    starts.push_back(shard_start(i + 1));
  std::vector<shard::InitialShardInput> manifest;
  manifest.reserve(plan.shards);
  for (std::size_t i = 0; i < plan.shards; ++i) {
    manifest.push_back({.shard = shard::ShardId::from_raw(i + 1),
                        .spec = shard::ShardSpecRef::unchecked(base::as_bytes(starts[i]),
                                                               base::as_bytes(starts[i + 1]))});
  }
  wait_for([&](auto done) {
    backend_.register_shards(logical_now(), tenant_, kRun, manifest, OpId::from_raw(1),
                             std::move(done));
  });
}

std::vector<Lease> CoordWork::claim(std::size_t count) {
  std::vector<Lease> leases;
  leases.reserve(count);
  while (leases.size() < count) {
    const auto more =
        claim_at_once(std::min(kClaimsAtOnce, count - leases.size()), leases.size() + 1);
    leases.insert(leases.end(), more.begin(), more.end());
  }
  return leases;
}

std::vector<Lease> CoordWork::claim_at_once(std::size_t count, std::uint64_t first_worker) {
  std::vector<Claimed> claimed(count);
  std::latch completed(static_cast<std::ptrdiff_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    Claimed& one = claimed[i];
    backend_.claim_next_available(logical_now(), tenant_, kRun,
                                  WorkerId::from_raw(first_worker + i), *one.scratch,
                                  [&one, &completed](const auto& result) {
                                    CAD_CHECK(result.has_value(), "there are free shards");
                                    one.lease = result->lease;
                                    completed.count_down();
                                  });
  }
  completed.wait();
  std::vector<Lease> leases;
  leases.reserve(count);
  for (const Claimed& one : claimed)
    leases.push_back(*one.lease);
  return leases;
}

double CoordWork::run_checkpoints(const LoopPlan& plan) {
  const std::vector<Lease> leases = claim(plan.callers);
  const auto callers = make_callers(backend_, tenant_, plan.callers);
  for (std::size_t i = 0; i < plan.callers; ++i)
    callers[i]->hold(leases[i]);
  return run_loops(plan, [&](std::size_t caller, LoopDone done) {
    callers[caller]->checkpoint(std::move(done));
  });
}

double CoordWork::run_claims(const LoopPlan& plan) {
  const auto callers = make_callers(backend_, tenant_, plan.callers);
  return run_loops(plan, [&](std::size_t caller, LoopDone done) {
    callers[caller]->claim_and_release(std::move(done));
  });
}

void CoordWork::renew_many(const std::vector<Lease>& leases) {
  base::Signal completed;
  backend_.renew_many(logical_now(), tenant_, leases, [&completed](const auto& renewed) {
    CAD_CHECK(is_renewed(renewed), "each of them is held");
    completed.raise();
  });
  completed.wait();
}

}  // namespace cadastre::bench
