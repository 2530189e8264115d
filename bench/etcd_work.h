// Coordination on an etcd of its own, in this process up to etcd's socket.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "bench/peers/etcd_server.h"
#include "bench/scratch_directory.h"
#include "coord/async_backend.h"
#include "node/etcd_coordination.h"

namespace cadastre::bench {

class EtcdWork {
 public:
  EtcdWork();

  [[nodiscard]] coord::AsyncCoordinationFacade& backend() { return coordination_->async(); }

  // Of the shards' records that etcd has now.
  [[nodiscard]] std::size_t largest_record_bytes() const;
  // The key of a shard's record, for a peer whose keys are to be as long.
  [[nodiscard]] static std::string record_key(std::uint64_t shard);

 private:
  ScratchDirectory directory_;
  EtcdServer server_;
  base::SystemClock clock_;
  std::unique_ptr<node::EtcdCoordination> coordination_;
};

}  // namespace cadastre::bench
