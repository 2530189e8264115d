// The etcd backend passes the suite (src/coord/conformance) on a real etcd: one for all cases, a prefix for
// each backend.

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "coord/backend.h"
#include "coord/conformance/backend_factory_testing.h"
#include "coord/conformance/suite_testing.h"
#include "coord/etcd/core.h"
#include "coord/etcd/keyspace.h"
#include "tests/etcd/etcd_home.h"
#include "tests/etcd/etcd_member.h"

namespace cadastre::coord::conformance {
namespace {

constexpr std::size_t kTxnOps = 1024;  // room for 256 children

// Started when the first case needs it, gone with the program.
etcd::EtcdCluster& shared_etcd() {
  static etcd::EtcdCluster cluster(1, {.flags = {"--max-txn-ops=1024"}, .tls_directory = {}});
  return cluster;
}

BackendUnderTest open_etcd(const BackendOptions& options) {
  etcd::EtcdConfig config;
  config.endpoints = shared_etcd().endpoints();
  auto home = std::make_unique<etcd::EtcdHome>(
      etcd::HomeOptions{.config = std::move(config),
                        .backend = {.keyspace = etcd::Keyspace::make(etcd::fresh_prefix()).value(),
                                    .children_max = options.children_max,
                                    .txn_ops_max = kTxnOps,
                                    .claim_cooldown_interval = options.claim_cooldown_interval,
                                    .limits = options.limits,
                                    .hints = etcd::Hints::kExact}});
  BackendUnderTest opened;
  opened.introspection = &home->introspection;
  opened.plant = [etcd = home.get()](const ShardDump& shard) {
    etcd->plant(shard);
  };
  opened.facade = std::move(home);
  return opened;
}

BackendFactory etcd_factory() {
  return {"etcd", open_etcd};
}

INSTANTIATE_TEST_SUITE_P(RealEtcd, Conformance, testing::Values(etcd_factory()), name_of);
INSTANTIATE_TEST_SUITE_P(RealEtcd, PlantedConformance, testing::Values(etcd_factory()), name_of);

}  // namespace
}  // namespace cadastre::coord::conformance
