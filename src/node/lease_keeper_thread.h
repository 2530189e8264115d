// LeaseKeeperThread: a thread that renews what a LeaseKeeper holds, every third of a lease.

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "base/clock.h"
#include "base/signal.h"
#include "client/lease_keeper.h"
#include "coord/backend.h"
#include "coord/identity.h"

namespace cadastre::node {

class LeaseKeeperThread {
 public:
  // All outlive it; `backend` is one that this thread may call.
  LeaseKeeperThread(client::LeaseKeeper& keeper,
                    coord::CoordinationBackend& backend,
                    const base::Clock& clock)
      : keeper_(keeper), backend_(backend), clock_(clock), thread_([this] { work(); }) {}
  LeaseKeeperThread(const LeaseKeeperThread&) = delete;
  LeaseKeeperThread& operator=(const LeaseKeeperThread&) = delete;
  ~LeaseKeeperThread() {
    stopping_.store(true);
    signal_.raise();
  }

 private:
  void work() {
    while (!stopping_.load()) {
      signal_.wait_for(keeper_.interval());
      if (!stopping_.load()) keeper_.round(backend_, now());
    }
  }
  // Milliseconds; a client that leaves time to its server does not send them.
  [[nodiscard]] coord::LogicalTime now() const {
    const auto since_epoch = clock_.now().time_since_epoch();
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
    return coord::LogicalTime::from_raw(static_cast<std::uint64_t>(std::max<std::int64_t>(ms, 1)));
  }

  client::LeaseKeeper& keeper_;
  coord::CoordinationBackend& backend_;
  const base::Clock& clock_;
  base::Signal signal_;
  std::atomic<bool> stopping_{false};
  std::jthread thread_;  // Last: it uses what stands above.
};

}  // namespace cadastre::node
