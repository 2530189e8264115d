#include "server/grpc/peer_transport.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <grpc/support/log.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>

#include "base/check.h"
#include "log/frame_limits.h"
#include "server/grpc/checkpoint_fetch.h"
#include "server/grpc/peer_inlet.h"
#include "server/grpc/peer_sender.h"
#include "server/grpc/peer_wire.h"
#include "server/limits.h"

namespace cadastre::server {
namespace {

// A longer message of a stream is refused and counted by us; far above gRPC ends the stream by itself.
constexpr int kReceiveBytesMax = static_cast<int>(4 * log::kStreamMessageBytesMax);

std::shared_ptr<grpc::ServerCredentials> server_credentials(const std::optional<PeerTls>& tls) {
  if (!tls) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = tls->authority;
  options.pem_key_cert_pairs.push_back({tls->private_key, tls->certificate_chain});
  return grpc::SslServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> channel_credentials(const std::optional<PeerTls>& tls) {
  if (!tls) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials({.pem_root_certs = tls->authority,
                               .pem_private_key = tls->private_key,
                               .pem_cert_chain = tls->certificate_chain});
}

}  // namespace

class GrpcPeerTransport::Listener final : public grpc::CallbackGenericService {
 public:
  Listener(std::shared_ptr<PeerCore> core, CheckpointStore* checkpoints)
      : core_(std::move(core)), checkpoints_(checkpoints) {}

  // False: it cannot.
  bool listen(const PeerOptions& options) {
    grpc::ServerBuilder builder;
    builder.SetMaxReceiveMessageSize(kReceiveBytesMax);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsPerPeerConnectionMax);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1'000);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kPeerWindowBytes);
    grpc::ResourceQuota quota("cadastre-peers");
    quota.Resize(kGrpcBufferBytesMax);
    builder.SetResourceQuota(quota);
    builder.AddListeningPort(to_text(options.address), server_credentials(options.tls), &port_);
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
    return server_ != nullptr && port_ != 0;
  }
  [[nodiscard]] int port() const noexcept { return port_; }
  void stop() {
    server_->Shutdown(gpr_now(GPR_CLOCK_REALTIME));
    server_.reset();  // Waits for the streams.
  }

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    if (context->method() == kFramesMethod) return open_peer_inlet(core_, *context);
    if (context->method() == kFetchMethod && checkpoints_ != nullptr)
      return open_checkpoint_outlet(core_, *checkpoints_, *context);
    return grpc::CallbackGenericService::CreateReactor(context);
  }

 private:
  const std::shared_ptr<PeerCore> core_;
  CheckpointStore* const checkpoints_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

GrpcPeerTransport::GrpcPeerTransport(const PeerParts& parts)
    : core_(std::make_shared<PeerCore>(parts)),
      source_(std::make_unique<GrpcCheckpointSource>(core_)) {}

GrpcPeerTransport::~GrpcPeerTransport() {
  stop();
}

base::Result<void, StartError> GrpcPeerTransport::start(const PeerOptions& options,
                                                        log::TransportSink& sink,
                                                        PeerHooks& hooks) {
  CAD_CHECK(listener_ == nullptr, "a transport starts once");
  const server::Transport security =
      options.tls ? server::Transport::kTls : server::Transport::kPlain;
  CAD_TRY(may_listen(options.address, security, options.plain));
  gpr_set_log_function([](gpr_log_func_args*) {});
  core_->security = security;
  core_->credentials = channel_credentials(options.tls);
  core_->sink = &sink;
  core_->hooks = &hooks;
  core_->announced = options.announced;
  core_->first_word_wait = options.first_word_wait;
  auto listener = std::make_unique<Listener>(core_, options.checkpoints);
  if (!listener->listen(options)) {
    return base::fail(
        StartError::kCannotListen,
        fmt::format("cannot listen for peers on {}{}", to_text(options.address),
                    options.tls ? ", or the TLS key and certificate do not fit" : ""));
  }
  listener_ = std::move(listener);
  return {};
}

std::uint16_t GrpcPeerTransport::port() const noexcept {
  return listener_ == nullptr ? std::uint16_t{0} : static_cast<std::uint16_t>(listener_->port());
}

void GrpcPeerTransport::set_peers(std::span<const log::PeerAddress> peers) {
  CAD_CHECK(listener_ != nullptr, "a transport connects once it has started");
  const base::MutexLock lock(peers_mutex_);
  PeerCore::Senders old_ones = core_->senders();
  PeerCore::Senders now;
  std::vector<std::shared_ptr<PeerSender>> added;
  for (const log::PeerAddress& peer : peers.first(std::min(peers.size(), log::kPeersMax))) {
    if (peer.node == core_->parts.self.node) continue;
    for (const log::Lane lane : {log::Lane::kControl, log::Lane::kBulk}) {
      const auto old_one = old_ones.find({peer.node, lane});
      if (old_one == old_ones.end()) {
        added.push_back(std::make_shared<PeerSender>(core_, peer.node, lane, peer.address.peer));
        now.insert_or_assign({peer.node, lane}, added.back());
      } else {
        old_one->second->set_address(peer.address.peer);
        now.insert_or_assign({peer.node, lane}, old_one->second);
      }
    }
  }
  (void)core_->swap_senders(now);
  for (const auto& sender : added)
    sender->start();
  for (const auto& [key, sender] : old_ones) {
    if (!now.contains(key)) sender->stop();
  }
}

void GrpcPeerTransport::send(log::NodeId to, log::Lane lane, std::vector<log::Frame> frames) {
  std::vector<log::LaneMessage> messages;
  messages.reserve(frames.size());
  for (log::Frame& frame : frames) {
    messages.push_back({.kind = log::FrameKind::kMessage,
                        .group = frame.group,
                        .from = frame.from,
                        .to = frame.to,
                        .body = std::move(frame.body)});
  }
  core_->send(to, lane, std::move(messages));
}

void GrpcPeerTransport::send_snapshot_report(log::NodeId to,
                                             log::GroupId group,
                                             const log::SnapshotReport& report) {
  core_->send(to, log::Lane::kControl,
              {{.kind = log::FrameKind::kSnapshotReport,
                .group = group,
                .from = core_->parts.self.node,
                .to = to,
                .body = log::Body::copy_of(log::encode_snapshot_report(report))}});
}

void GrpcPeerTransport::send_not_here(log::NodeId to,
                                      log::GroupId group,
                                      log::Index configuration) {
  core_->answer_not_here(to, group, configuration);
}

void GrpcPeerTransport::stop() {
  if (listener_ == nullptr) return;
  for (const auto& [key, sender] : core_->swap_senders({}))
    sender->stop();
  source_->stop();
  // The listener ends last: gRPC's threads for callbacks end with the last channel or server that has them, and must not
  // do so on one of themselves, where a stream to a peer ends.
  core_->gate.close();
  listener_->stop();
  listener_.reset();
}

}  // namespace cadastre::server
