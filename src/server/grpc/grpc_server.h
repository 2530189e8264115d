// GrpcServer: the Coordination and Admin services on a port, with standard health and reflection.
//
// Calls run on gRPC's threads and block none of them: a method hands its request to the handlers and
// returns; the answer comes from whichever thread the backend completes on.
//
// stop() takes no new calls, ends claim streams, lets the calls under way finish until its patience ends,
// and then cancels what is left. A backend that completes every call lets the destructor return.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "client/remote_coordination.h"
#include "server/admin_handlers.h"
#include "server/coordination_handlers.h"
#include "server/listen_address.h"
#include "server/start_error.h"

namespace cadastre::server {

// PEM texts.
struct TlsMaterial {
  std::string certificate_chain;
  std::string private_key;
  std::optional<std::string> client_ca;  // Clients must show a certificate of this authority.
};

struct GrpcOptions {
  ListenAddress address;
  std::optional<TlsMaterial> tls;
  std::optional<client::TlsOptions> forward_tls = std::nullopt;  // For calls to the leader.
  const AdminGroup* admin = nullptr;  // Outlives the server; nothing: it is on its own.
};

class GrpcServer {
 public:
  // The parts outlive it.
  [[nodiscard]] static base::Result<std::unique_ptr<GrpcServer>, StartError> start(
      const GrpcOptions& options, const HandlerParts& parts);
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;
  ~GrpcServer();

  [[nodiscard]] std::uint16_t port() const noexcept;

  // Whether standard health says SERVING. At first it does not.
  void set_serving(bool serving);

  void stop(std::chrono::milliseconds patience);

 private:
  struct Running;  // gRPC's side
  explicit GrpcServer(std::unique_ptr<Running> running);

  std::unique_ptr<Running> running_;
};

}  // namespace cadastre::server
