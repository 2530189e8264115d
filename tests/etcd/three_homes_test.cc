// C-11.4: one random history for all three homes, memory, the embedded directory and a real etcd: every answer is
// equal, and so is everything that memory and etcd hold. Without cooldowns: where time goes back, which of the past
// ones a backend still knows is its own affair.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/logger.h"
#include "base/random.h"
#include "coord/backend.h"
#include "coord/conformance/suite_testing.h"
#include "coord/etcd/core.h"
#include "coord/etcd/keyspace.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/memory/memory_backend.h"
#include "coord/shard_summary.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "node/embedded_coordination.h"
#include "shard/shard_spec.h"
#include "shard/split_plan.h"
#include "tests/etcd/etcd_home.h"
#include "tests/etcd/etcd_member.h"

namespace cadastre::coord::etcd {
namespace {

using conformance::tenant_of;
using shard::ShardSpecRef;

constexpr std::size_t kChildrenMax = 8;  // as etcd has it by default
constexpr std::uint64_t kRuns = 3;
constexpr std::size_t kRoots = 6;

class Silence final : public base::LogSink {
 public:
  void write(base::LogLevel, std::string_view) override {}
};

// The embedded backend in a directory that goes with it.
class EmbeddedHome {
 public:
  EmbeddedHome() {
    auto opened = node::EmbeddedCoordination::open(
        {.directory = directory_, .settings = {.children_max = kChildrenMax}}, clock_, logger_);
    CAD_CHECK(opened.has_value(), "an empty directory can be opened");
    coordination_ = *std::move(opened);
    facade_ = coordination_->blocking();
  }
  EmbeddedHome(const EmbeddedHome&) = delete;
  EmbeddedHome& operator=(const EmbeddedHome&) = delete;
  ~EmbeddedHome() {
    facade_.reset();
    coordination_.reset();
    std::filesystem::remove_all(directory_);
  }
  [[nodiscard]] CoordinationFacade& facade() { return *facade_; }

 private:
  const std::filesystem::path directory_ = make_scratch_directory();
  base::SystemClock clock_;
  Silence sink_;
  base::Logger logger_{sink_, clock_, base::LogForm::kText};
  std::unique_ptr<node::EmbeddedCoordination> coordination_;
  std::unique_ptr<CoordinationFacade> facade_;
};

// A copy of what a worker gets.
struct Claimed {
  Lease lease;
  CapacityHint capacity;
  base::Bytes start;
  base::Bytes end;
  base::Bytes last_key;
  base::Bytes token;

  friend bool operator==(const Claimed&, const Claimed&) = default;
};

// A line of a list, to be compared field by field.
auto fields_of(const ShardSummary& shard) {
  return std::tuple(shard.shard, shard.status, shard.park_reason, shard.is_leased,
                    shard.lease_deadline, shard.owner, shard.fence, shard.acquire_count,
                    shard.last_key, shard.start, shard.end, shard.parent, shard.spawned_count);
}
using ListLine = decltype(fields_of(std::declval<const ShardSummary&>()));

template <class E>
std::expected<Claimed, E> copied(const std::expected<AcquireResultView, E>& answer) {
  if (!answer) return std::unexpected(answer.error());
  const ShardSnapshotView& shard = answer->snapshot;
  return Claimed{.lease = answer->lease,
                 .capacity = answer->capacity,
                 .start = base::to_owned(shard.spec.start()),
                 .end = base::to_owned(shard.spec.end()),
                 .last_key = base::to_owned(shard.cursor.last_key().value_or(base::ByteView{})),
                 .token = base::to_owned(shard.cursor.token().value_or(base::ByteView{}))};
}

class History {
 public:
  History(std::uint64_t seed, EtcdCluster& cluster)
      : random_(seed), memory_({.children_max = kChildrenMax}), etcd_(options_for(cluster)) {}

  // Time goes either way, workers come and go, two tenants use the same numbers.
  void step() {
    time_ = random_.below(8) == 0 ? 1 + random_.below(time_ + 10) : time_ + random_.below(4);
    now_ = LogicalTime::from_raw(time_ + 2);
    tenant_ = tenant_of(static_cast<unsigned char>(1 + random_.below(2)));
    switch (random_.below(14)) {
      case 0: create(); break;
      case 1:
      case 2:
      case 3: claim(); break;
      case 4:
      case 5:
      case 6: checkpoint(); break;
      case 7: finish(); break;
      case 8:
      case 9: split(); break;
      case 10: administer(); break;
      case 11: renew(); break;
      default: look(); break;
    }
  }

  void compare() const {
    EXPECT_EQ(memory_.dump_shards(), etcd_.introspection.dump_shards());
    EXPECT_TRUE(memory_.dump_runs() == etcd_.introspection.dump_runs());
    etcd_.introspection.verify();
  }

  [[nodiscard]] int accepted() const { return accepted_; }

 private:
  [[nodiscard]] static HomeOptions options_for(EtcdCluster& cluster) {
    HomeOptions options{.backend = {.keyspace = Keyspace::make(fresh_prefix()).value(),
                                    .children_max = kChildrenMax,
                                    .hints = Hints::kExact}};
    options.config.endpoints = cluster.endpoints();
    return options;
  }

  // Does it to all, and their answers are equal. The memory backend's.
  template <class Act>
  auto all(const char* what, const Act& act) {
    auto ours = act(memory_);
    for (CoordinationFacade* home :
         {&embedded_.facade(), static_cast<CoordinationFacade*>(&etcd_)}) {
      const auto theirs = act(*home);
      const char* const where = home == &etcd_ ? " on etcd" : " in a directory";
      if (ours.has_value() && theirs.has_value()) {
        EXPECT_TRUE(*ours == *theirs) << what << where;
      } else if (!ours.has_value() && !theirs.has_value()) {
        EXPECT_TRUE(ours.error() == theirs.error())
            << what << where << ": " << to_text(ours.error()) << " / " << to_text(theirs.error());
      } else {
        ADD_FAILURE() << what << where << ": " << (ours ? "accepted" : to_text(ours.error()))
                      << " / " << (theirs ? "accepted" : to_text(theirs.error()));
      }
    }
    accepted_ += ours.has_value() ? 1 : 0;
    return ours;
  }

  [[nodiscard]] RunId any_run() { return RunId::from_raw(1 + random_.below(kRuns)); }
  // Of the newest ones: the others have long been superseded.
  [[nodiscard]] const Claimed& any_held() {
    const std::size_t newest = std::min<std::size_t>(held_.size(), 12);
    return held_[held_.size() - 1 - random_.below(newest)];
  }
  // Sometimes one that was used: a retry or a conflict.
  [[nodiscard]] OpId any_op() {
    return OpId::from_raw(random_.below(4) == 0 ? 1 + random_.below(op_) : ++op_);
  }

  void create() {
    const RunId run = any_run();
    const RunConfig config{.cursor_semantics = CursorSemantics::kDispatched,
                           .lease_duration = 1 + random_.below(40),
                           .max_shard_retries = 2};
    (void)all("create", [&](CoordinationFacade& home) {
      return home.create_run(now_, tenant_, run, config);
    });
    std::vector<base::Bytes> keys;
    for (std::size_t i = 0; i <= kRoots; ++i)
      keys.push_back({std::byte(i * 8 + 1)});
    std::vector<InitialShardInput> manifest;
    for (std::size_t i = 0; i < kRoots; ++i) {
      manifest.push_back({.shard = ShardId::from_raw(i + 1),
                          .spec = ShardSpecRef::unchecked(keys[i], keys[i + 1])});
    }
    if (random_.below(4) == 0) manifest.pop_back();
    const OpId op = any_op();
    (void)all("register", [&](CoordinationFacade& home) {
      return home.register_shards(now_, tenant_, run, manifest, op);
    });
  }

  void claim() {
    const RunId run = any_run();
    const auto worker = WorkerId::from_raw(random_.below(5));
    const ShardKey key{run, ShardId::from_raw(1 + random_.below(kRoots))};
    if (random_.below(3) == 0) {
      keep(all("acquire", [&](CoordinationFacade& home) {
        return copied(home.acquire_and_restore_into(now_, tenant_, key, worker, *scratch_));
      }));
    } else {
      keep(all("claim", [&](CoordinationFacade& home) {
        return copied(home.claim_next_available(now_, tenant_, run, worker, *scratch_));
      }));
    }
  }
  template <class E>
  void keep(const std::expected<Claimed, E>& claimed) {
    if (claimed) held_.push_back(*claimed);
  }

  void checkpoint() {
    if (held_.empty()) return;
    const Claimed& held = any_held();
    base::Bytes key = held.start;
    key.push_back(std::byte(random_.below(250)));
    const base::Bytes token(random_.below(3), std::byte{7});
    const OpId op = any_op();
    const auto cursor = CursorUpdate::make(key, token);
    (void)all("checkpoint", [&](CoordinationFacade& home) {
      return home.checkpoint(now_, tenant_, held.lease, cursor, op);
    });
  }

  void renew() {
    if (held_.empty()) return;
    std::vector<Lease> leases;
    for (int i = 0; i < 3; ++i)
      leases.push_back(any_held().lease);
    (void)all("renew",
              [&](CoordinationFacade& home) { return home.renew(now_, tenant_, leases[0]); });
    (void)all("renew many",
              [&](CoordinationFacade& home) { return home.renew_many(now_, tenant_, leases); });
  }

  void finish() {
    if (held_.empty()) return;
    const Lease& lease = any_held().lease;
    base::Bytes key = any_held().start;
    key.push_back(std::byte{255});
    const OpId op = any_op();
    const std::uint64_t how = random_.below(6);
    if (how == 0) {
      (void)all("complete", [&](CoordinationFacade& home) {
        return home.complete(now_, tenant_, lease, CursorUpdate::make(key), op);
      });
    } else if (how < 4) {
      (void)all("release", [&](CoordinationFacade& home) {
        return home.release_shard(now_, tenant_, lease, CursorUpdate::initial(), op);
      });
    } else {
      (void)all("park", [&](CoordinationFacade& home) {
        return home.park_shard(now_, tenant_, lease, ParkReason::kTooManyErrors, op);
      });
    }
  }

  void split() {
    if (held_.empty()) return;
    const Lease& lease = any_held().lease;
    const auto record = all("get shard", [&](CoordinationFacade& home) {
      return home.get_shard(tenant_, lease.shard_key());
    });
    if (!record) return;
    base::Bytes middle = record->start;
    middle.push_back(std::byte(1 + random_.below(254)));
    const auto left = ShardSpecRef::unchecked(record->start, middle);
    const auto right = ShardSpecRef::unchecked(middle, record->end);
    const OpId op = any_op();
    if (random_.below(3) != 0) {
      const auto plan = *SplitResidualPlan::try_make(left, right);
      (void)all("split residual", [&](CoordinationFacade& home) {
        return home.split_residual(now_, tenant_, lease, plan, op);
      });
      return;
    }
    const std::vector<shard::SplitReplaceChild> children{{.spec = right}, {.spec = left}};
    const auto plan = SplitReplacePlan::try_make(children);
    (void)all("split replace", [&](CoordinationFacade& home) {
      return home.split_replace(now_, tenant_, lease, *plan, op);
    });
  }

  void administer() {
    const RunId run = any_run();
    const OpId op = any_op();
    switch (random_.below(12)) {
      case 0:
        (void)all("cancel", [&](auto& home) { return home.cancel_run(now_, tenant_, run, op); });
        break;
      case 1:
        (void)all("complete run",
                  [&](auto& home) { return home.complete_run(now_, tenant_, run, op); });
        break;
      case 2:
        (void)all("fail run", [&](auto& home) { return home.fail_run(now_, tenant_, run, op); });
        break;
      case 3:
      case 4:
        (void)all("gc", [&](auto& home) { return home.gc_terminal_runs(tenant_, now_); });
        break;
      default: {
        if (held_.empty()) return;
        const ShardKey key = any_held().lease.shard_key();
        (void)all("unpark", [&](auto& home) { return home.unpark_shard(now_, tenant_, key, op); });
      }
    }
  }

  void look() {
    const RunId run = any_run();
    (void)all("get run", [&](auto& home) { return home.get_run(tenant_, run); });
    (void)all("progress", [&](auto& home) { return home.get_run_progress(now_, tenant_, run); });
    (void)all("runs", [&](auto& home) { return home.list_runs(tenant_, {}, 2); });
    (void)all("candidates", [&](CoordinationFacade& home) -> Result<ClaimCandidates, GetRunError> {
      ClaimCandidates out;
      out.earliest_deadline =
          CAD_TRY(home.collect_claim_candidates_into(now_, tenant_, run, out.shards));
      return out;
    });
    (void)all("shards",
              [&](CoordinationFacade& home) -> Result<std::vector<ListLine>, ListShardsError> {
                std::vector<ShardSummary> page;
                CAD_TRY(home.list_shards_into(now_, tenant_, run, {}, {}, page));
                std::vector<ListLine> lines;
                for (const ShardSummary& shard : page)
                  lines.push_back(fields_of(shard));
                return lines;
              });
  }

  base::SeededRandom random_;
  memory::MemoryBackend memory_;
  EmbeddedHome embedded_;
  EtcdHome etcd_;
  std::unique_ptr<AcquireScratch> scratch_ = std::make_unique<AcquireScratch>();
  std::vector<Claimed> held_;
  TenantId tenant_ = tenant_of(1);
  LogicalTime now_ = LogicalTime::from_raw(1);
  std::uint64_t time_ = 2;
  std::uint64_t op_ = 1;
  int accepted_ = 0;
};

TEST(ThreeHomes, AnswerAlike) {
  constexpr std::uint64_t kSeeds = 4;
  constexpr int kSteps = 400;
  EtcdCluster cluster(1);
  int accepted = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    History history(seed, cluster);
    for (int i = 0; i < kSteps && !testing::Test::HasFailure(); ++i)
      history.step();
    history.compare();
    accepted += history.accepted();
  }
  EXPECT_GT(accepted, 1000);  // Histories in which something happens.
}

}  // namespace
}  // namespace cadastre::coord::etcd
