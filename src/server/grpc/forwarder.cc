#include "server/grpc/forwarder.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "cadastre/v1/coordination.grpc.pb.h"

#include "base/mutex.h"
#include "client/connection_error.h"
#include "client/limits.h"
#include "client/remote_coordination.h"
#include "client/wire_error.h"
#include "coord/errors.h"
#include "server/grpc/coordination_service.h"
#include "server/leader_finder.h"
#include "server/limits.h"

namespace cadastre::server {
namespace {

constexpr const char* kForwardedKey = "cadastre-forwarded";
constexpr const char* kAuthorizationKey = "authorization";
// A leader that was away is found again soon.
constexpr int kReconnectMinMs = 50;
constexpr int kReconnectMaxMs = 500;
constexpr int kConnectMs = 2'000;

std::shared_ptr<grpc::ChannelCredentials> credentials(
    const std::optional<client::TlsOptions>& tls) {
  if (!tls) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials({.pem_root_certs = tls->authority,
                               .pem_private_key = tls->key,
                               .pem_cert_chain = tls->certificate});
}

// One stream in, one stream out. The leader's stream is read one grant at a time, and the next only once the caller
// has the one before. Both ends must be over before this goes: gRPC says so once for each.
class ForwardedClaims final : public grpc::ServerWriteReactor<v1::Grant> {
 public:
  ForwardedClaims(v1::Coordination::Stub& stub,
                  std::unique_ptr<grpc::ClientContext> context,
                  const v1::ClaimStreamRequest& request)
      : context_(std::move(context)), request_(request), upstream_(*this) {
    stub.async()->ClaimStream(context_.get(), &request_, &upstream_);
    upstream_.AddHold();  // Reads are started from the other end's calls.
    upstream_.StartRead(&grant_);
    upstream_.StartCall();
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return upstream_.give_up();
    upstream_.StartRead(&grant_);
  }
  void OnCancel() override { context_->TryCancel(); }
  void OnDone() override { delete this; }

 private:
  class Upstream final : public grpc::ClientReadReactor<v1::Grant> {
   public:
    explicit Upstream(ForwardedClaims& owner) : owner_(owner) {}

    void give_up() {
      owner_.context_->TryCancel();
      RemoveHold();
    }
    void OnReadDone(bool ok) override {
      if (!ok) return RemoveHold();
      owner_.StartWrite(&owner_.grant_);
    }
    // No write is under way: the hold ends in place of one.
    void OnDone(const grpc::Status& status) override {
      owner_.Finish(Forwarder::passed_on(status));
    }

   private:
    ForwardedClaims& owner_;
  };

  const std::unique_ptr<grpc::ClientContext> context_;
  const v1::ClaimStreamRequest request_;
  v1::Grant grant_;  // Read or written, never both.
  Upstream upstream_;
};

class Refused final : public grpc::ServerWriteReactor<v1::Grant> {
 public:
  explicit Refused(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

}  // namespace

LeaderRoute Forwarder::route_of(const grpc::CallbackServerContext& call) const {
  LeaderRoute route = finder_.find_leader();
  if (route.where == LeaderRoute::Where::kThere && call.client_metadata().contains(kForwardedKey))
    return {};
  return route;
}

client::WireStatus Forwarder::no_leader() {
  return client::to_status(
      client::Refusal{client::StatusCode::kUnavailable, "no_leader",
                      "no leader is known here, or it cannot be reached; nothing was executed",
                      coord::RetryAdvice::kLater});
}

grpc::Status Forwarder::passed_on(const grpc::Status& status) {
  if (status.error_code() != grpc::StatusCode::UNAVAILABLE || !status.error_details().empty())
    return status;
  if (client::was_never_sent(status.error_message())) return to_grpc(no_leader());
  return to_grpc(client::to_status(client::Refusal{
      client::StatusCode::kUnavailable, "leader_away",
      "the leader did not answer and the outcome is unknown: repeat with the same op id",
      coord::RetryAdvice::kLater}));
}

std::unique_ptr<grpc::ClientContext> Forwarder::context_of(
    const grpc::CallbackServerContext& call) {
  auto context = grpc::ClientContext::FromCallbackServerContext(call);
  context->AddMetadata(kForwardedKey, "1");
  const auto token = call.client_metadata().find(kAuthorizationKey);
  if (token != call.client_metadata().end())
    context->AddMetadata(kAuthorizationKey,
                         std::string(token->second.data(), token->second.size()));
  return context;
}

Forwarder::Stubs* Forwarder::stubs_of(const std::string& address) {
  const base::MutexLock lock(mutex_);
  const auto found = stubs_.find(address);
  if (found != stubs_.end()) return &found->second;
  if (stubs_.size() >= kForwardAddressesMax) return nullptr;
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(client::kMessageBytesMax));
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectMinMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMs);  // How long an attempt may take.
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMaxMs);
  const auto channel = grpc::CreateCustomChannel(address, credentials(tls_), arguments);
  Stubs stubs{v1::Coordination::NewStub(channel), v1::Admin::NewStub(channel)};
  return &stubs_.emplace(address, std::move(stubs)).first->second;
}

grpc::ServerWriteReactor<v1::Grant>* Forwarder::forward_claims(
    const grpc::CallbackServerContext& call,
    const v1::ClaimStreamRequest& request,
    const std::string& address) {
  const Stubs* const stubs = stubs_of(address);
  if (stubs == nullptr) return new Refused(to_grpc(no_leader()));
  return new ForwardedClaims(*stubs->coordination, context_of(call), request);
}

}  // namespace cadastre::server
