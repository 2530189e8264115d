// Coordination on a model of etcd, in this process: for the simulator, which sees backends only through node.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "coord/etcd/model_home.h"
#include "coord/etcd/model_store.h"
#include "coord/shard_limits.h"

namespace cadastre::node {

struct ModelEtcdOptions {
  coord::ShardLimits limits = {};
  std::uint64_t claim_cooldown_interval = 0;  // 0: none
  std::chrono::seconds owner_ttl{300};
  coord::etcd::ShownLeases shown = coord::etcd::ShownLeases::kStored;
  std::uint64_t seed = 0;  // of the jitter
};

// With exact hints, and with room for the largest split in one transaction.
[[nodiscard]] std::unique_ptr<coord::etcd::ModelHome> make_model_etcd_coordination(
    const ModelEtcdOptions& options);

}  // namespace cadastre::node
