// C-11.4: one random history for the memory backend and the replicated one, which is ended and started again
// in between, with and without a snapshot: every answer is equal, and so is everything that they hold (F9).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/random.h"
#include "coord/backend.h"
#include "coord/conformance/suite_testing.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/memory/memory_backend.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/split_plan.h"
#include "tests/coord/replicated_node.h"

namespace cadastre::coord::replicated {
namespace {

using conformance::tenant_of;

class History {
 public:
  explicit History(std::uint64_t seed)
      : random_(seed), memory_({.claim_cooldown_interval = 3}), node_(disk_, kSettings) {
    EXPECT_TRUE(node_.start()) << node_.error();
  }

  void step() {
    time_ = random_.below(8) == 0 ? 1 + random_.below(time_ + 10) : time_ + random_.below(4);
    now_ = LogicalTime::from_raw(time_ + 2);
    tenant_ = tenant_of(static_cast<unsigned char>(1 + random_.below(2)));
    switch (random_.below(12)) {
      case 0: create(); break;
      case 1:
      case 2:
      case 3: claim(); break;
      case 4:
      case 5: checkpoint(); break;
      case 6: finish(); break;
      case 7: split(); break;
      case 8: administer(); break;
      case 9: renew(); break;
      case 10: look(); break;
      default: restart(); break;
    }
  }

  void compare() {
    EXPECT_TRUE(everything_of(memory_) == everything_of(node_.machine()));
    memory_.verify();
    node_.machine().verify();
  }

  void restart() {
    if (random_.below(3) == 0) node_.flush();
    if (random_.below(3) == 0) {
      node_.end();
      ASSERT_TRUE(node_.start()) << node_.error();
    }
    compare();
  }

 private:
  static constexpr Settings kSettings{.claim_cooldown_interval = 3};
  static constexpr std::uint64_t kRuns = 3;
  static constexpr std::size_t kRoots = 6;

  // Does it to both, and their answers are equal.
  template <class Act>
  void both(const Act& act) {
    const auto ours = act(memory_);
    const auto theirs = act(node_.facade());
    ASSERT_EQ(ours.has_value(), theirs.has_value());
    if (ours) {
      EXPECT_TRUE(*ours == *theirs);
    } else {
      EXPECT_TRUE(ours.error() == theirs.error());
    }
  }

  [[nodiscard]] RunId any_run() { return RunId::from_raw(1 + random_.below(kRuns)); }
  [[nodiscard]] const Lease& any_lease() { return leases_[random_.below(leases_.size())]; }
  // Sometimes one that was used: a retry or a conflict.
  [[nodiscard]] OpId any_op() {
    return OpId::from_raw(random_.below(4) == 0 ? 1 + random_.below(op_) : ++op_);
  }
  [[nodiscard]] base::Bytes any_key() {
    base::Bytes key{std::byte(1 + random_.below(8 * kRoots))};
    for (std::uint64_t i = random_.below(40); i > 0; --i)
      key.push_back(std::byte(random_.below(256)));
    return key;
  }

  void create() {
    const RunId run = any_run();
    const RunConfig config{.cursor_semantics = CursorSemantics::kDispatched,
                           .lease_duration = random_.below(30),
                           .max_shard_retries = 2};
    both([&](CoordinationFacade& home) { return home.create_run(now_, tenant_, run, config); });
    std::vector<base::Bytes> keys;
    for (std::size_t i = 0; i <= kRoots; ++i)
      keys.push_back({std::byte(i * 8 + 1)});
    std::vector<InitialShardInput> manifest;
    for (std::size_t i = 0; i < kRoots; ++i) {
      manifest.push_back({.shard = ShardId::from_raw(i + 1),
                          .spec = shard::ShardSpecRef::unchecked(keys[i], keys[i + 1])});
    }
    const OpId op = any_op();
    both([&](CoordinationFacade& home) {
      return home.register_shards(now_, tenant_, run, manifest, op);
    });
  }

  void claim() {
    const auto worker = WorkerId::from_raw(random_.below(5));
    const RunId run = any_run();
    const auto ours = memory_.claim_next_available(now_, tenant_, run, worker, *scratch_);
    const auto theirs =
        node_.facade().claim_next_available(now_, tenant_, run, worker, *other_scratch_);
    ASSERT_EQ(ours.has_value(), theirs.has_value());
    if (!ours) {
      EXPECT_EQ(ours.error(), theirs.error());
      return;
    }
    EXPECT_EQ(ours->lease, theirs->lease);
    EXPECT_EQ(ours->capacity, theirs->capacity);
    EXPECT_EQ(ours->snapshot.spec, theirs->snapshot.spec);
    EXPECT_EQ(ours->snapshot.cursor, theirs->snapshot.cursor);
    EXPECT_EQ(ours->snapshot.parent, theirs->snapshot.parent);
    EXPECT_TRUE(base::equal(ours->snapshot.spawned.packed(), theirs->snapshot.spawned.packed()));
    leases_.push_back(ours->lease);
  }

  void checkpoint() {
    if (leases_.empty()) return;
    const Lease& lease = any_lease();
    const base::Bytes key = any_key();
    const base::Bytes token(random_.below(100), std::byte{9});
    const OpId op = any_op();
    both([&](CoordinationFacade& home) {
      return home.checkpoint(now_, tenant_, lease, CursorUpdate::make(key, token), op);
    });
  }

  void finish() {
    if (leases_.empty()) return;
    const Lease& lease = any_lease();
    const base::Bytes key = any_key();
    const OpId op = any_op();
    switch (random_.below(3)) {
      case 0:
        return both([&](CoordinationFacade& home) {
          return home.complete(now_, tenant_, lease, CursorUpdate::make(key), op);
        });
      case 1:
        return both([&](CoordinationFacade& home) {
          return home.release_shard(now_, tenant_, lease, CursorUpdate::initial(), op);
        });
      default:
        return both([&](CoordinationFacade& home) {
          return home.park_shard(now_, tenant_, lease, ParkReason::kPoisoned, op);
        });
    }
  }

  void split() {
    if (leases_.empty()) return;
    const Lease& lease = any_lease();
    const auto record = memory_.get_shard(tenant_, lease.shard_key());
    if (!record) return;
    base::Bytes middle = record->start;
    middle.push_back(std::byte(1 + random_.below(254)));
    const auto left = shard::ShardSpecRef::unchecked(record->start, middle);
    const auto right = shard::ShardSpecRef::unchecked(middle, record->end);
    const OpId op = any_op();
    if (random_.below(2) == 0) {
      const auto plan = *SplitResidualPlan::try_make(left, right);
      return both([&](CoordinationFacade& home) {
        return home.split_residual(now_, tenant_, lease, plan, op);
      });
    }
    const std::vector<shard::SplitReplaceChild> children{{.spec = right}, {.spec = left}};
    const auto plan = SplitReplacePlan::try_make(children);
    both([&](CoordinationFacade& home) {
      return home.split_replace(now_, tenant_, lease, *plan, op);
    });
  }

  void administer() {
    const RunId run = any_run();
    const OpId op = any_op();
    switch (random_.below(8)) {
      case 0:
        return both(
            [&](CoordinationFacade& home) { return home.cancel_run(now_, tenant_, run, op); });
      case 1:
        return both(
            [&](CoordinationFacade& home) { return home.fail_run(now_, tenant_, run, op); });
      case 2:
        return both(
            [&](CoordinationFacade& home) { return home.complete_run(now_, tenant_, run, op); });
      case 3:
        return both([&](CoordinationFacade& home) { return home.gc_terminal_runs(tenant_, now_); });
      default: break;
    }
    if (leases_.empty()) return;
    const ShardKey key = any_lease().shard_key();
    both([&](CoordinationFacade& home) { return home.unpark_shard(now_, tenant_, key, op); });
  }

  void renew() {
    if (leases_.empty()) return;
    std::vector<Lease> some;
    for (std::uint64_t i = random_.below(5); i > 0; --i)
      some.push_back(any_lease());
    both([&](CoordinationFacade& home) { return home.renew_many(now_, tenant_, some); });
    const Lease& lease = any_lease();
    both([&](CoordinationFacade& home) { return home.renew(now_, tenant_, lease); });
  }

  void look() {
    const RunId run = any_run();
    both([&](CoordinationFacade& home) { return home.get_run_progress(now_, tenant_, run); });
    both([&](CoordinationFacade& home) { return home.list_runs(tenant_, RunId::from_raw(1), 2); });
    std::vector<ShardId> ours;
    std::vector<ShardId> theirs;
    EXPECT_EQ(memory_.collect_claim_candidates_into(now_, tenant_, run, ours),
              node_.facade().collect_claim_candidates_into(now_, tenant_, run, theirs));
    EXPECT_EQ(ours, theirs);
  }

  base::SeededRandom random_;
  memory::MemoryBackend memory_;
  MemoryNodeDisk disk_;
  ReplicatedNode node_;
  std::unique_ptr<AcquireScratch> scratch_ = std::make_unique<AcquireScratch>();
  std::unique_ptr<AcquireScratch> other_scratch_ = std::make_unique<AcquireScratch>();
  std::vector<Lease> leases_;
  TenantId tenant_ = tenant_of(1);
  LogicalTime now_;
  std::uint64_t time_ = 2;
  std::uint64_t op_ = 1;
};

TEST(ReplicatedHistory, AnswersAsTheMemoryBackendAlsoAfterStarts) {
  constexpr std::uint64_t kSeeds = base::kSlowChecks ? 5 : 40;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    History history(seed);
    for (int i = 0; i < 600 && !testing::Test::HasFailure(); ++i)
      history.step();
    history.compare();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace cadastre::coord::replicated
