#include "node/model_coordination.h"

#include <cstddef>
#include <memory>

#include "coord/etcd/core.h"
#include "coord/etcd/keyspace.h"
#include "coord/etcd/limits.h"
#include "coord/etcd/model_home.h"
#include "coord/etcd/model_store.h"
#include "coord/limits.h"

namespace cadastre::node {
namespace {

constexpr std::size_t kTxnOps = 1024;
static_assert(coord::etcd::children_max_of(kTxnOps) >= coord::kMaxSplitChildren);

}  // namespace

std::unique_ptr<coord::etcd::ModelHome> make_model_etcd_coordination(
    const ModelEtcdOptions& options) {
  using namespace coord::etcd;  // NOLINT(google-build-using-namespace): this is all of it
  return std::make_unique<ModelHome>(
      EtcdOptions{.keyspace = Keyspace::make(kPrefixDefault).value(),
                  .owner_ttl = options.owner_ttl,
                  .children_max = coord::kMaxSplitChildren,
                  .txn_ops_max = kTxnOps,
                  .claim_cooldown_interval = options.claim_cooldown_interval,
                  .limits = options.limits,
                  .hints = Hints::kExact},
      ModelOptions{.txn_ops_max = kTxnOps}, options.shown, options.seed);
}

}  // namespace cadastre::node
