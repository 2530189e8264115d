// The indexes of a run against a scan of its records: whatever a claim chooses, whatever is told of
// capacity, progress and the watermark, is what looking at every record gives, while `now` goes both
// ways.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/bytes.h"
#include "base/endian.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/memory/memory_backend.h"
#include "coord/progress.h"
#include "coord/shard_record.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/property_testing.h"
#include "shard/split_plan.h"

namespace cadastre::coord::memory {
namespace {

using shard::dice;
using shard::SplitReplaceChild;

constexpr std::uint64_t kLeaseDuration = 20;
constexpr std::uint64_t kTimeMax = 120;
constexpr RunId kRun = RunId::from_raw(1);

bool is_leased(const ShardDump& shard, LogicalTime now) {
  return shard.state.lease && now < shard.state.lease->deadline;
}

// What 3.6, 6.4 and 7.2 ask for, by looking at everything.
struct Scan {
  std::vector<ShardId> free;  // by id, as the dump is
  std::optional<LogicalTime> earliest;
  RunProgress progress;

  Scan(const std::vector<ShardDump>& shards, LogicalTime now) {
    for (const ShardDump& shard : shards) {
      const auto key =
          shard.last_key.empty() ? std::nullopt : std::optional<base::ByteView>(shard.last_key);
      progress.observe(shard.state.status, is_leased(shard, now), key);
      if (shard.state.status != ShardStatus::kActive) continue;
      if (!is_leased(shard, now)) {
        free.push_back(shard.state.shard);
      } else if (!earliest || shard.state.lease->deadline < *earliest) {
        earliest = shard.state.lease->deadline;
      }
    }
  }

  [[nodiscard]] CapacityHint capacity() const {
    return {static_cast<std::uint32_t>(free.size()), earliest};
  }
};

// Random requests, good and bad, by a few workers on one run.
class Driver {
 public:
  explicit Driver(std::size_t roots)
      : backend_({.limits = {.per_tenant_max = 2000, .total_max = 2000}}),
        scratch_(std::make_unique<AcquireScratch>()) {
    RC_ASSERT(
        backend_.create_run(now_, tenant_, kRun, {.lease_duration = kLeaseDuration}).has_value());
    std::vector<base::Bytes> bounds(roots + 1, base::Bytes(2));
    for (std::size_t i = 0; i <= roots; ++i)
      base::store_be(bounds[i].data(), static_cast<std::uint16_t>(16 + i));
    std::vector<InitialShardInput> rows;
    rows.reserve(roots);
    for (std::size_t i = 0; i < roots; ++i) {
      rows.push_back({ShardId::from_raw((i * 7919) % 10'007),  // ids out of the order of keys
                      ShardSpecRef::must_make(bounds[i], bounds[i + 1])});
    }
    RC_ASSERT(backend_.register_shards(now_, tenant_, kRun, rows, next_op()).has_value());
  }

  void step() {
    move_time();
    act();
    expect_scanned(now_);
    expect_scanned(any_time());
    backend_.verify();
  }

 private:
  [[nodiscard]] OpId next_op() { return OpId::from_raw(++ops_); }
  [[nodiscard]] static LogicalTime any_time() { return LogicalTime::from_raw(1 + dice(kTimeMax)); }
  [[nodiscard]] static WorkerId any_worker() { return WorkerId::from_raw(dice(1000)); }

  // Mostly a little forward, sometimes anywhere.
  void move_time() {
    now_ =
        dice(4) == 0 ? any_time() : LogicalTime::from_raw(std::min(kTimeMax, now_.raw() + dice(8)));
  }

  void act() {
    switch (dice(12)) {
      case 0:
      case 1: acquire(); break;
      case 2:
      case 3:
      case 4: claim(); break;
      case 5: unpark(); break;
      default:
        if (!leases_.empty()) act_under(leases_[dice(leases_.size())]);
    }
  }

  void act_under(const Lease& lease) {
    const std::vector<ShardDump> shards = backend_.dump_shards();
    const auto at = std::ranges::find(shards, lease.shard(),
                                      [](const ShardDump& shard) { return shard.state.shard; });
    const base::Bytes key = inside(*at);
    const CursorUpdate cursor = CursorUpdate::make(key);
    switch (dice(7)) {
      case 0: renew(lease); break;
      case 1: std::ignore = backend_.complete(now_, tenant_, lease, cursor, next_op()); break;
      case 2:
        std::ignore = backend_.park_shard(now_, tenant_, lease, ParkReason::kOther, next_op());
        break;
      case 3: std::ignore = backend_.release_shard(now_, tenant_, lease, cursor, next_op()); break;
      case 4: split_replace(lease, *at, key); break;
      case 5: split_residual(lease, *at, key); break;
      default: std::ignore = backend_.checkpoint(now_, tenant_, lease, cursor, next_op()); break;
    }
  }

  // A key at or behind where the shard stands; mostly inside it.
  [[nodiscard]] static base::Bytes inside(const ShardDump& shard) {
    base::Bytes key = shard.last_key.empty() ? shard.start : shard.last_key;
    if (dice(4) != 0) key.push_back(static_cast<std::byte>(dice(256)));
    return key;
  }

  void acquire() {
    const std::vector<ShardDump> shards = backend_.dump_shards();
    const ShardKey key{kRun, shards[dice(shards.size())].state.shard};
    const auto acquired =
        backend_.acquire_and_restore_into(now_, tenant_, key, any_worker(), *scratch_);
    if (!acquired) return;
    leases_.push_back(acquired->lease);
    RC_ASSERT((acquired->capacity == Scan(backend_.dump_shards(), now_).capacity()));
  }

  void claim() {
    const WorkerId worker = any_worker();
    const Scan before(backend_.dump_shards(), now_);
    const auto claimed = backend_.claim_next_available(now_, tenant_, kRun, worker, *scratch_);
    RC_ASSERT(claimed.has_value() == !before.free.empty());
    if (!claimed) {
      RC_ASSERT((claimed.error() == NoneAvailable{before.earliest}));
      return;
    }
    leases_.push_back(claimed->lease);
    RC_ASSERT((claimed->lease.shard() == before.free[worker.raw() % before.free.size()]));
    RC_ASSERT((claimed->capacity == Scan(backend_.dump_shards(), now_).capacity()));
  }

  void renew(const Lease& lease) {
    const auto renewed = backend_.renew(now_, tenant_, lease);
    if (!renewed) return;
    RC_ASSERT((renewed->capacity == Scan(backend_.dump_shards(), now_).capacity()));
  }

  void unpark() {
    const std::vector<ShardDump> shards = backend_.dump_shards();
    for (const ShardDump& shard : shards) {
      if (shard.state.status != ShardStatus::kParked) continue;
      RC_ASSERT(backend_.unpark_shard(now_, tenant_, shard.state.key(), next_op()).has_value());
      return;
    }
  }

  void split_replace(const Lease& lease, const ShardDump& shard, const base::Bytes& point) {
    const CursorUpdate cursor =
        dice(2) == 0 ? CursorUpdate::initial() : CursorUpdate::make(shard.start);
    const std::vector<SplitReplaceChild> children{
        {ShardSpecRef::unchecked(shard.start, point), cursor},
        {ShardSpecRef::unchecked(point, shard.end)}};
    const auto plan = SplitReplacePlan::try_make(children);
    std::ignore = backend_.split_replace(now_, tenant_, lease, *plan, next_op());
  }

  void split_residual(const Lease& lease, const ShardDump& shard, base::Bytes point) {
    point.push_back(std::byte{0});  // Behind the cursor.
    const auto plan = SplitResidualPlan::try_make(ShardSpecRef::unchecked(shard.start, point),
                                                  ShardSpecRef::unchecked(point, shard.end));
    if (plan) std::ignore = backend_.split_residual(now_, tenant_, lease, *plan, next_op());
  }

  void expect_scanned(LogicalTime now) {
    const Scan scan(backend_.dump_shards(), now);
    std::vector<ShardId> candidates;
    const auto earliest = backend_.collect_claim_candidates_into(now, tenant_, kRun, candidates);
    RC_ASSERT((earliest.value() == scan.earliest));
    RC_ASSERT((candidates == scan.free));
    RC_ASSERT((backend_.get_run_progress(now, tenant_, kRun) == scan.progress));
  }

  MemoryBackend backend_;
  std::unique_ptr<AcquireScratch> scratch_;
  TenantId tenant_;
  LogicalTime now_ = LogicalTime::from_raw(1);
  std::uint64_t ops_ = 0;
  std::vector<Lease> leases_;  // every one that was ever granted
};

TEST(RunIndexProperty, ClaimsAreThoseOfAScan) {
  shard::check_many("claims", [] {
    Driver driver(1 + shard::any_size(6));
    const std::size_t steps = 3 * shard::any_size(shard::kScaleMax);
    for (std::size_t i = 0; i < steps; ++i)
      driver.step();
  });
}

// As above, with more shards than one block of an index holds.
TEST(RunIndexProperty, ClaimsAreThoseOfAScanInLargeRuns) {
  shard::PropertyCase::current() = {};
  try {
    Driver driver(600);
    for (int i = 0; i < 600; ++i)
      driver.step();
  } catch (const rc::detail::CaseResult& failed) {
    FAIL() << failed.description;
  }
}

}  // namespace
}  // namespace cadastre::coord::memory
