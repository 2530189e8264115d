#include "tests/wire/wire_home.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/random.h"
#include "client/remote_coordination.h"
#include "coord/identity.h"
#include "coord/replicated/settings.h"
#include "node/alarm_thread.h"
#include "node/embedded_coordination.h"
#include "server/access.h"
#include "server/admission.h"
#include "server/claim_streams.h"
#include "server/coordination_handlers.h"
#include "server/current_access.h"
#include "server/grpc/grpc_server.h"
#include "server/limits.h"
#include "server/stamper.h"

namespace cadastre::wire {

WireHome::WireHome(const coord::replicated::Settings& settings, Door door)
    : door_(std::move(door)) {
  access_ = std::make_unique<server::CurrentAccess>(
      door_.tokens.empty() ? server::AccessTable::open_to_all()
                           : server::AccessTable::parse(door_.tokens, random_).value());
  coordination_ =
      node::EmbeddedCoordination::open(
          {.directory = directory_.path(), .settings = settings, .hash_seed = 1}, clock_, logger_)
          .value();
  stamper_ = std::make_unique<server::Stamper>(
      clock_, [this](const coord::TenantId& tenant) { return coordination_->largest_now(tenant); });
  start();
}

WireHome::~WireHome() {
  stop();
  // Whatever streams gave back is done, and they may go.
  (void)coordination_->stop(std::chrono::seconds(10));
}

void WireHome::start() {
  CAD_CHECK(!server_, "a home has one server");
  admission_ = std::make_unique<server::Admission>(server::kCallsMax);
  alarm_ = std::make_unique<node::AlarmThread>(clock_);
  streams_ = std::make_unique<server::ClaimStreams>(
      server::ClaimStreamsParts{coordination_->async(), *stamper_, *alarm_, random_});
  alarm_->start([this] { streams_->on_alarm(); });
  server_ =
      server::GrpcServer::start({.address = {.port = port_}, .tls = door_.tls}, parts()).value();
  port_ = server_->port();
}

void WireHome::stop() {
  if (!server_) return;
  server_->stop(std::chrono::seconds(1));
  alarm_->stop();
  server_.reset();
  gone_.push_back({std::move(alarm_), std::move(streams_)});
}

std::string WireHome::address() const {
  return fmt::format("127.0.0.1:{}", port_);
}

server::HandlerParts WireHome::parts() {
  return {.backend = coordination_->async(),
          .clock = clock_,
          .stamper = *stamper_,
          .access = *access_,
          .streams = *streams_,
          .admission = *admission_,
          .metrics = metrics_};
}

std::unique_ptr<client::RemoteCoordination> WireHome::connect(client::RemoteOptions options) {
  base::SeededRandom& random =
      *client_randoms_.emplace_back(std::make_unique<base::SeededRandom>(client_randoms_.size()));
  return client::RemoteCoordination::open(options, {clock_, random, timer_}).value();
}

}  // namespace cadastre::wire
