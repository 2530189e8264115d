// ClusterHome: three nodes in this process, with sockets between them and a client of one that does not lead.
//
// Ticks are short, so that a leader is there within half a second. The directories are its own and go with it.

#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/logger.h"
#include "base/random.h"
#include "client/alarm_timer.h"
#include "client/remote_coordination.h"
#include "coord/replicated/settings.h"
#include "node/embedded_coordination.h"

namespace cadastre::cluster {

class ClusterHome {
 public:
  explicit ClusterHome(const coord::replicated::Settings& settings = {});
  ClusterHome(const ClusterHome&) = delete;
  ClusterHome& operator=(const ClusterHome&) = delete;
  ~ClusterHome();

  // The leader's.
  [[nodiscard]] node::EmbeddedCoordination& coordination() noexcept;
  // A client of another node.
  [[nodiscard]] std::unique_ptr<client::RemoteCoordination> connect();

 private:
  class Node;

  void wait_for_leader();

  base::SystemClock clock_;
  std::unique_ptr<base::LogSink> sink_ = base::stderr_log_sink();
  base::Logger logger_{*sink_, clock_, base::LogForm::kText};
  client::AlarmTimer timer_;
  base::SeededRandom client_random_{7};
  std::vector<std::unique_ptr<Node>> nodes_;
  std::size_t leader_ = 0;
};

}  // namespace cadastre::cluster
