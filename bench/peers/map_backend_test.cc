// The benchmark's peer passes the same suite, and a random history gets the same answers from both.

#include "bench/peers/map_backend.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/random.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/conformance/backend_factory_testing.h"
#include "coord/conformance/suite_testing.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/memory/memory_backend.h"
#include "coord/outcome.h"
#include "coord/shard_record.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/shard_spec.h"
#include "shard/split_plan.h"

namespace cadastre::coord::conformance {
namespace {

BackendFactory map_factory() {
  return {"map", [](const BackendOptions& options) {
            auto home = std::make_unique<bench::MapBackend>(
                bench::MapOptions{.limits = options.limits,
                                  .claim_cooldown_interval = options.claim_cooldown_interval,
                                  .children_max = options.children_max});
            const Introspection* const introspection = home.get();
            return BackendUnderTest{std::move(home), introspection, {}};
          }};
}

INSTANTIATE_TEST_SUITE_P(Map, Conformance, testing::Values(map_factory()), name_of);

// C-11.4: two backends, one history. Time goes either way, workers come and go, shards split.
class Differential {
 public:
  explicit Differential(std::uint64_t seed) : random_(seed) {
    for (CoordinationFacade* home : homes())
      EXPECT_TRUE(
          home->create_run(LogicalTime::from_raw(1), tenant_, kRun, {.lease_duration = 20}));
    std::vector<base::Bytes> keys;
    keys.reserve(kRoots + 1);
    for (int i = 0; i <= kRoots; ++i)
      keys.push_back({std::byte(i * 8 + 1)});
    std::vector<InitialShardInput> manifest;
    manifest.reserve(kRoots);
    for (std::size_t i = 0; i < kRoots; ++i) {
      manifest.push_back({.shard = ShardId::from_raw(i + 1),
                          .spec = ShardSpecRef::unchecked(keys[i], keys[i + 1])});
    }
    for (CoordinationFacade* home : homes()) {
      EXPECT_TRUE(home->register_shards(LogicalTime::from_raw(2), tenant_, kRun, manifest,
                                        OpId::from_raw(1)));
    }
  }

  void step() {
    time_ = random_.below(8) == 0 ? 1 + random_.below(time_ + 10) : time_ + random_.below(4);
    const LogicalTime now = LogicalTime::from_raw(time_ + 2);
    switch (random_.below(8)) {
      case 0:
      case 1:
      case 2: claim(now); break;
      case 3: checkpoint(now); break;
      case 4: finish(now); break;
      case 5: split(now); break;
      case 6: unpark(now); break;
      default: look(now); break;
    }
  }

  void compare() const {
    EXPECT_EQ(memory_.dump_shards(), map_.dump_shards());
    EXPECT_TRUE(memory_.dump_runs() == map_.dump_runs());
    memory_.verify();
  }

 private:
  static constexpr int kRoots = 20;

  std::vector<CoordinationFacade*> homes() { return {&memory_, &map_}; }

  void claim(LogicalTime now) {
    const auto worker = WorkerId::from_raw(random_.next_u64());
    const auto ours = memory_.claim_next_available(now, tenant_, kRun, worker, *scratch_);
    const auto theirs = map_.claim_next_available(now, tenant_, kRun, worker, *other_scratch_);
    ASSERT_EQ(ours.has_value(), theirs.has_value());
    if (!ours) {
      EXPECT_EQ(ours.error(), theirs.error());
      return;
    }
    EXPECT_EQ(ours->lease, theirs->lease);
    EXPECT_EQ(ours->capacity, theirs->capacity);
    EXPECT_EQ(ours->snapshot.spec, theirs->snapshot.spec);
    EXPECT_EQ(ours->snapshot.cursor, theirs->snapshot.cursor);
    leases_.push_back(ours->lease);
    starts_.push_back(base::to_owned(ours->snapshot.spec.start()));
  }

  // Does it to both, and their answers are equal.
  template <class Act>
  void both(const Act& act) {
    const auto ours = act(memory_);
    const auto theirs = act(map_);
    ASSERT_EQ(ours.has_value(), theirs.has_value());
    if (ours) {
      EXPECT_TRUE(*ours == *theirs);
    } else {
      EXPECT_TRUE(ours.error() == theirs.error());
    }
  }

  [[nodiscard]] std::size_t any_lease() { return random_.below(leases_.size()); }
  // Sometimes one that was used: a retry or a conflict.
  [[nodiscard]] OpId any_op() {
    return OpId::from_raw(random_.below(4) == 0 ? 1 + random_.below(op_) : ++op_);
  }

  void checkpoint(LogicalTime now) {
    if (leases_.empty()) return;
    const std::size_t which = any_lease();
    base::Bytes key = starts_[which];
    key.push_back(std::byte(random_.below(250)));
    const OpId op = any_op();
    both([&](CoordinationFacade& home) {
      return home.checkpoint(now, tenant_, leases_[which], CursorUpdate::make(key), op);
    });
    both([&](CoordinationFacade& home) { return home.renew(now, tenant_, leases_[which]); });
  }

  void finish(LogicalTime now) {
    if (leases_.empty()) return;
    const std::size_t which = any_lease();
    base::Bytes key = starts_[which];
    key.push_back(std::byte{255});
    const OpId op = any_op();
    const std::uint64_t how = random_.below(6);
    if (how == 0) {
      both([&](CoordinationFacade& home) {
        return home.complete(now, tenant_, leases_[which], CursorUpdate::make(key), op);
      });
    } else if (how < 4) {
      both([&](CoordinationFacade& home) {
        return home.release_shard(now, tenant_, leases_[which], CursorUpdate::initial(), op);
      });
    } else {
      both([&](CoordinationFacade& home) {
        return home.park_shard(now, tenant_, leases_[which], ParkReason::kOther, op);
      });
    }
  }

  void split(LogicalTime now) {
    if (leases_.empty()) return;
    const std::size_t which = any_lease();
    const auto record = memory_.get_shard(tenant_, leases_[which].shard_key());
    if (!record) return;
    base::Bytes middle = record->start;
    middle.push_back(std::byte(1 + random_.below(254)));
    const auto left = ShardSpecRef::unchecked(record->start, middle);
    const auto right = ShardSpecRef::unchecked(middle, record->end);
    const OpId op = any_op();
    if (random_.below(3) != 0) {
      const auto plan = *SplitResidualPlan::try_make(left, right);
      both([&](CoordinationFacade& home) {
        return home.split_residual(now, tenant_, leases_[which], plan, op);
      });
      return;
    }
    const std::vector<shard::SplitReplaceChild> children{{.spec = right}, {.spec = left}};
    const auto plan = SplitReplacePlan::try_make(children);
    both([&](CoordinationFacade& home) {
      return home.split_replace(now, tenant_, leases_[which], *plan, op);
    });
  }

  void unpark(LogicalTime now) {
    if (leases_.empty()) return;
    const ShardKey key = leases_[any_lease()].shard_key();
    const OpId op = any_op();
    both([&](CoordinationFacade& home) { return home.unpark_shard(now, tenant_, key, op); });
  }

  void look(LogicalTime now) {
    both([&](CoordinationFacade& home) { return home.get_run_progress(now, tenant_, kRun); });
    std::vector<ShardId> ours;
    std::vector<ShardId> theirs;
    EXPECT_EQ(*memory_.collect_claim_candidates_into(now, tenant_, kRun, ours),
              *map_.collect_claim_candidates_into(now, tenant_, kRun, theirs));
    EXPECT_EQ(ours, theirs);
  }

  base::SeededRandom random_;
  const TenantId tenant_ = tenant_of(1);
  memory::MemoryBackend memory_{memory::MemoryOptions{.slab_capacity = 1U << 22}};
  bench::MapBackend map_{bench::MapOptions{}};
  std::unique_ptr<AcquireScratch> scratch_ = std::make_unique<AcquireScratch>();
  std::unique_ptr<AcquireScratch> other_scratch_ = std::make_unique<AcquireScratch>();
  std::vector<Lease> leases_;
  std::vector<base::Bytes> starts_;
  std::uint64_t time_ = 2;
  std::uint64_t op_ = 1;
};

TEST(DifferentialHistory, TwoHomesAnswerAlike) {
  constexpr std::uint64_t kSeeds = base::kSlowChecks ? 5 : 40;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Differential history(seed);
    for (int i = 0; i < 400; ++i)
      history.step();
    history.compare();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace cadastre::coord::conformance
