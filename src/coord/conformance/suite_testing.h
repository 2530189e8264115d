// Conformance: the protocol's cases, written once against its interfaces, for every backend.
//
// Each case begins with tenant 01x32, run 1 (Active, leases of 100, 5 retries, created at 1, registered
// at 2) and its one shard 10 over [a, z). The verbs below are the operations, with what rarely varies
// left out. Each of them holds what is true of every operation against the whole registry, before and
// after: a refusal and a replay change nothing, and whatever is executed changes the one record that
// it names and makes records of that one only. A case therefore says what happens; that nothing else
// happens is said here. After each case the backend recounts everything (verify).

#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "coord/backend.h"
#include "coord/conformance/backend_factory_testing.h"
#include "coord/conformance/words_testing.h"
#include "coord/decide_split.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/outcome.h"
#include "coord/run_record.h"
#include "coord/shard_record.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"

namespace cadastre::coord::conformance {

inline constexpr std::uint64_t kU64Max = std::numeric_limits<std::uint64_t>::max();
inline constexpr RunId kRun = 1_run;
inline constexpr ShardId kShard = 10_id;
inline constexpr ShardKey kKey{kRun, kShard};
inline constexpr OpId kRegistration = OpId::from_raw(kU64Max);

[[nodiscard]] inline TenantId tenant_of(unsigned char byte) {
  TenantId::Bytes bytes{};
  bytes.fill(static_cast<std::byte>(byte));
  return TenantId::from_bytes(bytes);
}

// Everything that a backend holds.
struct World {
  std::vector<ShardDump> shards;
  std::vector<RunRecord> runs;

  friend bool operator==(const World&, const World&) = default;
};

// What an operation may change: a shard, or a run and the shards that it registers.
struct Footprint {
  std::optional<ShardKey> shard = std::nullopt;
  std::optional<RunId> run = std::nullopt;
};

// Public, so that a case's own functions can speak the same language.
class Conformance : public testing::TestWithParam<BackendFactory> {
 public:
  Conformance() : scratch_(std::make_unique<AcquireScratch>()) {}

  // Begins again, with another backend.
  void open(const BackendOptions& options = {},
            CursorSemantics semantics = CursorSemantics::kCompleted) {
    open_empty(options);
    config_ = {.cursor_semantics = semantics, .lease_duration = 100, .max_shard_retries = 5};
    ASSERT_TRUE(facade().create_run(1_t, tenant_, kRun, config_));
    ASSERT_TRUE(register_roots({{kShard, spec("a"_b, "z"_b)}}));
  }
  // The same without a run.
  void open_empty(const BackendOptions& options) {
    if (backend_.introspection != nullptr) introspection().verify();
    backend_ = GetParam().open(options);
  }
  // The same with other roots than shard 10; false if they were refused.
  bool register_roots(const std::vector<InitialShardInput>& roots) {
    return facade().register_shards(2_t, tenant_, kRun, roots, kRegistration).has_value();
  }
  void open_with(const std::vector<InitialShardInput>& roots, const BackendOptions& options = {}) {
    open_empty(options);
    ASSERT_TRUE(facade().create_run(1_t, tenant_, kRun, config_));
    ASSERT_TRUE(register_roots(roots));
  }

  [[nodiscard]] CoordinationFacade& facade() const { return *backend_.facade; }
  [[nodiscard]] const Introspection& introspection() const { return *backend_.introspection; }
  [[nodiscard]] AcquireScratch& scratch() { return *scratch_; }

  // ---- What is there ---------------------------------------------------------------------------

  [[nodiscard]] World world() const {
    return {introspection().dump_shards(), introspection().dump_runs()};
  }
  [[nodiscard]] ShardDump shard(ShardId id = kShard) const { return in(world(), id); }
  [[nodiscard]] RunRecord run(RunId id = kRun) const {
    return facade().get_run(tenant_, id).value();
  }

  // The record is what it was before the last operation, but for `edit`.
  template <std::invocable<ShardDump&> Edit>
  void expect_became(const Edit& edit, ShardId id = kShard) const {
    ShardDump expected = in(before_, id);
    edit(expected);
    EXPECT_EQ(shard(id), expected);
  }

  // ---- The operations --------------------------------------------------------------------------

  auto acquire(LogicalTime now, WorkerId worker, ShardId id = kShard) {
    return watched({.shard = ShardKey{kRun, id}}, [&] {
      return facade().acquire_and_restore_into(now, tenant_, {kRun, id}, worker, *scratch_);
    });
  }
  // For a shard that is free.
  Lease take(LogicalTime now, WorkerId worker, ShardId id = kShard) {
    return acquire(now, worker, id).value().lease;
  }
  auto renew(LogicalTime now, const Lease& lease) {
    return watched({.shard = lease.shard_key()},
                   [&] { return facade().renew(now, tenant_, lease); });
  }
  auto checkpoint(LogicalTime now, const Lease& lease, const CursorUpdate& cursor, OpId op) {
    return watched({.shard = lease.shard_key()},
                   [&] { return facade().checkpoint(now, tenant_, lease, cursor, op); });
  }
  auto checkpoint(LogicalTime now, const Lease& lease, ByteView key, OpId op) {
    return checkpoint(now, lease, CursorUpdate::make(key), op);
  }
  auto complete(LogicalTime now, const Lease& lease, const CursorUpdate& cursor, OpId op) {
    return watched({.shard = lease.shard_key()},
                   [&] { return facade().complete(now, tenant_, lease, cursor, op); });
  }
  auto complete(LogicalTime now, const Lease& lease, ByteView key, OpId op) {
    return complete(now, lease, CursorUpdate::make(key), op);
  }
  auto park(LogicalTime now, const Lease& lease, ParkReason reason, OpId op) {
    return watched({.shard = lease.shard_key()},
                   [&] { return facade().park_shard(now, tenant_, lease, reason, op); });
  }
  auto release(LogicalTime now, const Lease& lease, const CursorUpdate& cursor, OpId op) {
    return watched({.shard = lease.shard_key()},
                   [&] { return facade().release_shard(now, tenant_, lease, cursor, op); });
  }
  auto unpark(LogicalTime now, OpId op, ShardId id = kShard) {
    const ShardKey key{kRun, id};
    return watched({.shard = key}, [&] { return facade().unpark_shard(now, tenant_, key, op); });
  }
  auto split_replace(LogicalTime now,
                     const Lease& lease,
                     const std::vector<SplitReplaceChild>& children,
                     OpId op) {
    const SplitReplacePlan plan = SplitReplacePlan::try_make(children).value();
    return watched({.shard = lease.shard_key()},
                   [&] { return facade().split_replace(now, tenant_, lease, plan, op); });
  }
  auto split_residual(LogicalTime now, const Lease& lease, const SplitResidualPlan& plan, OpId op) {
    return watched({.shard = lease.shard_key()},
                   [&] { return facade().split_residual(now, tenant_, lease, plan, op); });
  }
  auto claim(LogicalTime now, WorkerId worker, RunId id = kRun) {
    before_ = world();
    auto answer = facade().claim_next_available(now, tenant_, id, worker, *scratch_);
    hold_law(answer, answer ? Footprint{.shard = answer->lease.shard_key()} : Footprint{});
    return answer;
  }
  auto create_run(LogicalTime now, RunId id, const RunConfig& config) {
    return watched({.run = id}, [&] { return facade().create_run(now, tenant_, id, config); });
  }
  auto register_shards(LogicalTime now,
                       RunId id,
                       const std::vector<InitialShardInput>& shards,
                       OpId op) {
    return watched({.run = id},
                   [&] { return facade().register_shards(now, tenant_, id, shards, op); });
  }
  auto complete_run(LogicalTime now, OpId op, RunId id = kRun) {
    return watched({.run = id}, [&] { return facade().complete_run(now, tenant_, id, op); });
  }
  auto fail_run(LogicalTime now, OpId op, RunId id = kRun) {
    return watched({.run = id}, [&] { return facade().fail_run(now, tenant_, id, op); });
  }
  auto cancel_run(LogicalTime now, OpId op, RunId id = kRun) {
    return watched({.run = id}, [&] { return facade().cancel_run(now, tenant_, id, op); });
  }

  // Any other call, with what it may change.
  template <std::invocable Act>
  std::invoke_result_t<Act> watched(const Footprint& footprint, const Act& act) {
    before_ = world();
    auto answer = act();
    hold_law(answer, footprint);
    return answer;
  }

  [[nodiscard]] static ShardDump in(const World& world, ShardId id) {
    const auto at = std::ranges::find_if(world.shards, [&](const ShardDump& shard) {
      return shard.state.tenant == tenant_of(1) && shard.state.key() == ShardKey{kRun, id};
    });
    EXPECT_NE(at, world.shards.end()) << "there is no shard " << id.raw();
    return at == world.shards.end() ? ShardDump{} : *at;
  }

  [[nodiscard]] const TenantId& tenant() const { return tenant_; }
  [[nodiscard]] const RunConfig& config() const { return config_; }
  void plant(const ShardDump& shard) const { backend_.plant(shard); }

 protected:
  void SetUp() override { open(); }
  void TearDown() override { introspection().verify(); }

 private:
  // Whether something happened now.
  template <class T, class E>
  static bool is_executed(const std::expected<T, E>& answer) {
    return answer.has_value();
  }
  template <class T, class E>
  static bool is_executed(const std::expected<IdempotentOutcome<T>, E>& answer) {
    return answer && answer->is_executed();
  }
  template <class E>
  static bool is_executed(const std::expected<Outcome, E>& answer) {
    return answer && *answer == Outcome::kExecuted;
  }

  template <class Answer>
  void hold_law(const Answer& answer, const Footprint& footprint) const {
    const World after = world();
    if (!is_executed(answer)) {
      EXPECT_EQ(before_.shards, after.shards) << "a refusal or a replay changed a shard";
      EXPECT_TRUE(before_.runs == after.runs) << "a refusal or a replay changed a run";
      return;
    }
    expect_others_stay(after, footprint);
    expect_made_within(after, footprint);
  }

  // Whatever was there and is not in the footprint is there unchanged.
  void expect_others_stay(const World& after, const Footprint& footprint) const {
    for (const ShardDump& shard : before_.shards) {
      if (shard.state.tenant == tenant_ && shard.state.key() == footprint.shard) continue;
      EXPECT_TRUE(std::ranges::find(after.shards, shard) != after.shards.end())
          << "an operation changed shard " << shard.state.shard.raw() << " beside its own";
    }
    for (const RunRecord& run : before_.runs) {
      if (run.tenant == tenant_ && run.run == footprint.run) continue;
      EXPECT_TRUE(std::ranges::find(after.runs, run) != after.runs.end())
          << "an operation changed run " << run.run.raw();
    }
  }

  // Whatever is new belongs to the footprint.
  void expect_made_within(const World& after, const Footprint& footprint) const {
    for (const ShardDump& shard : after.shards) {
      const auto same = [&](const ShardDump& other) {
        return other.state.tenant == shard.state.tenant && other.state.key() == shard.state.key();
      };
      if (std::ranges::any_of(before_.shards, same)) continue;
      const bool is_derived = footprint.shard && shard.state.run == footprint.shard->run &&
                              shard.state.parent == footprint.shard->shard;
      const bool is_registered = shard.state.run == footprint.run && !shard.state.parent;
      EXPECT_TRUE(shard.state.tenant == tenant_ && (is_derived || is_registered))
          << "an operation made shard " << shard.state.shard.raw();
    }
    const std::size_t runs_max = before_.runs.size() + (footprint.run ? 1U : 0U);
    EXPECT_LE(after.runs.size(), runs_max) << "an operation made a run";
  }

  const TenantId tenant_ = tenant_of(1);
  RunConfig config_{.lease_duration = 100, .max_shard_retries = 5};
  BackendUnderTest backend_;
  std::unique_ptr<AcquireScratch> scratch_;
  World before_;  // the last operation
};

// For backends that refuse bytes beyond a chosen capacity.
class BoundedConformance : public Conformance {};

// For backends into which a record can be put that no request makes.
class PlantedConformance : public Conformance {};

}  // namespace cadastre::coord::conformance
