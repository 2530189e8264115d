// WireHome: a server on durable coordination and a client of it, in this process, with a socket between.
//
// The directory is its own and goes with it. The client's time is the caller's; its delays are short. Anybody
// may connect and speak for every tenant, unless the home has a door.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/logger.h"
#include "base/random.h"
#include "client/alarm_timer.h"
#include "client/remote_coordination.h"
#include "coord/replicated/settings.h"
#include "log/storage/directory_testing.h"
#include "node/alarm_thread.h"
#include "node/embedded_coordination.h"
#include "server/admission.h"
#include "server/claim_streams.h"
#include "server/coordination_handlers.h"
#include "server/current_access.h"
#include "server/grpc/grpc_server.h"
#include "server/operation_metrics.h"
#include "server/stamper.h"

namespace cadastre::wire {

// Whom a server lets in.
struct Door {
  std::optional<server::TlsMaterial> tls = {};
  std::string tokens = {};  // a token file's text; empty: no tokens
};

class WireHome {
 public:
  explicit WireHome(const coord::replicated::Settings& settings = {}, Door door = {});
  WireHome(const WireHome&) = delete;
  WireHome& operator=(const WireHome&) = delete;
  ~WireHome();

  [[nodiscard]] node::EmbeddedCoordination& coordination() noexcept { return *coordination_; }

  // The server listens on a port of its own; start() again after stop() listens on the same one.
  void start();
  void stop();
  [[nodiscard]] std::string address() const;

  // What calls are answered with.
  [[nodiscard]] server::HandlerParts parts();

  [[nodiscard]] std::unique_ptr<client::RemoteCoordination> connect(client::RemoteOptions options);
  [[nodiscard]] std::unique_ptr<client::RemoteCoordination> connect() {
    return connect({.address = address()});
  }

 private:
  const Door door_;
  log::ScratchDirectory directory_{log::Medium::kMemory};
  base::SystemClock clock_;
  std::unique_ptr<base::LogSink> sink_ = base::stderr_log_sink();
  base::Logger logger_{*sink_, clock_, base::LogForm::kText};
  base::SeededRandom random_{1};  // the server's
  std::vector<std::unique_ptr<base::SeededRandom>> client_randoms_;
  client::AlarmTimer timer_;
  std::unique_ptr<node::EmbeddedCoordination> coordination_;
  std::unique_ptr<server::Stamper> stamper_;
  std::unique_ptr<server::CurrentAccess> access_;
  server::OperationMetrics metrics_;
  std::unique_ptr<server::Admission> admission_;
  std::unique_ptr<node::AlarmThread> alarm_;
  std::unique_ptr<server::ClaimStreams> streams_;
  // Of servers that stopped: what they gave back to the coordination may not have been answered yet.
  struct Gone {
    std::unique_ptr<node::AlarmThread> alarm;
    std::unique_ptr<server::ClaimStreams> streams;
  };
  std::vector<Gone> gone_;
  std::unique_ptr<server::GrpcServer> server_;
  std::uint16_t port_ = 0;
};

}  // namespace cadastre::wire
