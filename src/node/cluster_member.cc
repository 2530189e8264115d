#include "node/cluster_member.h"

#include <algorithm>
#include <chrono>
#include <expected>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/directory_lock.h"
#include "base/logger.h"
#include "base/mutex.h"
#include "base/result.h"
#include "log/address_book.h"
#include "log/conf_context.h"
#include "log/conf_state.h"
#include "log/engine.h"
#include "log/frame_bodies.h"
#include "log/frame_codec.h"
#include "log/group.h"
#include "log/group_status.h"
#include "log/replica.h"
#include "log/storage/rocks_directory.h"
#include "log/types.h"
#include "node/background_thread.h"
#include "node/embedded_coordination.h"
#include "node/local_log.h"
#include "node/node_seal.h"
#include "node/server_config.h"
#include "server/grpc/peer_transport.h"
#include "server/leader_finder.h"
#include "server/listen_address.h"
#include "server/start_error.h"
#include "server/topology.h"

namespace cadastre::node {
namespace {

namespace fs = std::filesystem;

MemberError translated(SealError code) noexcept {
  switch (code) {
    case SealError::kForeign: return MemberError::kForeign;
    case SealError::kRefused: return MemberError::kBadConfig;
    case SealError::kDamaged: return MemberError::kDamaged;
    case SealError::kCannotIo: return MemberError::kCannotOpen;
  }
  return MemberError::kCannotOpen;
}

MemberError translated(server::StartError code) noexcept {
  switch (code) {
    case server::StartError::kBadAddress:
    case server::StartError::kBadTls: return MemberError::kBadConfig;
    case server::StartError::kNotLoopback: return MemberError::kInsecure;
    case server::StartError::kCannotListen: return MemberError::kCannotListen;
  }
  return MemberError::kBadConfig;
}

base::Result<server::Topology, MemberError> topology_of(const ServerConfig& config) {
  auto topology = server::read_topology(*config.topology);
  if (!topology) return base::fail(MemberError::kBadConfig, topology.error().detail);
  const log::NodeId id{config.node.value_or(0)};
  const server::TopologyNode* const self = topology->node(id);
  if (self == nullptr) {
    return base::fail(MemberError::kBadConfig,
                      fmt::format("{} has no node {}: give --node with one of its raft_ids",
                                  *config.topology, id.value()));
  }
  if (config.listen != ServerConfig{}.listen && config.listen != self->service_address) {
    return base::fail(MemberError::kBadConfig,
                      fmt::format("--listen is {}, and {} says {}: leave --listen out",
                                  config.listen, *config.topology, self->service_address));
  }
  if (!topology->group(topology->coordination)->learners.empty()) {
    return base::fail(MemberError::kBadConfig,
                      fmt::format("{} has learners: leave them out of the group and add them with "
                                  "`cadastre node add` once the cluster runs",
                                  *config.topology));
  }
  for (const server::TopologyGroup& group : topology->groups) {
    if (group.id == topology->coordination) continue;
    return base::fail(MemberError::kBadConfig,
                      fmt::format("group {} has nobody to run it: this release serves the "
                                  "coordination group, {}, alone",
                                  group.id.value(), topology->coordination.value()));
  }
  return *std::move(topology);
}

base::Result<StartMode, MemberError> mode_of(const ServerConfig& config) {
  if (config.bootstrap && config.join) {
    return base::fail(MemberError::kBadConfig,
                      "--bootstrap founds a cluster and --join adds to one: give one of them");
  }
  if (config.bootstrap) return StartMode::kBootstrap;
  return config.join ? StartMode::kJoin : StartMode::kRestart;
}

base::Result<base::DirectoryLock, MemberError> lock(const fs::path& directory) {
  auto locked =
      base::DirectoryLock::acquire((directory / "LOCK").string(), base::LockKind::kWriter);
  if (locked) return *std::move(locked);
  const base::LockRefused& why = locked.error();
  if (why.system_code == 0) {
    return base::fail(MemberError::kLocked,
                      fmt::format("{} is open in process {}", directory.string(), why.holder_pid));
  }
  return base::fail(MemberError::kCannotOpen,
                    directory.string() + ": " +
                        std::error_code(why.system_code, std::generic_category()).message());
}

template <class T, class Code>
base::Result<T, MemberError> passed_on(std::expected<T, base::Error<Code>> result) {
  if (!result) return base::fail(translated(result.error().code), std::move(result.error().detail));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return *std::move(result);
  }
}

// Begun, but perhaps without a log: makes one, and notes that from now on it must be there. No vote is given before.
base::Result<void, MemberError> found_log(const fs::path& directory,
                                          NodeSeal& seal,
                                          const MemberParts& parts) {
  CAD_TRY(passed_on(store_seal(directory, seal)));
  const auto made = LocalLog::open(
      {.directory = directory / "log", .identity = {seal.cluster, seal.node}, .appliers = 1},
      parts.clock, parts.logger);
  if (!made) return base::fail(MemberError::kCannotOpen, made.error().detail);
  seal.logged = true;
  return {};
}

// Whose log it says it is. What does not read is judged when the log is opened.
std::optional<log::NodeIdentity> owner_of(const fs::path& log_directory) {
  const auto named = log::read_node_file(log_directory);
  return named ? *named : std::nullopt;
}

// What this start may do, and the directory marked for it.
base::Result<NodeSeal, MemberError> sealed(const fs::path& directory,
                                           StartMode mode,
                                           const server::Topology& topology,
                                           log::NodeId node,
                                           const MemberParts& parts) {
  std::error_code code;
  fs::create_directories(directory, code);
  if (code) return base::fail(MemberError::kCannotOpen, directory.string() + ": " + code.message());
  const base::DirectoryLock held = CAD_TRY(lock(directory));
  const Found found {
    .seal = CAD_TRY(passed_on(load_seal(directory)))
    , .log = fs::exists(directory / "log" / "CURRENT", code), .owner = owner_of(directory / "log")
  };
  NodeSeal seal = CAD_TRY(passed_on(decide_start(found, mode, topology, node)));
  if (!seal.logged) CAD_TRY(found_log(directory, seal, parts));
  const bool began_with_it = seal.digest == topology.digest;
  if (began_with_it && !load_first_topology(directory, seal))
    CAD_TRY(passed_on(store_first_topology(directory, topology)));
  ++seal.starts;
  CAD_TRY(passed_on(store_seal(directory, seal)));
  return seal;
}

}  // namespace

base::Result<std::unique_ptr<ClusterMember>, MemberError> ClusterMember::open(
    const ServerConfig& config, const MemberParts& parts) {
  const StartMode mode = CAD_TRY(mode_of(config));
  server::Topology topology = CAD_TRY(topology_of(config));
  const log::NodeId node{config.node.value_or(0)};
  const NodeSeal seal = CAD_TRY(sealed(config.data, mode, topology, node, parts));
  std::unique_ptr<ClusterMember> member(new ClusterMember(std::move(topology), seal, parts));
  member->began_ = load_first_topology(config.data, seal);
  CAD_TRY(member->open_checkpoints(config));
  return member;
}

base::Result<void, MemberError> ClusterMember::open_checkpoints(const ServerConfig& config) {
  auto opened = server::CheckpointStore::open(
      {.directory = fs::path(config.data) / "checkpoints",
       .bytes_per_second = config.checkpoint_bytes_per_second,
       .space = config.space},
      {bulk_, transport_->checkpoint_source(), timer_, parts_.clock, &parts_.logger});
  if (!opened) return base::fail(MemberError::kCannotOpen, std::move(opened.error().detail));
  checkpoints_ = *std::move(opened);
  return {};
}

ClusterMember::ClusterMember(server::Topology topology,
                             const NodeSeal& seal,
                             const MemberParts& parts)
    : topology_(std::move(topology)),
      id_(seal.node),
      seal_(seal),
      parts_(parts),
      transport_(std::make_unique<server::GrpcPeerTransport>(
          server::PeerParts{.self = {seal.cluster, seal.node},
                            .incarnation = log::PeerIncarnation{seal.starts},
                            .clock = parts.clock,
                            .random = random_,
                            .timer = timer_,
                            .logger = &parts.logger})) {
  const base::MutexLock lock(mutex_);
  for (const server::TopologyNode& node : topology_.nodes)
    (void)book_.learn(log::AddressSource::kTopology,
                      {node.id, {node.peer_address, node.service_address}});
}

EmbeddedReplication ClusterMember::replication() {
  EmbeddedReplication replication{.identity = {seal_.cluster, seal_.node},
                                  .group = topology_.coordination,
                                  .seed = random_.next_u64(),
                                  .run = seal_.starts,
                                  .transport = transport_.get(),
                                  .snapshotter = checkpoints_.get(),
                                  .membership = this};
  if (seal_.beginning == Beginning::kFounder)
    replication.founders = topology_.group(topology_.coordination)->voters;
  return replication;
}

base::Result<void, MemberError> ClusterMember::connect(EmbeddedCoordination& coordination,
                                                       const server::ListenAddress& address,
                                                       const std::optional<server::PeerTls>& tls,
                                                       server::PlainPolicy plain) {
  const log::GroupStatus status = coordination.group().status();
  if (!status.halted.empty()) return base::fail(MemberError::kForeign, status.halted);
  const log::Index configuration = status.conf ? status.conf->index : log::Index{0};
  CAD_TRY(passed_on(check_topology(seal_, topology_, began_, configuration)));
  coordination_ = &coordination;
  CAD_TRY(passed_on(transport_->start(
      {.address = address,
       .tls = tls,
       .plain = plain,
       .checkpoints = checkpoints_.get(),
       .announced = log::NodeAddress{self().peer_address, self().service_address}},
      coordination.sink(), *this)));
  connected_ = true;
  {
    const base::MutexLock lock(mutex_);
    updates_ = std::make_unique<BackgroundThread>();
    update_later();  // On that thread alone: an older list must not come behind a newer one.
  }
  return {};
}

void ClusterMember::follow_addresses() {
  std::vector<log::PeerAddress> peers;
  {
    const base::MutexLock lock(mutex_);
    update_waits_ = false;
    peers = book_.all();
  }
  transport_->set_peers(peers);
}

std::optional<log::NodeAddress> ClusterMember::address_of(log::NodeId node) const {
  const base::MutexLock lock(mutex_);
  return book_.find(node);
}

// Addresses of who has left stay known while the process lives: whoever missed its removal is told by them.
void ClusterMember::on_membership(log::GroupId group,
                                  const std::shared_ptr<const log::ConfRecord>& conf) {
  if (group != topology_.coordination || conf == nullptr) return;
  log::ConfContext context = log::context_of(*conf);
  const base::MutexLock lock(mutex_);
  membership_ = {conf->index, std::move(context.removed)};
  bool moved = false;
  for (const log::PeerAddress& address : context.addresses)
    moved = book_.learn(log::AddressSource::kConfiguration, address) || moved;
  if (moved) update_later();
}

void ClusterMember::update_later() {
  if (updates_ == nullptr || std::exchange(update_waits_, true)) return;
  updates_->run([this] { follow_addresses(); });
}

void ClusterMember::hand_over(std::chrono::milliseconds patience) {
  if (!connected_ || !coordination_->leads()) return;
  log::Group& group = coordination_->group();
  const auto conf = group.status().conf;
  const base::Elapsed deadline = parts_.clock.elapsed() + patience;
  for (const log::NodeId to : conf->conf.voters) {
    if (to == id_) continue;
    const auto told = std::make_shared<std::promise<bool>>();
    auto answer = told->get_future();
    group.transfer_leadership(to, {}, [told](const base::Result<void, log::TransferError>& done) {
      told->set_value(done.has_value());
    });
    if (answer.wait_for(deadline - parts_.clock.elapsed()) != std::future_status::ready) return;
    if (answer.get()) return parts_.logger.info("leadership handed over", {{"to", to.value()}});
  }
}

void ClusterMember::disconnect() {
  if (!std::exchange(connected_, false)) return;
  std::unique_ptr<BackgroundThread> updates;
  {
    const base::MutexLock lock(mutex_);
    updates = std::move(updates_);
  }
  updates.reset();
  checkpoints_->stop();
  transport_->stop();
}

server::LeaderRoute ClusterMember::find_leader() const {
  using Where = server::LeaderRoute::Where;
  const log::GroupStatus status = coordination_->group().status();
  if (status.role == log::Role::kLeader) return {.where = Where::kHere};
  if (status.leader == log::kNoNode || status.leader == id_) return {};
  const auto leader = address_of(status.leader);
  if (!leader || leader->service.empty()) return {};
  return {.where = Where::kThere, .address = leader->service};
}

bool ClusterMember::has_group(log::GroupId group) const {
  return group == topology_.coordination;
}

std::optional<log::Index> ClusterMember::not_here(log::GroupId /*group*/, log::NodeId from) const {
  const base::MutexLock lock(mutex_);
  if (!std::ranges::binary_search(membership_.removed, from)) return std::nullopt;
  return membership_.index;
}

bool ClusterMember::may_tell_of(log::NodeId peer) {
  const base::MutexLock lock(mutex_);
  return lines_.due(peer, parts_.clock.elapsed());
}

void ClusterMember::on_not_here(log::NodeId from, log::GroupId group, log::Index configuration) {
  if (may_tell_of(from)) {
    parts_.logger.warn("a node does not know this one in a group",
                       {{"node", from.value()},
                        {"group", group.value()},
                        {"configuration", configuration.value()}});
  }
  coordination_->not_wanted({group, from, configuration});
}

void ClusterMember::on_snapshot_report(log::NodeId from,
                                       log::GroupId group,
                                       const log::SnapshotReport& report) {
  if (may_tell_of(from)) {
    parts_.logger.info("a node tells of its snapshot", {{"node", from.value()},
                                                        {"group", group.value()},
                                                        {"index", report.index.value()},
                                                        {"installed", report.installed}});
  }
  coordination_->sink().on_snapshot_report(from, group, report);
}

void ClusterMember::on_address_hint(log::NodeId from, const log::NodeAddress& address) {
  {
    const base::MutexLock lock(mutex_);
    if (!book_.learn(log::AddressSource::kNodeItself, {from, address})) return;
    update_later();
  }
  if (may_tell_of(from)) {
    parts_.logger.info("a node tells where it is",
                       {{"node", from.value()}, {"peer", address.peer}});
  }
}

}  // namespace cadastre::node
