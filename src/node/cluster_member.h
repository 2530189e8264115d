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
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "client/alarm_timer.h"
#include "log/address_book.h"
#include "log/conf_state.h"
#include "log/frame_bodies.h"
#include "log/group_status.h"
#include "log/peer_pacing.h"
#include "log/types.h"
#include "node/background_thread.h"
#include "node/bulk_threads.h"
#include "node/embedded_coordination.h"
#include "node/node_seal.h"
#include "node/server_config.h"
#include "server/checkpoint_store.h"
#include "server/grpc/peer_transport.h"
#include "server/http/metrics_page.h"
#include "server/leader_finder.h"
#include "server/peer_hooks.h"
#include "server/peer_limits.h"
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

class ClusterMember final : public server::LeaderFinder,
                            public server::PeerHooks,
                            public log::MembershipListener {
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
  // Where a node is to be found, as far as is known here.
  [[nodiscard]] std::optional<log::NodeAddress> address_of(log::NodeId node) const
      CAD_EXCLUDES(mutex_);
  [[nodiscard]] server::ClusterSources metrics() const {
    return {transport_->counters(), checkpoints_->counters(), checkpoints_->pinned_bytes()};
  }

  // ---- log/group_status.h --------------------------------------------------------------------------

  // Where joiners are, and who has left.
  void on_membership(log::GroupId group,
                     const std::shared_ptr<const log::ConfRecord>& conf) override
      CAD_EXCLUDES(mutex_);

  // ---- server/peer_hooks.h -------------------------------------------------------------------------

  [[nodiscard]] bool has_group(log::GroupId group) const override;
  [[nodiscard]] std::optional<log::Index> not_here(log::GroupId group,
                                                   log::NodeId from) const override
      CAD_EXCLUDES(mutex_);
  void on_not_here(log::NodeId from, log::GroupId group, log::Index configuration) override;
  void on_snapshot_report(log::NodeId from,
                          log::GroupId group,
                          const log::SnapshotReport& report) override;
  void on_address_hint(log::NodeId from, const log::NodeAddress& address) override
      CAD_EXCLUDES(mutex_);

 private:
  ClusterMember(server::Topology topology, const NodeSeal& seal, const MemberParts& parts);

  // Lines about what a peer tells: a peer may tell as often as it likes.
  [[nodiscard]] bool may_tell_of(log::NodeId peer) CAD_EXCLUDES(mutex_);
  // On the thread of updates: streams to where the peers are now.
  void follow_addresses() CAD_EXCLUDES(mutex_);
  void update_later() CAD_REQUIRES(mutex_);
  [[nodiscard]] base::Result<void, MemberError> open_checkpoints(const ServerConfig& config);

  const server::Topology topology_;
  const log::NodeId id_;
  const NodeSeal seal_;
  std::optional<server::Topology> began_;  // With which the node began; set before it is connected.
  const MemberParts parts_;
  base::OsSeededRandom random_;  // The transport's own, once it is started.
  client::AlarmTimer timer_;
  BulkThreads bulk_;
  std::unique_ptr<server::GrpcPeerTransport> transport_;
  std::unique_ptr<server::CheckpointStore> checkpoints_;  // Of this node and on their way to it.
  EmbeddedCoordination* coordination_ = nullptr;
  bool connected_ = false;

  struct Membership {
    log::Index index = {};
    std::vector<log::NodeId> removed = {};  // Ascending.
  };
  mutable base::Mutex mutex_;
  log::AddressBook book_ CAD_GUARDED_BY(mutex_);
  Membership membership_ CAD_GUARDED_BY(mutex_);
  log::Pacer<log::NodeId> lines_ CAD_GUARDED_BY(mutex_){server::kToldLineEvery, log::kPeersMax};
  bool update_waits_ CAD_GUARDED_BY(mutex_) = false;
  std::unique_ptr<BackgroundThread> updates_ CAD_GUARDED_BY(mutex_);  // While it is connected.
};

}  // namespace cadastre::node
