#include "client/grpc/channel.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <grpc/support/time.h>
#include <grpcpp/grpcpp.h>

#include "cadastre/v1/coordination.grpc.pb.h"

#include "base/mutex.h"
#include "client/address.h"
#include "client/limits.h"
#include "client/remote_coordination.h"
#include "client/retry.h"
#include "client/wire_error.h"

namespace cadastre::client {
namespace {

// A server that was away is found again soon: the calls have their own delays.
constexpr int kReconnectMinMs = 50;
constexpr int kReconnectMaxMs = 1000;
// A connection has this long to come about, TLS included, over slow networks too.
constexpr int kConnectMs = 5000;

std::shared_ptr<grpc::ChannelCredentials> credentials(const std::optional<TlsOptions>& tls) {
  if (!tls) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials({.pem_root_certs = tls->authority,
                               .pem_private_key = tls->key,
                               .pem_cert_chain = tls->certificate});
}

}  // namespace

std::shared_ptr<grpc::Channel> connect(const std::string& address,
                                       const std::optional<TlsOptions>& tls) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(kMessageBytesMax));
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);  // Ours know which requests may be repeated.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // A client's connection is its own.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectMinMs);
  // By its name a pause; in fact how long an attempt may take.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMaxMs);
  return grpc::CreateCustomChannel(address, credentials(tls), arguments);
}

namespace {

std::vector<std::unique_ptr<v1::Coordination::Stub>> connect_all(const RemoteOptions& options) {
  std::vector<std::unique_ptr<v1::Coordination::Stub>> stubs;
  for (const std::string_view address : addresses_of(options.address))
    stubs.push_back(v1::Coordination::NewStub(connect(std::string(address), options.tls)));
  return stubs;
}

}  // namespace

RemoteCoordination::Channel::Channel(const RemoteOptions& options, const RemoteParts& parts)
    : options_(options),
      clock_(parts.clock),
      timer_(parts.timer),
      stubs_(connect_all(options)),
      random_(parts.random),
      calls_(options.calls_max) {}

void RemoteCoordination::Channel::introduce(grpc::ClientContext& context) const {
  if (!options_.token.empty()) context.AddMetadata("authorization", "Bearer " + options_.token);
}

void RemoteCoordination::Channel::limit(grpc::ClientContext& context) const {
  context.set_deadline(gpr_time_from_millis(options_.call_timeout.count(), GPR_TIMESPAN));
}

std::optional<std::chrono::milliseconds> RemoteCoordination::Channel::next_attempt(
    Repeat repeat, const Attempts& attempts, const Failure& failure) {
  const base::MutexLock lock(mutex_);
  return client::next_attempt(options_.retry, repeat, attempts, failure, random_);
}

bool is_unheard(const grpc::Status& status) noexcept {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE ||
         status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
}

WireStatus from_grpc(const grpc::Status& status) {
  return {.code = static_cast<StatusCode>(status.error_code()),
          .message = status.error_message(),
          .details = status.error_details()};
}

}  // namespace cadastre::client
