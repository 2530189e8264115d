// EtcdCoordination: coordination on an etcd that somebody else runs: the etcd backend, its way there, and the
// thread of its pauses.
//
//   auto coordination = CAD_TRY(EtcdCoordination::open({.config = config}, clock));
//   coordination->async().checkpoint(…);            // from any thread; completions on gRPC's
//   const auto facade = coordination->blocking();   // a facade that waits, for as many threads as call
//
// Nothing is asked of etcd before the first operation. The destructor waits for the operations under way, each of
// which ends with its deadline.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/attributes.h"
#include "base/clock.h"
#include "base/logger.h"
#include "base/random.h"
#include "base/result.h"
#include "coord/async_backend.h"
#include "coord/backend.h"
#include "coord/etcd/etcd_backend.h"
#include "coord/etcd/etcd_config.h"
#include "coord/etcd/grpc_store.h"
#include "coord/etcd/keyspace.h"
#include "node/etcd_settings.h"
#include "node/timer_thread.h"

namespace cadastre::node {

struct EtcdPlace {
  coord::etcd::EtcdConfig config = {};
  std::string prefix = std::string(coord::etcd::kPrefixDefault);
};

enum class EtcdOpenError : std::uint8_t {
  kPlace,  // The name is not HOST:PORT[,HOST:PORT…][/prefix], or a number is out of its range.
  kFile,   // A file cannot be read: `detail` names it.
};

// `place`: HOST:PORT[,HOST:PORT…][/prefix].
[[nodiscard]] base::Result<EtcdPlace, EtcdOpenError> parse_etcd_place(std::string_view place,
                                                                      const EtcdSettings& settings);

class EtcdCoordination {
 public:
  // Borrows both. What fails though nobody waits for it goes to the log; null: nobody is told.
  [[nodiscard]] static base::Result<std::unique_ptr<EtcdCoordination>, EtcdOpenError> open(
      const EtcdPlace& place, const base::Clock& clock, const base::Logger* log = nullptr);

  [[nodiscard]] coord::AsyncCoordinationFacade& async() noexcept CAD_LIFETIMEBOUND {
    return *backend_;
  }
  // A facade that waits. It does not outlive this object.
  [[nodiscard]] std::unique_ptr<coord::CoordinationFacade> blocking() CAD_LIFETIMEBOUND;

 private:
  EtcdCoordination(std::unique_ptr<coord::etcd::GrpcStore> store,
                   coord::etcd::EtcdOptions options,
                   const base::Clock& clock,
                   const base::Logger* log);

  base::OsSeededRandom random_;
  TimerThread timer_;
  std::unique_ptr<coord::etcd::GrpcStore> store_;
  std::unique_ptr<coord::etcd::EtcdBackend> backend_;  // Last: it uses what stands above.
};

}  // namespace cadastre::node
