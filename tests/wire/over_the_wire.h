// The suite (src/coord/conformance) through client, socket and server, on the replicated backend. A home is a server, or
// several, with a client of it.
//
// Payload hashes and a run's op-log do not leave a server. Where a case looks at them, this home asks the server's
// inside; everything else came over the wire.

#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/result.h"
#include "client/remote_coordination.h"
#include "coord/backend.h"
#include "coord/conformance/backend_factory_testing.h"
#include "coord/conformance/suite_testing.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/memory/memory_backend.h"
#include "coord/outcome.h"
#include "coord/replicated/settings.h"
#include "coord/run_record.h"
#include "coord/shard_record.h"
#include "coord/states.h"
#include "coord/sync_over_async.h"
#include "tests/coord/machine_introspection.h"

namespace cadastre::coord::conformance {

template <class Home>
struct WireParts {
  explicit WireParts(const replicated::Settings& settings) : home(settings) {}

  Home home;
  MachineIntrospection inside{home.coordination().machine()};
  std::unique_ptr<client::RemoteCoordination> remote = home.connect();
  SyncOverAsync direct{home.coordination().async()};
};

template <class Home>
class OverTheWire : private WireParts<Home>, public SyncOverAsync {
 private:
  using WireParts<Home>::home;
  using WireParts<Home>::inside;
  using WireParts<Home>::direct;

  // SEC-1: a conflict comes without hashes. It changed nothing, so the backend says the same again, with them.
  template <class Ask>
  [[nodiscard]] auto unredacted(const Ask& ask) {
    auto told = ask(static_cast<SyncOverAsync&>(*this));
    const auto* const conflict = told ? nullptr : told.error().template get_if<OpIdConflict>();
    if (conflict == nullptr) return told;
    EXPECT_EQ(conflict->unredacted_expected_hash(), 0U);
    EXPECT_EQ(conflict->unredacted_actual_hash(), 0U);
    return ask(direct);
  }

 public:
  explicit OverTheWire(const replicated::Settings& settings)
      : WireParts<Home>(settings), SyncOverAsync(*this->remote) {}

  [[nodiscard]] Result<RunRecord, GetRunError> get_run(const TenantId& tenant, RunId run) override {
    auto told = SyncOverAsync::get_run(tenant, run);
    if (!told) return told;
    EXPECT_TRUE(told->op_log.empty());
    for (const RunRecord& record : inside.dump_runs()) {
      if (record.tenant == tenant && record.run == run) told->op_log = record.op_log;
    }
    return told;
  }

  [[nodiscard]] Result<IdempotentOutcome<Unit>, CheckpointError> checkpoint(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const CursorUpdate& cursor,
      OpId op) override {
    return unredacted([&](auto& facade) {
      return facade.SyncOverAsync::checkpoint(now, tenant, lease, cursor, op);
    });
  }
  [[nodiscard]] Result<IdempotentOutcome<Unit>, CompleteError> complete(LogicalTime now,
                                                                        const TenantId& tenant,
                                                                        const Lease& lease,
                                                                        const CursorUpdate& cursor,
                                                                        OpId op) override {
    return unredacted([&](auto& facade) {
      return facade.SyncOverAsync::complete(now, tenant, lease, cursor, op);
    });
  }
  [[nodiscard]] Result<IdempotentOutcome<Unit>, ParkError> park_shard(LogicalTime now,
                                                                      const TenantId& tenant,
                                                                      const Lease& lease,
                                                                      ParkReason reason,
                                                                      OpId op) override {
    return unredacted([&](auto& facade) {
      return facade.SyncOverAsync::park_shard(now, tenant, lease, reason, op);
    });
  }
  [[nodiscard]] Result<IdempotentOutcome<Unit>, ReleaseError> release_shard(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const CursorUpdate& cursor,
      OpId op) override {
    return unredacted([&](auto& facade) {
      return facade.SyncOverAsync::release_shard(now, tenant, lease, cursor, op);
    });
  }
  [[nodiscard]] Result<IdempotentOutcome<SplitReplaceResult>, SplitReplaceError> split_replace(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const SplitReplacePlan& plan,
      OpId op) override {
    return unredacted([&](auto& facade) {
      return facade.SyncOverAsync::split_replace(now, tenant, lease, plan, op);
    });
  }
  [[nodiscard]] Result<IdempotentOutcome<SplitResidualResult>, SplitResidualError> split_residual(
      LogicalTime now,
      const TenantId& tenant,
      const Lease& lease,
      const SplitResidualPlan& plan,
      OpId op) override {
    return unredacted([&](auto& facade) {
      return facade.SyncOverAsync::split_residual(now, tenant, lease, plan, op);
    });
  }

  [[nodiscard]] const Introspection& introspection() const { return inside; }
  void plant(const ShardDump& shard) {
    home.coordination().machine().read([&](memory::MemoryBackend& records) {
      CAD_CHECK(records.load_shard(shard).has_value(), "there is room for a planted record");
    });
  }
};

template <class Home>
BackendFactory wire_factory(const char* name) {
  return {name, [](const BackendOptions& options) {
            replicated::Settings settings{
                .shards_per_tenant_max = options.limits.per_tenant_max,
                .shards_total_max = options.limits.total_max,
                .claim_cooldown_interval = options.claim_cooldown_interval,
                .children_max = options.children_max};
            if (options.slab_capacity != 0) settings.record_bytes_max = options.slab_capacity;
            auto backend = std::make_unique<OverTheWire<Home>>(settings);
            BackendUnderTest opened;
            opened.introspection = &backend->introspection();
            opened.plant = [backend = backend.get()](const ShardDump& shard) {
              backend->plant(shard);
            };
            opened.facade = std::move(backend);
            return opened;
          }};
}

}  // namespace cadastre::coord::conformance
