#include "tests/cluster/cluster_home.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/random.h"
#include "client/remote_coordination.h"
#include "coord/identity.h"
#include "coord/replicated/settings.h"
#include "log/address_book.h"
#include "log/engine.h"
#include "log/frame_bodies.h"
#include "log/group_status.h"
#include "log/propose.h"
#include "log/storage/directory_testing.h"
#include "log/types.h"
#include "node/alarm_thread.h"
#include "node/embedded_coordination.h"
#include "server/access.h"
#include "server/admission.h"
#include "server/claim_streams.h"
#include "server/current_access.h"
#include "server/grpc/grpc_server.h"
#include "server/grpc/peer_transport.h"
#include "server/leader_finder.h"
#include "server/limits.h"
#include "server/operation_metrics.h"
#include "server/peer_hooks.h"
#include "server/stamper.h"

namespace cadastre::cluster {
namespace {

constexpr log::ClusterId kCluster{7};
constexpr std::size_t kNodes = 3;
constexpr std::chrono::milliseconds kTick{10};
constexpr std::chrono::seconds kLeaderMax{30};

// Nobody is removed here, and nobody moves.
class NoHooks final : public server::PeerHooks {
 public:
  [[nodiscard]] bool has_group(log::GroupId /*group*/) const override { return true; }
  [[nodiscard]] std::optional<log::Index> not_here(log::GroupId /*group*/,
                                                   log::NodeId /*from*/) const override {
    return std::nullopt;
  }
  void on_not_here(log::NodeId /*from*/, log::GroupId /*group*/, log::Index /*index*/) override {}
  void on_snapshot_report(log::NodeId /*from*/,
                          log::GroupId /*group*/,
                          const log::SnapshotReport& /*report*/) override {}
  void on_address_hint(log::NodeId /*from*/, const log::NodeAddress& /*address*/) override {}
};

}  // namespace

class ClusterHome::Node final : public server::LeaderFinder {
 public:
  struct Parts {
    const base::Clock& clock;
    const base::Logger& logger;
    client::Timer& timer;
  };

  Node(log::NodeId id, const coord::replicated::Settings& settings, const Parts& parts)
      : id_(id),
        random_(id.value()),
        transport_({.self = {kCluster, id},
                    .incarnation = log::PeerIncarnation{1},
                    .clock = parts.clock,
                    .random = peer_random_,
                    .timer = parts.timer}),
        admission_(server::kCallsMax),
        access_(server::AccessTable::open_to_all()),
        alarm_(parts.clock) {
    node::EmbeddedReplication replication{.identity = {kCluster, id},
                                          .founders = {},
                                          .seed = id.value(),
                                          .run = 1,
                                          .transport = &transport_};
    replication.raft.tick = kTick;
    for (std::uint64_t node = 1; node <= kNodes; ++node)
      replication.founders.emplace_back(node);
    coordination_ = node::EmbeddedCoordination::open({.directory = directory_.path(),
                                                      .settings = settings,
                                                      .hash_seed = id.value(),
                                                      .replication = replication},
                                                     parts.clock, parts.logger)
                        .value();
    stamper_ = std::make_unique<server::Stamper>(
        parts.clock,
        [this](const coord::TenantId& tenant) { return coordination_->largest_now(tenant); });
    streams_ = std::make_unique<server::ClaimStreams>(
        server::ClaimStreamsParts{coordination_->async(), *stamper_, alarm_, random_});
    alarm_.start([this] { streams_->on_alarm(); });
    CAD_CHECK(transport_.start({.address = {}}, coordination_->sink(), hooks_).has_value(),
              "a node can listen");
    server_ =
        server::GrpcServer::start({.address = {}, .tls = {}}, {.backend = coordination_->async(),
                                                               .clock = parts.clock,
                                                               .stamper = *stamper_,
                                                               .access = access_,
                                                               .streams = *streams_,
                                                               .admission = admission_,
                                                               .metrics = metrics_,
                                                               .leader = this})
            .value();
  }
  ~Node() override {
    server_->stop(std::chrono::seconds(1));
    alarm_.stop();
    (void)coordination_->stop(std::chrono::seconds(1));
    transport_.stop();
    server_.reset();
    streams_.reset();
  }

  [[nodiscard]] std::string service() const { return fmt::format("127.0.0.1:{}", server_->port()); }
  [[nodiscard]] log::PeerAddress peer() const {
    return {id_, {fmt::format("127.0.0.1:{}", transport_.port()), service()}};
  }
  // Before any call.
  void meet(const std::vector<log::PeerAddress>& peers) {
    for (const log::PeerAddress& peer : peers)
      services_[peer.node] = peer.address.service;
    transport_.set_peers(peers);
  }
  [[nodiscard]] node::EmbeddedCoordination& coordination() noexcept { return *coordination_; }

  [[nodiscard]] server::LeaderRoute find_leader() const override {
    const log::GroupStatus status = coordination_->group().status();
    if (status.role == log::Role::kLeader) return {.where = server::LeaderRoute::Where::kHere};
    const auto found = services_.find(status.leader);
    if (found == services_.end() || status.leader == id_) return {};
    return {.where = server::LeaderRoute::Where::kThere, .address = found->second};
  }

 private:
  const log::NodeId id_;
  log::ScratchDirectory directory_{log::Medium::kMemory};
  base::SeededRandom random_;
  base::SeededRandom peer_random_{11};
  NoHooks hooks_;
  server::GrpcPeerTransport transport_;
  server::OperationMetrics metrics_;
  server::Admission admission_;
  server::CurrentAccess access_;
  node::AlarmThread alarm_;
  std::unique_ptr<node::EmbeddedCoordination> coordination_;
  std::unique_ptr<server::Stamper> stamper_;
  std::unique_ptr<server::ClaimStreams> streams_;
  std::unique_ptr<server::GrpcServer> server_;
  std::map<log::NodeId, std::string> services_;
};

ClusterHome::ClusterHome(const coord::replicated::Settings& settings) {
  std::vector<log::PeerAddress> peers;
  for (std::uint64_t id = 1; id <= kNodes; ++id) {
    nodes_.push_back(
        std::make_unique<Node>(log::NodeId{id}, settings, Node::Parts{clock_, logger_, timer_}));
    peers.push_back(nodes_.back()->peer());
  }
  for (const auto& node : nodes_)
    node->meet(peers);
  wait_for_leader();
}

ClusterHome::~ClusterHome() = default;

// All agree on one, and it has written the settings.
void ClusterHome::wait_for_leader() {
  const base::Elapsed began = clock_.elapsed();
  for (;;) {
    CAD_CHECK(clock_.elapsed() - began < kLeaderMax, "three nodes find a leader");
    std::size_t here = 0;
    std::size_t there = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto where = nodes_[i]->find_leader().where;
      there += where == server::LeaderRoute::Where::kThere ? 1 : 0;
      if (where != server::LeaderRoute::Where::kHere) continue;
      here += nodes_[i]->coordination().machine().configured() ? 1 : 0;
      leader_ = i;
    }
    if (here == 1 && there == kNodes - 1) return;
    // Answered by way of whoever leads, or not in time: then once more.
    std::promise<void> answered;
    nodes_.front()->coordination().group().read_barrier(
        log::ReadMode::kFollower, [&answered](const log::ReadAnswer&) { answered.set_value(); });
    answered.get_future().wait();
  }
}

node::EmbeddedCoordination& ClusterHome::coordination() noexcept {
  return nodes_[leader_]->coordination();
}

std::unique_ptr<client::RemoteCoordination> ClusterHome::connect() {
  const std::string address = nodes_[(leader_ + 1) % kNodes]->service();
  return client::RemoteCoordination::open({.address = address}, {clock_, client_random_, timer_})
      .value();
}

}  // namespace cadastre::cluster
