// EmbeddedCoordination: durable coordination in one directory and one process: the replicated backend on a
// log of its own.
//
//   auto coordination = CAD_TRY(EmbeddedCoordination::open({.directory = "data"}, clock, logger));
//   coordination->async().checkpoint(…);               // from any thread; completions on the log's
//   const auto facade = coordination->blocking();      // a facade that waits, for as many threads as call
//
//   DIR/LOCK             held by this process
//   DIR/log/             the log, group kCoordinationGroup
//   DIR/coord/snapshot   the newest snapshot (coord/replicated/snapshot_codec.h)
//
// Threads: the log's, and one that writes snapshots. Everything here is safe from any thread, but stop().

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/attributes.h"
#include "base/boot_clock.h"
#include "base/clock.h"
#include "base/directory_lock.h"
#include "base/logger.h"
#include "base/result.h"
#include "coord/async_backend.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/replicated/machine.h"
#include "coord/replicated/replicated_backend.h"
#include "coord/replicated/settings.h"
#include "coord/replicated/snapshot_store.h"
#include "log/disk_space.h"
#include "log/engine.h"
#include "log/group.h"
#include "log/group_status.h"
#include "log/metrics.h"
#include "log/settings.h"
#include "log/snapshotter.h"
#include "log/storage/records.h"
#include "log/transport.h"
#include "log/types.h"
#include "node/background_thread.h"
#include "node/leadership_watch.h"
#include "node/local_log.h"

namespace cadastre::node {

inline constexpr log::GroupId kCoordinationGroup{1};

enum class EmbeddedError : std::uint8_t {
  kCannotOpen,  // The operating system refuses: `detail` has its reason.
  kLocked,      // Another process has the directory: `detail` names it.
  kForeign,  // The directory holds something else, which stays as it is: choose another directory.
  kNewer,    // Written by a newer release: start that one.
  kDamaged,  // Synced bytes are missing or changed: `detail` says where. Restore a backup.
};

// A place among the nodes of a cluster.
struct EmbeddedReplication {
  log::NodeIdentity identity;
  log::GroupId group = kCoordinationGroup;
  std::vector<log::NodeId> founders = {};   // None: the node joins.
  std::uint64_t seed = 0;                   // Of election timeouts.
  std::uint64_t run = 0;                    // Another one for each process of the node.
  log::Transport* transport = nullptr;      // Outlives the coordination.
  log::Snapshotter* snapshotter = nullptr;  // The same. Without one nobody is fed by a snapshot.
  log::MembershipListener* membership = nullptr;  // The same.
  log::RaftSettings raft = {};
};

struct EmbeddedOptions {
  std::filesystem::path directory;  // Made if it is not there.
  // Written when the state is created. Whatever is there already keeps its own: configure() changes them.
  coord::replicated::Settings settings = {};
  std::uint64_t hash_seed = 0;  // Random in production; decides nothing that a caller sees.
  log::RetentionSettings retention = {};
  std::optional<EmbeddedReplication> replication = std::nullopt;  // Nothing: this disk alone.
};

class EmbeddedCoordination {
 public:
  // Recovers: the newest snapshot, the log above it; verifies every record. Clock and logger outlive it.
  [[nodiscard]] static base::Result<std::unique_ptr<EmbeddedCoordination>, EmbeddedError> open(
      const EmbeddedOptions& options, const base::Clock& clock, const base::Logger& logger);
  EmbeddedCoordination(const EmbeddedCoordination&) = delete;
  EmbeddedCoordination& operator=(const EmbeddedCoordination&) = delete;
  ~EmbeddedCoordination() { (void)stop(std::chrono::seconds(10)); }

  [[nodiscard]] coord::AsyncCoordinationFacade& async() noexcept CAD_LIFETIMEBOUND {
    return *backend_;
  }
  // Whether this node may answer: of a replicated group, whether it leads.
  [[nodiscard]] bool leads() const { return group_->status().role == log::Role::kLeader; }
  // Told whenever a replicated group is led by another node from now on (leadership_watch.h).
  void on_loss(std::function<void()> told) { leadership_->on_loss(std::move(told)); }
  // How much room the disk has, as whoever looks at it finds.
  void set_space(log::Space space) { log_->host().set_space(space); }
  // Where frames of other nodes go.
  [[nodiscard]] log::TransportSink& sink() noexcept CAD_LIFETIMEBOUND { return log_->host(); }

  // A peer says that this node has no business in the group, by that configuration (log/host.h).
  void not_wanted(const log::NotWanted& told) { log_->host().not_wanted(told); }

  // A facade that waits. It does not outlive this object; sessions of one thread need one of their own.
  [[nodiscard]] std::unique_ptr<coord::CoordinationFacade> blocking() CAD_LIFETIMEBOUND;

  // The largest `now` applied for the tenant; a server that stamps time for its clients never goes below.
  [[nodiscard]] coord::LogicalTime largest_now(const coord::TenantId& tenant) const {
    return machine_->largest_now(tenant);
  }
  [[nodiscard]] coord::replicated::Settings settings() const { return machine_->settings(); }
  // Waits. The settings are valid.
  [[nodiscard]] base::Result<void, coord::InfraError> configure(
      const coord::replicated::Settings& settings);

  // Forgets the runs that ended more than `retention` ticks before their tenant's largest `now`; 0: none. How many.
  // For a background thread, now and then: waits for the log, and asks of it nothing if there is nothing to do.
  [[nodiscard]] base::Result<std::size_t, coord::InfraError> collect_runs(std::uint64_t retention);

  [[nodiscard]] coord::replicated::Machine& machine() noexcept CAD_LIFETIMEBOUND {
    return *machine_;
  }
  [[nodiscard]] log::Group& group() noexcept CAD_LIFETIMEBOUND { return *group_; }
  [[nodiscard]] const log::NodeMetrics& log_metrics() const noexcept CAD_LIFETIMEBOUND {
    return log_->host().metrics();
  }

  // Refuses new operations, finishes those under way, and writes a snapshot if the next start would have much
  // to replay. False: something was still under way, and whoever waited for it is told so.
  bool stop(std::chrono::milliseconds patience);

 private:
  EmbeddedCoordination() = default;

  [[nodiscard]] base::Result<void, EmbeddedError> open_machine(const EmbeddedOptions& options,
                                                               const base::Logger& logger);
  [[nodiscard]] base::Result<void, EmbeddedError> open_log(const EmbeddedOptions& options,
                                                           const base::Clock& clock,
                                                           const base::Logger& logger);

  const base::SystemBootClock boot_clock_;
  std::optional<base::DirectoryLock> lock_;
  std::unique_ptr<coord::replicated::PosixSnapshotFiles> files_;
  std::unique_ptr<coord::replicated::SnapshotStore> store_;
  std::unique_ptr<BackgroundThread> background_;
  std::unique_ptr<coord::replicated::Machine> machine_;
  std::unique_ptr<LocalLog> log_;
  log::Group* group_ = nullptr;
  std::unique_ptr<coord::replicated::ReplicatedBackend> backend_;
  std::unique_ptr<LeadershipWatch> leadership_;  // Borrowed by the log, which stops first.
  std::optional<bool> stopped_;                  // What stop() said.
};

}  // namespace cadastre::node
