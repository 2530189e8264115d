// The etcd backend passes the suite (coord/conformance/) on the model of etcd.

#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "coord/backend.h"
#include "coord/conformance/backend_factory_testing.h"
#include "coord/conformance/suite_testing.h"
#include "coord/etcd/core.h"
#include "coord/etcd/keyspace.h"
#include "coord/etcd/model_home.h"
#include "coord/etcd/model_store.h"

namespace cadastre::coord::conformance {
namespace {

constexpr std::size_t kTxnOps = 1024;  // room for 256 children

BackendUnderTest open_etcd(const BackendOptions& options) {
  auto home = std::make_unique<etcd::ModelHome>(
      etcd::EtcdOptions{.keyspace = etcd::Keyspace::make(etcd::kPrefixDefault).value(),
                        .children_max = options.children_max,
                        .txn_ops_max = kTxnOps,
                        .claim_cooldown_interval = options.claim_cooldown_interval,
                        .limits = options.limits,
                        .hints = etcd::Hints::kExact},
      etcd::ModelOptions{.txn_ops_max = kTxnOps});
  BackendUnderTest opened;
  opened.introspection = &home->introspection;
  opened.plant = [etcd = home.get()](const ShardDump& shard) {
    etcd->plant(shard);
  };
  opened.facade = std::move(home);
  return opened;
}

BackendFactory etcd_factory() {
  return {"etcd_model", open_etcd};
}

INSTANTIATE_TEST_SUITE_P(EtcdModel, Conformance, testing::Values(etcd_factory()), name_of);
INSTANTIATE_TEST_SUITE_P(EtcdModel, PlantedConformance, testing::Values(etcd_factory()), name_of);

}  // namespace
}  // namespace cadastre::coord::conformance
