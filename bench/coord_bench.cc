// `./dev bench coord`: the memory backend against its targets and against MapBackend, the same
// protocol written the first way that comes to mind.

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "bench/harness.h"
#include "bench/peers/map_backend.h"
#include "bench/report.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/memory/memory_backend.h"
#include "coord/shard_limits.h"
#include "coord/shard_summary.h"
#include "coord/snapshot.h"
#include "shard/cursor.h"
#include "shard/manifest.h"
#include "shard/shard_id.h"
#include "shard/shard_spec.h"
#include "shard/split_plan.h"

namespace cadastre::bench {
namespace {

using coord::LogicalTime;
using coord::OpId;
using coord::RunId;
using coord::ShardId;
using coord::WorkerId;
using shard::CursorUpdate;
using shard::ShardSpecRef;

constexpr double kMillion = 1e6;
constexpr double kSecondNs = 1e9;
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kRoots = 10'000;
constexpr std::size_t kChildren = 10;  // of each root: 100,000 shards
constexpr RunId kRun = RunId::from_raw(1);
constexpr std::uint64_t kLease = 1'000'000'000;

const coord::ShardLimits kLimits{.per_tenant_max = 4'000'000, .total_max = 4'000'000};

// Ascending keys of 32 bytes with a head that all share.
base::Bytes key_at(std::uint64_t number) {
  std::string text = std::to_string(10'000'000'000 + number);
  text.insert(0, kKeyBytes - text.size(), 'k');
  return base::to_owned(base::as_bytes(text));
}

std::unique_ptr<coord::memory::MemoryBackend> make_ours() {
  return std::make_unique<coord::memory::MemoryBackend>(coord::memory::MemoryOptions{
      .limits = kLimits, .slab_capacity = std::uint64_t{1} << 30, .hash_seed = 42});
}

std::unique_ptr<MapBackend> make_theirs() {
  return std::make_unique<MapBackend>(MapOptions{.limits = kLimits});
}

// A backend with a run of `roots` shards, each cut into `children` if that is more than one.
class World {
 public:
  World(coord::CoordinationFacade& backend, std::size_t roots, std::size_t children)
      : backend_(backend), scratch_(std::make_unique<coord::AcquireScratch>()) {
    keys_.reserve(roots * children + 1);
    for (std::size_t i = 0; i <= roots * children; ++i)
      keys_.push_back(key_at(i * 1000));
    CAD_CHECK(backend.create_run(now(), tenant_, kRun, {.lease_duration = kLease}).has_value(),
              "a fresh backend takes a run");
    std::vector<shard::InitialShardInput> manifest;
    manifest.reserve(roots);
    for (std::size_t i = 0; i < roots; ++i) {
      manifest.push_back(
          {.shard = ShardId::from_raw(i + 1),
           .spec = ShardSpecRef::unchecked(keys_[i * children], keys_[(i + 1) * children])});
    }
    CAD_CHECK(backend.register_shards(now(), tenant_, kRun, manifest, op()).has_value(),
              "a fresh run takes a manifest");
    for (std::size_t i = 0; i < roots && children > 1; ++i)
      split(i, children);
  }

  [[nodiscard]] coord::CoordinationFacade& backend() { return backend_; }
  [[nodiscard]] const coord::TenantId& tenant() const { return tenant_; }
  [[nodiscard]] coord::AcquireScratch& scratch() { return *scratch_; }
  [[nodiscard]] LogicalTime now() { return LogicalTime::from_raw(++time_); }
  [[nodiscard]] OpId op() { return OpId::from_raw(++op_); }

  [[nodiscard]] coord::AcquireResultView acquire(std::uint64_t shard) {
    auto acquired = backend_.acquire_and_restore_into(
        now(), tenant_, {kRun, ShardId::from_raw(shard)}, WorkerId::from_raw(7), *scratch_);
    CAD_CHECK(acquired.has_value(), "a free shard is acquired");
    return *acquired;
  }

 private:
  void split(std::size_t root, std::size_t children) {
    const coord::Lease lease = acquire(root + 1).lease;
    std::vector<shard::SplitReplaceChild> parts;
    for (std::size_t c = 0; c < children; ++c) {
      const std::size_t first = root * children + c;
      parts.push_back({.spec = ShardSpecRef::unchecked(keys_[first], keys_[first + 1])});
    }
    const auto plan = shard::SplitReplacePlan::try_make(parts);
    CAD_CHECK(backend_.split_replace(now(), tenant_, lease, *plan, op()).has_value(),
              "a held shard is split");
  }

  coord::CoordinationFacade& backend_;
  coord::TenantId tenant_ = coord::TenantId::from_bytes({std::byte{1}});
  std::unique_ptr<coord::AcquireScratch> scratch_;
  std::vector<base::Bytes> keys_;
  std::uint64_t time_ = 0;
  std::uint64_t op_ = 0;
};

// One million operations a second and nanoseconds each are the same thing told twice.
void add_rate(Report& report, const std::string& what, const Timing& timing, double target) {
  report.add({.what = what,
              .unit = "M/s",
              .better = Better::kHigher,
              .ours = kSecondNs / timing.median_ns / kMillion,
              .target = target,
              .spread = timing.spread});
}

// Checkpoints on one of `leases` held shards in turn, each with the next key.
class Checkpoints {
 public:
  Checkpoints(World& world, std::size_t leases) : world_(world) {
    for (std::size_t i = 0; i < leases; ++i) {
      leases_.push_back(world.acquire(i + 1).lease);
      cursors_.push_back(key_at(i * 1000));
    }
  }

  void run(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      const std::size_t which = next_++ % leases_.size();
      advance(cursors_[which]);
      const auto done =
          world_.backend().checkpoint(world_.now(), world_.tenant(), leases_[which],
                                      CursorUpdate::make(cursors_[which]), world_.op());
      CAD_CHECK(done.has_value(), "a checkpoint of the holder is taken");
    }
  }

 private:
  // The key grows in bytes behind the digits that bound the shard, so that it stays inside.
  static void advance(base::Bytes& cursor) {
    cursor.resize(kKeyBytes + 8);
    for (std::size_t at = cursor.size(); at > kKeyBytes; --at) {
      cursor[at - 1] = std::byte(std::to_integer<unsigned>(cursor[at - 1]) + 1U);
      if (cursor[at - 1] != std::byte{0}) return;
    }
  }

  World& world_;
  std::vector<coord::Lease> leases_;
  std::vector<base::Bytes> cursors_;
  std::size_t next_ = 0;
};

void bench_checkpoint(Report& report) {
  constexpr std::size_t kShards = 1024;
  const auto ours = make_ours();
  const auto theirs = make_theirs();
  World our_world(*ours, kShards, 1);
  World their_world(*theirs, kShards, 1);
  Checkpoints our_run(our_world, kShards);
  Checkpoints their_run(their_world, kShards);
  const auto our_body = [&](std::uint64_t n) {
    our_run.run(n);
  };
  const auto their_body = [&](std::uint64_t n) {
    their_run.run(n);
  };
  const Duel duel = measure_against(our_body, their_body);
  add_rate(report, "checkpoint, 1,024 shards in turn", duel.ours, 3);
  report.add_duel("checkpoint, 1,024 shards in turn", duel, "std::map", {});
}

// Acquires and completes every shard, with these last keys.
void complete_all(World& world, std::span<const base::Bytes> last_keys) {
  for (std::size_t i = 0; i < last_keys.size(); ++i) {
    const coord::Lease lease = world.acquire(i + 1).lease;
    const auto done = world.backend().complete(world.now(), world.tenant(), lease,
                                               CursorUpdate::make(last_keys[i]), world.op());
    CAD_CHECK(done.has_value(), "the holder completes");
  }
}

// The same for a fresh run; making the run is not timed.
template <class Make>
Timing measure_cycles(const Make& make, std::size_t shards) {
  std::vector<base::Bytes> ends;
  ends.reserve(shards);
  for (std::size_t i = 0; i < shards; ++i)
    ends.push_back(key_at(i * 1000 + 999));
  return measure_samples([&] {
    const auto backend = make();
    World world(*backend, shards, 1);
    const double elapsed = time_once([&] { complete_all(world, ends); });
    return elapsed / static_cast<double>(shards);
  });
}

void bench_cycles(Report& report) {
  const Timing ours = measure_cycles(make_ours, kRoots);
  add_rate(report, "acquire and complete, 10,000 shards", ours, 1);
  const Timing few = measure_cycles(make_ours, 500);
  const Timing theirs = measure_cycles(make_theirs, 500);
  report.add_duel("acquire and complete, 500 shards", {few, theirs}, "std::map", {});
}

// Claims a shard and gives it back, so that the number of free ones stays.
class Claims {
 public:
  explicit Claims(World& world) : world_(world) {}

  void run(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      next_ = next_ * 6364136223846793005 + 1442695040888963407;
      const auto claimed = world_.backend().claim_next_available(
          world_.now(), world_.tenant(), kRun, WorkerId::from_raw(next_), world_.scratch());
      CAD_CHECK(claimed.has_value(), "there are free shards");
      held_.push_back(claimed->lease);
    }
  }

  // Between measurements.
  void give_back() {
    for (const coord::Lease& lease : held_) {
      CAD_CHECK(world_.backend()
                    .release_shard(world_.now(), world_.tenant(), lease, CursorUpdate::initial(),
                                   world_.op())
                    .has_value(),
                "the holder gives back");
    }
    held_.clear();
  }

 private:
  World& world_;
  std::vector<coord::Lease> held_;
  std::uint64_t next_ = 1;
};

Timing measure_claims(World& world, std::size_t claims) {
  Claims run(world);
  return measure_samples([&] {
    const double elapsed = time_once([&] { run.run(claims); });
    run.give_back();
    return elapsed / static_cast<double>(claims);
  });
}

// Completes shards until `left` are free.
void finish_all_but(World& world, std::size_t left) {
  for (;;) {
    const auto claimed = world.backend().claim_next_available(
        world.now(), world.tenant(), kRun, WorkerId::from_raw(0), world.scratch());
    CAD_CHECK(claimed.has_value(), "there are free shards");
    const auto start = base::to_owned(claimed->snapshot.spec.start());
    CAD_CHECK(world.backend()
                  .complete(world.now(), world.tenant(), claimed->lease, CursorUpdate::make(start),
                            world.op())
                  .has_value(),
              "the holder completes");
    if (claimed->capacity.available_count <= left) return;
  }
}

// The Active shard with the largest start.
coord::ShardSummary last_active(World& world) {
  std::vector<coord::ShardSummary> page;
  coord::ShardSummary last;
  coord::ShardPage from{};
  do {
    CAD_CHECK(world.backend()
                  .list_shards_into(world.now(), world.tenant(), kRun, coord::ShardFilter::active(),
                                    from, page)
                  .has_value(),
              "a run lists its shards");
    if (page.empty()) break;
    last = page.back();
    from.after = last.shard;
  } while (page.size() == from.limit);
  return last;
}

void bench_large_run(Report& report) {
  constexpr double kMicrosecond = 1e3;
  const auto ours = make_ours();
  World our_world(*ours, kRoots, kChildren);
  report.add_scaled("claim, 100,000 free shards", "us", kMicrosecond,
                    measure_claims(our_world, 2000), 2);
  // The least favourable place of the first cursor is the last shard.
  const auto progress = [&](std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i)
      keep(ours->get_run_progress(our_world.now(), our_world.tenant(), kRun)->total);
  };
  const coord::ShardSummary last = last_active(our_world);
  const coord::Lease lease = our_world.acquire(last.shard.raw()).lease;
  CAD_CHECK(ours->checkpoint(our_world.now(), our_world.tenant(), lease,
                             CursorUpdate::make(last.start.view()), our_world.op())
                .has_value(),
            "the holder checkpoints");
  const Timing progress_time = measure(progress);
  report.add_scaled("get_run_progress with watermark, 100,000 shards", "us", kMicrosecond,
                    progress_time, 5);

  const auto theirs = make_theirs();
  World their_world(*theirs, 1000, 1);
  const auto small = make_ours();
  World small_world(*small, 1000, 1);
  const Timing our_claims = measure_claims(small_world, 100);
  report.add_duel("claim, 1,000 free shards", {our_claims, measure_claims(their_world, 100)},
                  "std::map", {});

  finish_all_but(our_world, 20'000);
  report.add_scaled("claim, 20,000 free and 80,000 finished shards", "us", kMicrosecond,
                    measure_claims(our_world, 2000), 2);
}

double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  double total = 0;
  double resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void bench_memory(Report& report) {
  const double before = resident_bytes();
  const auto ours = make_ours();
  const auto shards = static_cast<double>(kRoots) * kChildren;
  { const World world(*ours, kRoots, kChildren); }
  const double records = shards + static_cast<double>(kRoots);  // The split parents stay.
  report.add({.what = "memory per shard, 110,000 records, 32-byte keys",
              .unit = "B",
              .better = Better::kLower,
              .ours = (resident_bytes() - before) / records,
              .target = 1000});
}

void fill(Report& report) {
  bench_memory(report);  // First: later worlds leave freed memory behind.
  bench_checkpoint(report);
  bench_cycles(report);
  bench_large_run(report);
}

}  // namespace
}  // namespace cadastre::bench

int main(int argc, char** argv) {
  return cadastre::bench::run_benchmark("coord", argc, argv, cadastre::bench::fill);
}
