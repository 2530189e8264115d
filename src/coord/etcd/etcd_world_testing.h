// A world of the etcd backend on its model, for tests: one tenant, one run, two shards.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/random.h"
#include "coord/backend.h"
#include "coord/conformance/words_testing.h"
#include "coord/errors.h"
#include "coord/etcd/core.h"
#include "coord/etcd/delay.h"
#include "coord/etcd/etcd_backend.h"
#include "coord/etcd/keyspace.h"
#include "coord/etcd/limits.h"
#include "coord/etcd/model_home.h"
#include "coord/etcd/model_store.h"
#include "coord/etcd/records.h"
#include "coord/etcd/store.h"
#include "coord/etcd/store_introspection.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/outcome.h"
#include "coord/record_codec.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"

namespace cadastre::coord::etcd {

using conformance::spec;
using conformance::operator""_id;
using conformance::operator""_op;
using conformance::operator""_t;
using conformance::operator""_w;
using conformance::operator""_b;

inline constexpr RunId kRun = RunId::from_raw(1);
inline constexpr std::chrono::seconds kTtl{60};

inline EtcdOptions options_of_tests() {
  return {.keyspace = Keyspace::make(kPrefixDefault).value(),
          .owner_ttl = kTtl,
          .hints = Hints::kExact};
}

struct EtcdWorld {
  EtcdWorld() : home(options_of_tests(), {}), scratch(std::make_unique<AcquireScratch>()) {
    EXPECT_TRUE(home.create_run(1_t, tenant, kRun, config));
    EXPECT_TRUE(home.register_shards(2_t, tenant, kRun, roots(), 1_op));
  }

  static std::vector<InitialShardInput> roots() {
    return {{10_id, spec("a"_b, "m"_b)}, {11_id, spec("m"_b, "z"_b)}};
  }
  auto acquire(LogicalTime now, WorkerId worker, ShardId id = 10_id) {
    return home.acquire_and_restore_into(now, tenant, {kRun, id}, worker, *scratch);
  }
  Lease take(LogicalTime now, WorkerId worker, ShardId id = 10_id) {
    return acquire(now, worker, id).value().lease;
  }
  ShardDump shard(ShardId id = 10_id) { return home.get_shard(tenant, {kRun, id}).value(); }
  // With what a lease lasts longer so that it can be used twice.
  void let_ttl_run_out() { home.clock.advance(kTtl + kTtl / kSpareLeaseAgeDivisor); }

  // The call with this number goes wrong, from 0 on.
  void break_call(std::size_t which, Fault fault) {
    home.store.set_faults([which, fault, call = std::size_t{0}](Rpc /*rpc*/) mutable {
      return call++ == which ? fault : Fault::kNone;
    });
  }
  void break_all(Rpc rpc, Fault fault) {
    home.store.set_faults([rpc, fault](Rpc asked) { return asked == rpc ? fault : Fault::kNone; });
  }

  TenantId tenant;
  RunConfig config{.lease_duration = 100};
  ModelHome home;
  std::unique_ptr<AcquireScratch> scratch;
};

template <class R>
bool is_transient(const R& result) {
  if (result) return false;
  const auto* infra = result.error().template get_if<InfraError>();
  return infra != nullptr && infra->kind == InfraError::Kind::kTransient;
}
template <class R>
bool is_corruption(const R& result) {
  if (result) return false;
  const auto* infra = result.error().template get_if<InfraError>();
  return infra != nullptr && infra->kind == InfraError::Kind::kCorruption;
}

}  // namespace cadastre::coord::etcd
