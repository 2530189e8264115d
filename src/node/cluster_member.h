// ClusterMember: a server's place in a cluster: its topology, its seal, its streams to the other nodes, and who
// leads as far as is known here.
//
//   auto member = CAD_TRY(ClusterMember::open(config, {clock, logger}));
//   … EmbeddedCoordination::open({…, .replication = member->replication()}, …) …
//   CAD_TRY(member->connect(*coordination));     // from now on it takes part
//   …
//   coordination->stop(…);                       // nothing is sent any more
//   member->disconnect();                        // nothing is received any more
//
// open() decides what this start may do (node_seal.h), and marks the directory before anything else is written into
// it. Safe from any thread once it is connected.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/logger.h"
#include "base/random.h"
#include "base/result.h"
#include "client/alarm_timer.h"
#include "log/frame_bodies.h"
#include "log/types.h"
#include "node/embedded_coordination.h"
#include "node/node_seal.h"
#include "node/server_config.h"
#include "server/grpc/peer_transport.h"
#include "server/leader_finder.h"
#include "server/peer_hooks.h"
#include "server/topology.h"

namespace cadastre::node {

enum class MemberError : std::uint8_t {
  kBadConfig,     // The detail says what to change.
  kInsecure,      // Another address than loopback without TLS.
  kCannotListen,  // The peer port is taken or not ours.
  kLocked,        // Another process has the directory.
  kCannotOpen,    // The operating system refuses the directory.
  kForeign,       // The directory is another node's.
  kDamaged,       // What the node must remember is gone.
};

// They outlive the member.
struct MemberParts {
  const base::Clock& clock;
  const base::Logger& logger;
};

class ClusterMember final : public server::LeaderFinder, public server::PeerHooks {
 public:
  // The config names a topology.
  [[nodiscard]] static base::Result<std::unique_ptr<ClusterMember>, MemberError> open(
      const ServerConfig& config, const MemberParts& parts);
  ~ClusterMember() override { disconnect(); }

  [[nodiscard]] const server::Topology& topology() const noexcept { return topology_; }
  [[nodiscard]] const server::TopologyNode& self() const noexcept { return *topology_.node(id_); }

  [[nodiscard]] EmbeddedReplication replication();
  // Refuses another topology than the one that the node began with (S-8). The coordination outlives the connection.
  [[nodiscard]] base::Result<void, MemberError> connect(EmbeddedCoordination& coordination,
                                                        const server::ListenAddress& address,
                                                        const std::optional<server::PeerTls>& tls,
                                                        server::PlainPolicy plain);
  // Before a stop: another voter leads, if this node did and one of them can, so that callers wait for no election.
  // Waits for at most `patience`.
  void hand_over(std::chrono::milliseconds patience);
  void disconnect();

  [[nodiscard]] server::LeaderRoute find_leader() const override;
  [[nodiscard]] const server::PeerCounters& peer_counters() const noexcept {
    return transport_->counters();
  }

  // ---- server/peer_hooks.h -------------------------------------------------------------------------

  [[nodiscard]] std::optional<log::Index> not_here(log::GroupId group,
                                                   log::NodeId from) const override;
  void on_not_here(log::NodeId from, log::GroupId group, log::Index configuration) override;
  void on_snapshot_report(log::NodeId from,
                          log::GroupId group,
                          const log::SnapshotReport& report) override;
  void on_address_hint(log::NodeId from, const log::NodeAddress& address) override;

 private:
  ClusterMember(server::Topology topology, const NodeSeal& seal, const MemberParts& parts);

  const server::Topology topology_;
  const log::NodeId id_;
  const NodeSeal seal_;
  const MemberParts parts_;
  base::OsSeededRandom random_;  // The transport's own, once it is started.
  client::AlarmTimer timer_;
  std::unique_ptr<server::GrpcPeerTransport> transport_;
  EmbeddedCoordination* coordination_ = nullptr;
  bool connected_ = false;
};

}  // namespace cadastre::node
