#include "node/server_node.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/logger.h"
#include "base/random.h"
#include "base/result.h"
#include "client/remote_coordination.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/memory/memory_backend.h"
#include "coord/states.h"
#include "log/group.h"
#include "log/group_detail.h"
#include "log/group_status.h"
#include "log/raft/open_raft_engine.h"
#include "log/storage.h"
#include "log/types.h"
#include "node/alarm_thread.h"
#include "node/cluster_member.h"
#include "node/embedded_coordination.h"
#include "node/log_page.h"
#include "node/ready_page.h"
#include "node/server_config.h"
#include "server/access.h"
#include "server/admin_handlers.h"
#include "server/claim_streams.h"
#include "server/current_access.h"
#include "server/grpc/grpc_server.h"
#include "server/grpc/peer_transport.h"
#include "server/http/http_server.h"
#include "server/http/metrics_page.h"
#include "server/leader_finder.h"
#include "server/limits.h"
#include "server/listen_address.h"
#include "server/private_file.h"
#include "server/stamper.h"
#include "server/start_error.h"

namespace cadastre::node {
namespace {

// How often runs are looked for that are old enough to go.
constexpr std::chrono::seconds kCollectEvery{60};
// How often the disk is looked at.
constexpr std::chrono::seconds kLookEvery{1};
// How long a start waits for its HTTP thread to listen.
constexpr std::chrono::milliseconds kHttpStartMax{5'000};

// How long a page waits for the log thread.
constexpr std::chrono::milliseconds kLookPatience{1'000};

// Nothing: the log thread does not answer.
std::optional<log::GroupDetail> look_into(log::Group& group) {
  auto told = std::make_shared<std::promise<std::optional<log::GroupDetail>>>();
  auto answer = told->get_future();
  group.inspect(
      [told](std::optional<log::GroupDetail> detail) { told->set_value(std::move(detail)); });
  if (answer.wait_for(kLookPatience) != std::future_status::ready) return std::nullopt;
  return answer.get();
}

ServerError translated(EmbeddedError code) noexcept {
  switch (code) {
    case EmbeddedError::kCannotOpen: return ServerError::kCannotOpen;
    case EmbeddedError::kLocked: return ServerError::kLocked;
    case EmbeddedError::kForeign: return ServerError::kForeign;
    case EmbeddedError::kNewer: return ServerError::kNewer;
    case EmbeddedError::kDamaged: return ServerError::kDamaged;
  }
  return ServerError::kCannotOpen;
}

ServerError translated(server::StartError code) noexcept {
  switch (code) {
    case server::StartError::kBadAddress:
    case server::StartError::kBadTls: return ServerError::kBadConfig;
    case server::StartError::kNotLoopback: return ServerError::kInsecure;
    case server::StartError::kCannotListen: return ServerError::kCannotListen;
  }
  return ServerError::kBadConfig;
}

ServerError translated(MemberError code) noexcept {
  switch (code) {
    case MemberError::kBadConfig: return ServerError::kBadConfig;
    case MemberError::kInsecure: return ServerError::kInsecure;
    case MemberError::kCannotListen: return ServerError::kCannotListen;
    case MemberError::kLocked: return ServerError::kLocked;
    case MemberError::kCannotOpen: return ServerError::kCannotOpen;
    case MemberError::kForeign: return ServerError::kForeign;
    case MemberError::kDamaged: return ServerError::kDamaged;
  }
  return ServerError::kCannotOpen;
}

ServerError translated(server::TokenFileError code) noexcept {
  return code == server::TokenFileError::kExposed ? ServerError::kInsecure
                                                  : ServerError::kBadConfig;
}

ServerError translated(server::PrivateFileError code) noexcept {
  return code == server::PrivateFileError::kExposed ? ServerError::kInsecure
                                                    : ServerError::kBadConfig;
}

template <class T, class Code>
base::Result<T, ServerError> passed_on(std::expected<T, base::Error<Code>> result) {
  if (!result) return base::fail(translated(result.error().code), std::move(result.error().detail));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return *std::move(result);
  }
}

// Certificate and key go together; a client CA needs both.
base::Result<std::optional<server::TlsMaterial>, ServerError> read_tls(const ServerConfig& config) {
  if (config.tls_cert.has_value() != config.tls_key.has_value() ||
      (config.tls_client_ca && !config.tls_cert)) {
    return base::fail(ServerError::kBadConfig,
                      "--tls-cert and --tls-key go together; --tls-client-ca needs both");
  }
  if (!config.tls_cert) return std::nullopt;
  server::TlsMaterial tls;
  tls.certificate_chain = CAD_TRY(
      passed_on(server::read_public_file(config.tls_cert->c_str(), server::kPemFileBytesMax)));
  tls.private_key = CAD_TRY(
      passed_on(server::read_private_file(config.tls_key->c_str(), server::kPemFileBytesMax)));
  if (config.tls_client_ca) {
    tls.client_ca = CAD_TRY(passed_on(
        server::read_public_file(config.tls_client_ca->c_str(), server::kPemFileBytesMax)));
  }
  return tls;
}

// What nodes show each other: the server's certificate, and the authority of both.
base::Result<std::optional<server::PeerTls>, ServerError> read_peer_tls(
    const ServerConfig& config) {
  const auto tls = CAD_TRY(read_tls(config));
  if (!tls) return std::nullopt;
  if (!tls->client_ca) {
    return base::fail(ServerError::kBadConfig,
                      "nodes of a cluster show each other their certificates: give "
                      "--tls-client-ca, the authority of all of them");
  }
  return server::PeerTls{*tls->client_ca, tls->certificate_chain, tls->private_key};
}

server::PlainPolicy plain_of(const ServerConfig& config) noexcept {
  return config.insecure ? server::PlainPolicy::kAnywhere : server::PlainPolicy::kLoopbackOnly;
}

base::Result<server::ListenAddress, ServerError> address_of(const std::string& text,
                                                            const ServerConfig& config) {
  auto address = CAD_TRY(passed_on(server::parse_listen_address(text)));
  const auto transport = config.tls_cert ? server::Transport::kTls : server::Transport::kPlain;
  CAD_TRY(passed_on(server::may_listen(address, transport, plain_of(config))));
  return address;
}

}  // namespace

ServerNode::ServerNode(const ServerNodeParts& parts)
    : parts_(parts), admission_(server::kCallsMax) {}

base::Result<std::unique_ptr<ServerNode>, ServerError> ServerNode::start(
    const ServerConfig& config, const ServerNodeParts& parts) {
  std::unique_ptr<ServerNode> node(new ServerNode(parts));
  node->token_file_ = config.token_file;
  node->access_ = std::make_unique<server::CurrentAccess>(CAD_TRY(node->read_access()));
  CAD_TRY(node->start_http(config));  // First, so that it can say that the rest is still opening.
  CAD_TRY(node->open_coordination(config));
  if (config.topology) CAD_TRY(node->join_cluster(config));
  CAD_TRY(node->start_grpc(config));
  node->phase_.store(Phase::kReady);
  node->show_health();
  const std::chrono::milliseconds retention = config.terminal_runs_kept;
  node->background_thread_ =
      std::jthread([raw = node.get(), retention] { raw->keep_house_until_stopped(retention); });
  return node;
}

base::Result<void, ServerError> ServerNode::start_http(const ServerConfig& config) {
  server::HttpOptions options {
    .address = CAD_TRY(address_of(config.http, config))
    , .tls = {}
  };
  if (config.tls_cert && config.tls_key && !server::is_loopback(options.address))
    options.tls = server::HttpTls{*config.tls_cert, *config.tls_key, config.tls_client_ca};
  std::vector<server::HttpPage> pages;
  using Request = server::HttpRequest;
  pages.push_back({"/healthz", [](const Request&) {
                     return server::HttpAnswer{200, "text/plain", "ok\n"};
                   }});
  pages.push_back({"/readyz", [this](const Request&) {
                     return ready_answer();
                   }});
  pages.push_back({"/metrics", [this](const Request&) {
                     return metrics_answer();
                   }});
  pages.push_back({"/debug/log", [this](const Request&) {
                     return log_answer();
                   }});
  pages.push_back({"/debug/log/*", [this](const Request& request) {
                     return group_answer(request);
                   }});
  pages.push_back({"/debug/log/*/entries", [this](const Request& request) {
                     return entries_answer(request);
                   }});
  http_ = CAD_TRY(passed_on(server::HttpServer::bind(options, std::move(pages))));
  http_address_ = to_text(server::ListenAddress{options.address.host, http_->port()});
  http_thread_ = std::jthread([this] { http_->serve(); });
  // A stop that comes before it listens would not be heard.
  const base::Elapsed began = parts_.clock.elapsed();
  while (!http_->is_serving()) {
    if (parts_.clock.elapsed() - began > kHttpStartMax)
      return base::fail(ServerError::kCannotListen, "HTTP does not begin to listen");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

base::Result<void, ServerError> ServerNode::open_coordination(const ServerConfig& config) {
  EmbeddedOptions options{
      .directory = config.data, .hash_seed = random_.next_u64(), .retention = config.log_retention};
  if (config.topology && !log::has_raft_engine()) {  // L-29
    return base::fail(
        ServerError::kBadConfig,
        "this build has no raft engine (`cadastre --version` says why), and a node of a "
        "cluster needs it: take a build that has one, or serve without --topology");
  }
  if (config.topology) {
    member_ = CAD_TRY(passed_on(ClusterMember::open(config, {parts_.clock, parts_.logger})));
    options.replication = member_->replication();
    options.replication->raft.lease_reads = config.lease_reads;
  } else if (config.node || config.bootstrap || config.join) {
    return base::fail(ServerError::kBadConfig, "--node, --bootstrap and --join need --topology");
  }
  coordination_ =
      CAD_TRY(passed_on(EmbeddedCoordination::open(options, parts_.clock, parts_.logger)));
  space_ =
      std::make_unique<SpaceWatch>(config.data, config.space, parts_.logger,
                                   [this](log::Space space) { coordination_->set_space(space); });
  space_->look();
  stamper_ = std::make_unique<server::Stamper>(parts_.clock, [this](const coord::TenantId& tenant) {
    return coordination_->largest_now(tenant);
  });
  alarm_ = std::make_unique<AlarmThread>(parts_.clock);
  streams_ = std::make_unique<server::ClaimStreams>(
      server::ClaimStreamsParts{coordination_->async(), *stamper_, *alarm_, random_});
  alarm_->start([this] { streams_->on_alarm(); });
  coordination_->on_loss([this] { streams_->send_away(); });
  return {};
}

base::Result<void, ServerError> ServerNode::join_cluster(const ServerConfig& config) {
  const auto address = CAD_TRY(address_of(member_->self().peer_address, config));
  const auto tls = CAD_TRY(read_peer_tls(config));
  return passed_on(member_->connect(*coordination_, address, tls, plain_of(config)));
}

base::Result<void, ServerError> ServerNode::start_grpc(const ServerConfig& config) {
  server::GrpcOptions options {
    .address =
        CAD_TRY(address_of(member_ ? member_->self().service_address : config.listen, config))
    , .tls = CAD_TRY(read_tls(config))
  };
  if (member_ && options.tls) {
    options.forward_tls = client::TlsOptions{.authority = options.tls->client_ca.value_or(""),
                                             .certificate = options.tls->certificate_chain,
                                             .key = options.tls->private_key};
  }
  if (member_) {
    admin_.emplace(server::AdminGroup{.group = coordination_->group(),
                                      .cluster = member_->topology().cluster,
                                      .self = member_->self().id,
                                      .address_of = [this](log::NodeId node) {
                                        return member_->address_of(node);
                                      }});
    options.admin = &*admin_;
  }
  grpc_ = CAD_TRY(passed_on(server::GrpcServer::start(options, {.backend = coordination_->async(),
                                                                .clock = parts_.clock,
                                                                .stamper = *stamper_,
                                                                .access = *access_,
                                                                .streams = *streams_,
                                                                .admission = admission_,
                                                                .metrics = metrics_,
                                                                .leader = member_.get()})));
  grpc_address_ = to_text(server::ListenAddress{options.address.host, grpc_->port()});
  return {};
}

void ServerNode::keep_house_until_stopped(std::chrono::milliseconds retention) {
  base::Elapsed collect_at = parts_.clock.elapsed();
  while (!background_ending_.load()) {
    space_->look();
    show_health();
    if (parts_.clock.elapsed() >= collect_at) {
      forget_old_runs(retention);
      collect_at = parts_.clock.elapsed() + kCollectEvery;
    }
    if (background_ending_.load()) return;
    background_signal_.wait_for(kLookEvery);
  }
}

void ServerNode::forget_old_runs(std::chrono::milliseconds retention) {
  if (!coordination_->leads()) return;
  const auto collected = coordination_->collect_runs(static_cast<std::uint64_t>(retention.count()));
  if (!collected) {
    parts_.logger.warn("old runs were not forgotten", {{"reason", collected.error().message}});
  } else if (*collected > 0) {
    parts_.logger.info("old runs forgotten", {{"runs", *collected}});
  }
}

void ServerNode::show_health() {
  const base::MutexLock lock(health_mutex_);  // A look from before the stop is shown before it.
  grpc_->set_serving(ready_answer().status == 200);
}

server::HttpAnswer ServerNode::ready_answer() const {
  switch (phase_.load()) {
    case Phase::kOpening: return {503, "text/plain", "opening\n"};
    case Phase::kReady:
      return ready_page({.halted = coordination_->group().status().halted,
                         .has_leader = !member_ || member_->find_leader().where !=
                                                       server::LeaderRoute::Where::kUnknown,
                         .space = space_->space()});
    case Phase::kStopping: break;
  }
  return {503, "text/plain", "stopping\n"};
}

log::NodeId ServerNode::self() const {
  return member_ ? member_->self().id : log::kNoNode;
}

server::HttpAnswer ServerNode::log_answer() const {
  if (phase_.load() != Phase::kReady) return ready_answer();
  log::Group& group = coordination_->group();
  return {200, "application/json", group_line(group.id(), self(), group.status())};
}

server::HttpAnswer ServerNode::group_answer(const server::HttpRequest& request) const {
  if (phase_.load() != Phase::kReady) return ready_answer();
  log::Group& group = coordination_->group();
  if (const auto asks = asks_about(request, group.id()); !asks) return refusal(asks.error());
  const auto detail = look_into(group);
  if (!detail) return {503, "text/plain", "the log thread does not answer\n"};
  return {200, "application/json", group_page(group.id(), self(), group.status(), *detail)};
}

server::HttpAnswer ServerNode::entries_answer(const server::HttpRequest& request) const {
  if (phase_.load() != Phase::kReady) return ready_answer();
  log::Group& group = coordination_->group();
  if (const auto asks = asks_about(request, group.id()); !asks) return refusal(asks.error());
  const auto asked = asked_entries(request, group.status().truncated);
  if (!asked) return refusal(asked.error());
  const auto entries = group.list_entries(asked->from, asked->count);
  if (!entries) {
    const int status = entries.error().code == log::LogReadError::kGone ? 404 : 500;
    return {status, "text/plain", entries.error().detail + "\n"};
  }
  return {200, "application/x-ndjson", entries_page(*entries)};
}

server::HttpAnswer ServerNode::metrics_answer() const {
  // What is not there yet, or about to go, has no figures.
  if (phase_.load() != Phase::kReady) return ready_answer();
  const coord::memory::Totals totals = coordination_->machine().read(
      [](const coord::memory::MemoryBackend& records) { return records.totals(); });
  const auto runs = [&totals](coord::RunStatus status) {
    return totals.runs[static_cast<std::size_t>(status)];
  };
  server::CoordinationGauges gauges{
      .runs_initializing = runs(coord::RunStatus::kInitializing),
      .runs_active = runs(coord::RunStatus::kActive),
      .runs_ended = runs(coord::RunStatus::kDone) + runs(coord::RunStatus::kFailed) +
                    runs(coord::RunStatus::kCancelled),
      .leases = totals.leased,
  };
  for (const std::uint64_t count : totals.shards)
    gauges.shards += count;
  const log::GroupStatus status = coordination_->group().status();
  std::optional<server::ClusterSources> cluster;
  if (member_) cluster.emplace(member_->metrics());
  return {
      200, "text/plain; version=0.0.4",
      server::metrics_page({.operations = metrics_,
                            .calls_under_way = admission_.calls(),
                            .claim_streams = streams_->size(),
                            .coordination = gauges,
                            .node_log = &coordination_->log_metrics(),
                            .group = coordination_->group().id(),
                            .group_log = &coordination_->group().metrics(),
                            .group_status = &status,
                            .cluster = cluster ? &*cluster : nullptr,
                            .disk = server::DiskGauges{space_->space(), space_->free_bytes()}})};
}

base::Result<server::AccessTable, ServerError> ServerNode::read_access() const {
  if (!token_file_) return server::AccessTable::open_to_all();
  base::OsSeededRandom random;
  return passed_on(server::read_token_file(token_file_->c_str(), random));
}

void ServerNode::reload() {
  if (!token_file_) return parts_.logger.info("there is no token file to read again");
  auto table = read_access();
  if (!table) {
    return parts_.logger.error("the tokens stay as they were", {{"reason", table.error().detail}});
  }
  const std::size_t tokens = table->size();
  access_->replace(*std::move(table));
  parts_.logger.info("tokens read again", {{"tokens", tokens}});
}

bool ServerNode::stop() {
  {
    const base::MutexLock lock(health_mutex_);
    phase_.store(Phase::kStopping);
  }
  if (member_) member_->hand_over(kHandOverPatience);
  if (grpc_) grpc_->stop(kCallsPatience);
  background_ending_.store(true);
  background_signal_.raise();
  if (background_thread_.joinable()) background_thread_.join();
  if (alarm_) alarm_->stop();
  bool clean = true;
  if (coordination_) clean = coordination_->stop(kLogPatience);
  if (member_) member_->disconnect();  // Nothing is sent any more, and now nothing received.
  grpc_.reset();                       // Every call has its answer by now.
  if (http_) http_->stop();
  if (http_thread_.joinable()) http_thread_.join();
  http_.reset();
  if (coordination_) coordination_->on_loss({});
  streams_.reset();
  coordination_.reset();
  member_.reset();
  return clean;
}

}  // namespace cadastre::node
