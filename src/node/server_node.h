// ServerNode: a whole server in this process: a data directory with its lock, embedded coordination on
// it, gRPC and HTTP in front, and a background thread that forgets old runs.
//
//   auto node = CAD_TRY(ServerNode::start(config, {clock, logger}));
//   print(node->grpc_address(), node->http_address());      // ready
//   …until a signal…
//   node->stop();                                            // within the patiences below, about
//
// Order: what stands in front starts last and stops first. While it stops, calls under way are finished or
// refused, streams are ended, shards that were claimed for callers who got no answer are given back, and
// the log is synced; then the directory is free.
//
// start(), reload() and stop() on one thread; the rest takes care of itself. A disk that hangs hangs stop() as
// well: whoever calls it sees to an end after kStopMax (exit_watch.h).

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "base/signal.h"
#include "node/alarm_thread.h"
#include "node/cluster_member.h"
#include "node/embedded_coordination.h"
#include "node/server_config.h"
#include "node/space_watch.h"
#include "server/access.h"
#include "server/admin_handlers.h"
#include "server/admission.h"
#include "server/claim_streams.h"
#include "server/current_access.h"
#include "server/grpc/grpc_server.h"
#include "server/http/http_server.h"
#include "server/operation_metrics.h"
#include "server/stamper.h"

namespace cadastre::node {

enum class ServerError : std::uint8_t {
  kBadConfig,     // The detail says what to change.
  kInsecure,      // An address other than loopback without TLS; or a secret that others may read.
  kCannotListen,  // A port is taken or not ours.
  kLocked,        // Another process has the directory: the detail names it.
  kCannotOpen,    // The operating system refuses the directory.
  kForeign,       // The directory holds something else.
  kNewer,         // Written by a newer release: start that one.
  kDamaged,       // Restore a backup.
};

struct ServerNodeParts {
  const base::Clock& clock;
  const base::Logger& logger;
};

class ServerNode {
 public:
  // R-27 gives ten seconds for all of it.
  static constexpr std::chrono::milliseconds kHandOverPatience{1'000};
  static constexpr std::chrono::milliseconds kCallsPatience{2'500};
  static constexpr std::chrono::milliseconds kLogPatience{4'000};
  static constexpr std::chrono::milliseconds kStopMax{9'500};  // then whoever stops it gives up
  static_assert(kHandOverPatience + kCallsPatience + kLogPatience < std::chrono::seconds(8),
                "closing files and joining threads gets its share of the ten seconds");
  static_assert(kStopMax < std::chrono::seconds(10), "the process still has to end");

  // The parts outlive it. Ready when it returns.
  [[nodiscard]] static base::Result<std::unique_ptr<ServerNode>, ServerError> start(
      const ServerConfig& config, const ServerNodeParts& parts);
  ServerNode(const ServerNode&) = delete;
  ServerNode& operator=(const ServerNode&) = delete;
  ~ServerNode() { (void)stop(); }

  [[nodiscard]] const std::string& grpc_address() const noexcept { return grpc_address_; }
  [[nodiscard]] const std::string& http_address() const noexcept { return http_address_; }

  // Reads the token file again. A file that cannot be used changes nothing; the log says what is wrong with it.
  void reload();

  // Once or more. False: something was still under way when the patience ended; whoever waited for it was
  // told so, and what was acknowledged is kept.
  bool stop();

 private:
  enum class Phase : std::uint8_t {
    kOpening,
    kReady,
    kStopping
  };

  explicit ServerNode(const ServerNodeParts& parts);

  [[nodiscard]] base::Result<server::AccessTable, ServerError> read_access() const;
  [[nodiscard]] base::Result<void, ServerError> start_http(const ServerConfig& config);
  [[nodiscard]] base::Result<void, ServerError> open_coordination(const ServerConfig& config);
  [[nodiscard]] base::Result<void, ServerError> join_cluster(const ServerConfig& config);
  [[nodiscard]] base::Result<void, ServerError> start_grpc(const ServerConfig& config);
  void keep_house_until_stopped(std::chrono::milliseconds retention);
  void forget_old_runs(std::chrono::milliseconds retention);
  [[nodiscard]] server::HttpAnswer metrics_answer() const;
  // The standard health service says what /readyz says, soon after it.
  void show_health() CAD_EXCLUDES(health_mutex_);
  [[nodiscard]] server::HttpAnswer ready_answer() const;
  [[nodiscard]] server::HttpAnswer log_answer() const;
  [[nodiscard]] server::HttpAnswer group_answer(const server::HttpRequest& request) const;
  [[nodiscard]] server::HttpAnswer entries_answer(const server::HttpRequest& request) const;
  [[nodiscard]] log::NodeId self() const;

  const ServerNodeParts parts_;
  base::OsSeededRandom random_;
  std::atomic<Phase> phase_{Phase::kOpening};
  base::Mutex health_mutex_;  // Between a look at the phase and what is said of it.
  server::OperationMetrics metrics_;
  server::Admission admission_;
  std::optional<std::string> token_file_;
  std::unique_ptr<server::CurrentAccess> access_;
  std::unique_ptr<ClusterMember> member_;  // Nothing: a server on its own.
  std::unique_ptr<EmbeddedCoordination> coordination_;
  std::unique_ptr<SpaceWatch> space_;
  std::unique_ptr<server::Stamper> stamper_;
  std::unique_ptr<AlarmThread> alarm_;
  std::unique_ptr<server::ClaimStreams> streams_;
  std::optional<server::AdminGroup> admin_;  // Of a node of a cluster.
  std::unique_ptr<server::GrpcServer> grpc_;
  std::unique_ptr<server::HttpServer> http_;
  std::string grpc_address_;
  std::string http_address_;
  base::Signal background_signal_;
  std::atomic<bool> background_ending_{false};
  std::jthread http_thread_;
  std::jthread background_thread_;
};

}  // namespace cadastre::node
