// GrpcPeerTransport: log::Transport between the nodes of a cluster, on gRPC's byte streams (spec section 6).
//
// For each peer and lane one stream on a connection of its own, opened by the sender; answers come on the peer's own.
// Under TLS both ends show a certificate that names their node (peer_admission.h), and the address that was dialled must
// be among the certificate's names as usual. Plain streams are for loopback, or for who says so.
//
// send() never blocks and costs the log thread a queue, or the write itself if the stream is idle and little waits
// (peer_sender.h); all other frames are encoded, summed and checked on gRPC's threads.
// Everything may be called from any thread, stop() once all calls of others have returned.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "log/address_book.h"
#include "log/frame_bodies.h"
#include "log/transport.h"
#include "server/grpc/peer_core.h"
#include "server/listen_address.h"
#include "server/peer_counters.h"
#include "server/peer_hooks.h"
#include "server/peer_limits.h"
#include "server/start_error.h"

namespace cadastre::server {

// PEM texts. Both ends present the certificate and trust the authority.
struct PeerTls {
  std::string authority;
  std::string certificate_chain;
  std::string private_key;
};

class CheckpointSource;
class CheckpointStore;

struct PeerOptions {
  ListenAddress address;  // Port 0: any free one.
  std::optional<PeerTls> tls = std::nullopt;
  PlainPolicy plain = PlainPolicy::kLoopbackOnly;
  CheckpointStore* checkpoints = nullptr;  // For peers to fetch; stopped before the transport is.
  // Where this node is: each peer is told whenever it lets a stream in, so that one that has an old address finds it
  // (L-69). Nothing: nobody is.
  std::optional<log::NodeAddress> announced = std::nullopt;
  std::chrono::milliseconds first_word_wait = kFirstWordWait;
};

class GrpcPeerTransport final : public log::Transport {
 public:
  explicit GrpcPeerTransport(const PeerParts& parts);
  GrpcPeerTransport(const GrpcPeerTransport&) = delete;
  GrpcPeerTransport& operator=(const GrpcPeerTransport&) = delete;
  ~GrpcPeerTransport() override;

  // Listens. Before it nothing is received, and what is sent is dropped. Sink and hooks outlive stop().
  [[nodiscard]] base::Result<void, StartError> start(const PeerOptions& options,
                                                     log::TransportSink& sink,
                                                     PeerHooks& hooks);
  [[nodiscard]] std::uint16_t port() const noexcept;

  // Where the peers are now. New ones are connected to, those not named are left, and streams to an address that
  // changed end. This node itself is passed over. At most kPeersMax.
  void set_peers(std::span<const log::PeerAddress> peers) CAD_EXCLUDES(peers_mutex_);

  void send(log::NodeId to, log::Lane lane, std::vector<log::Frame> frames) override;
  void send_snapshot_report(log::NodeId to,
                            log::GroupId group,
                            const log::SnapshotReport& report) override;
  void disconnect(log::NodeId peer) override { core_->disconnect(peer); }
  // At most once in kNotHereEvery for a peer and a group (L-68).
  void send_not_here(log::NodeId to, log::GroupId group, log::Index configuration);

  // Ranges of peers' checkpoints, once it has started.
  [[nodiscard]] CheckpointSource& checkpoint_source() noexcept { return *source_; }

  // Ends all streams; when it returns, neither sink nor hooks are called any more.
  void stop();

  [[nodiscard]] const PeerCounters& counters() const noexcept { return core_->counters; }

 private:
  class Listener;  // gRPC's side

  const std::shared_ptr<PeerCore> core_;
  const std::unique_ptr<CheckpointSource> source_;
  std::unique_ptr<Listener> listener_;
  base::Mutex peers_mutex_;  // Peers change one after the other.
};

}  // namespace cadastre::server
