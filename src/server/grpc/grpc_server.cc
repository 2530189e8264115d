#include "server/grpc/grpc_server.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>

#include "base/result.h"
#include "client/limits.h"
#include "server/coordination_handlers.h"
#include "server/grpc/admin_service.h"
#include "server/grpc/coordination_service.h"
#include "server/grpc/forwarder.h"
#include "server/limits.h"
#include "server/listen_address.h"
#include "server/start_error.h"

namespace cadastre::server {

struct GrpcServer::Running {
  Running(const HandlerParts& given, const GrpcOptions& options)
      : parts(given),
        forwarder(given.leader == nullptr
                      ? nullptr
                      : std::make_unique<Forwarder>(*given.leader, options.forward_tls)),
        service(given, forwarder.get()),
        admin({options.admin, given.clock, given.access, given.admission}, forwarder.get()) {}

  const HandlerParts parts;
  const std::unique_ptr<Forwarder> forwarder;
  CoordinationService service;
  AdminService admin;
  std::unique_ptr<grpc::Server> server;
  int port = 0;
};

namespace {

std::shared_ptr<grpc::ServerCredentials> credentials(const GrpcOptions& options) {
  if (!options.tls) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions tls(
      options.tls->client_ca ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                             : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  tls.pem_key_cert_pairs.push_back({options.tls->private_key, options.tls->certificate_chain});
  if (options.tls->client_ca) tls.pem_root_certs = *options.tls->client_ca;
  return grpc::SslServerCredentials(tls);
}

void set_bounds(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(client::kMessageBytesMax));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kCallsPerConnectionMax);
  // Two servers on one port would each get some of the calls.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // Idle claim streams may ping often, so that they notice a server that died.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // A caller whose machine died without a word is noticed, and its claims are given back.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  grpc::ResourceQuota quota("cadastre");
  quota.Resize(kGrpcBufferBytesMax);
  builder.SetResourceQuota(quota);
}

}  // namespace

base::Result<std::unique_ptr<GrpcServer>, StartError> GrpcServer::start(const GrpcOptions& options,
                                                                        const HandlerParts& parts) {
  // The log is the operator's, a line for each event: strangers' handshakes do not write into it.
  gpr_set_log_function([](gpr_log_func_args*) {});
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  auto running = std::make_unique<Running>(parts, options);
  grpc::ServerBuilder builder;
  set_bounds(builder);
  builder.AddListeningPort(to_text(options.address), credentials(options), &running->port);
  builder.RegisterService(&running->service);
  builder.RegisterService(&running->admin);
  running->server = builder.BuildAndStart();
  if (running->server == nullptr || running->port == 0) {
    return base::fail(
        StartError::kCannotListen,
        fmt::format("cannot listen on {}{}", to_text(options.address),
                    options.tls ? ", or the TLS key and certificate do not fit" : ""));
  }
  std::unique_ptr<GrpcServer> server(new GrpcServer(std::move(running)));
  server->set_serving(false);
  return server;
}

GrpcServer::GrpcServer(std::unique_ptr<Running> running) : running_(std::move(running)) {}

GrpcServer::~GrpcServer() {
  stop(std::chrono::milliseconds(0));
}

std::uint16_t GrpcServer::port() const noexcept {
  return static_cast<std::uint16_t>(running_->port);
}

void GrpcServer::set_serving(bool serving) {
  if (auto* const health = running_->server->GetHealthCheckService())
    health->SetServingStatus(serving);
}

void GrpcServer::stop(std::chrono::milliseconds patience) {
  set_serving(false);
  running_->parts.admission.stop();
  running_->parts.streams.stop();
  running_->server->Shutdown(gpr_time_add(gpr_now(GPR_CLOCK_REALTIME),
                                          gpr_time_from_millis(patience.count(), GPR_TIMESPAN)));
}

}  // namespace cadastre::server
