#include "node/embedded_coordination.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/directory_lock.h"
#include "base/logger.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/replicated/machine.h"
#include "coord/replicated/replicated_backend.h"
#include "coord/replicated/settings.h"
#include "coord/replicated/snapshot_store.h"
#include "coord/sync_over_async.h"
#include "log/host.h"
#include "log/storage.h"
#include "log/types.h"
#include "node/background_thread.h"
#include "node/leadership_watch.h"
#include "node/local_log.h"
#include "node/node_seal.h"

namespace cadastre::node {
namespace {

namespace replicated = coord::replicated;

constexpr std::string_view kLockName = "LOCK";
constexpr std::string_view kLogName = "log";
constexpr std::string_view kStateName = "coord";
// A stop writes a snapshot when so many entries are above the last one.
constexpr std::uint64_t kReplayEntriesMax = 1000;
constexpr std::size_t kCollectTenants = 64;  // At a time.

EmbeddedError translated(replicated::OpenError code) noexcept {
  switch (code) {
    case replicated::OpenError::kCannotRead: return EmbeddedError::kCannotOpen;
    case replicated::OpenError::kNewer: return EmbeddedError::kNewer;
    case replicated::OpenError::kDamaged: return EmbeddedError::kDamaged;
  }
  return EmbeddedError::kCannotOpen;
}

EmbeddedError translated(log::OpenError code) noexcept {
  switch (code) {
    case log::OpenError::kCannotOpen: return EmbeddedError::kCannotOpen;
    case log::OpenError::kLocked: return EmbeddedError::kLocked;
    case log::OpenError::kForeign: return EmbeddedError::kForeign;
    case log::OpenError::kNewer: return EmbeddedError::kNewer;
    case log::OpenError::kDamaged: return EmbeddedError::kDamaged;
  }
  return EmbeddedError::kCannotOpen;
}

// Why a log does not open, and what to do about it.
std::unexpected<base::Error<EmbeddedError>> refused_log(const base::Error<log::OpenError>& error,
                                                        bool of_cluster) {
  std::string detail = error.detail;
  const bool advised = detail.find("raft_id") != std::string::npos;
  if (of_cluster && error.code == log::OpenError::kDamaged && !advised)
    detail += fmt::format(": {}", kRejoinAdvice);
  if (!of_cluster && error.code == log::OpenError::kForeign)
    detail +=
        ": choose another directory, or start it as what it is (cadastre serve --topology "
        "FILE --node N)";
  return base::fail(translated(error.code), std::move(detail));
}

std::unexpected<base::Error<EmbeddedError>> refused(const std::filesystem::path& path,
                                                    std::error_code code) {
  return base::fail(EmbeddedError::kCannotOpen, path.string() + ": " + code.message());
}

base::Result<base::DirectoryLock, EmbeddedError> lock(const std::filesystem::path& directory) {
  auto locked =
      base::DirectoryLock::acquire((directory / kLockName).string(), base::LockKind::kWriter);
  if (locked) return *std::move(locked);
  const base::LockRefused& why = locked.error();
  if (why.system_code != 0) {
    return refused(directory, std::error_code(why.system_code, std::generic_category()));
  }
  return base::fail(EmbeddedError::kLocked,
                    fmt::format("{} is open in process {}", directory.string(), why.holder_pid));
}

}  // namespace

base::Result<std::unique_ptr<EmbeddedCoordination>, EmbeddedError> EmbeddedCoordination::open(
    const EmbeddedOptions& options, const base::Clock& clock, const base::Logger& logger) {
  std::error_code code;
  std::filesystem::create_directories(options.directory / kStateName, code);
  if (code) return refused(options.directory, code);
  std::unique_ptr<EmbeddedCoordination> opened(new EmbeddedCoordination);
  opened->lock_.emplace(CAD_TRY(lock(options.directory)));
  CAD_TRY(opened->open_machine(options, logger));
  CAD_TRY(opened->open_log(options, clock, logger));
  return opened;
}

base::Result<void, EmbeddedError> EmbeddedCoordination::open_machine(const EmbeddedOptions& options,
                                                                     const base::Logger& logger) {
  const std::filesystem::path directory = options.directory / kStateName;
  files_ = std::make_unique<replicated::PosixSnapshotFiles>(directory);
  store_ = std::make_unique<replicated::SnapshotStore>(*files_);
  background_ = std::make_unique<BackgroundThread>();
  auto machine = replicated::Machine::open({*store_, *background_, logger}, options.hash_seed);
  if (!machine) {
    return base::fail(translated(machine.error().code),
                      fmt::format("{}: {}", (directory / replicated::kSnapshotName).string(),
                                  machine.error().detail));
  }
  machine_ = *std::move(machine);
  return {};
}

base::Result<void, EmbeddedError> EmbeddedCoordination::open_log(const EmbeddedOptions& options,
                                                                 const base::Clock& clock,
                                                                 const base::Logger& logger) {
  LocalLogOptions log_options{.directory = options.directory / kLogName, .appliers = 1};
  log_options.settings.retention = options.retention;
  log::GroupOptions group_options{.group = kCoordinationGroup, .machine = *machine_};
  leadership_ = std::make_unique<LeadershipWatch>(*machine_, options.settings);
  if (options.replication) {
    const EmbeddedReplication& replication = *options.replication;
    log_options.identity = replication.identity;
    log_options.replication = {.self = replication.identity.node,
                               .run = replication.run,
                               .transport = replication.transport,
                               .cluster = replication.identity.cluster,
                               .snapshotter = replication.snapshotter,
                               .boot_clock = &boot_clock_,
                               .membership = replication.membership};
    log_options.settings.raft = replication.raft;
    group_options.group = replication.group;
    group_options.listener = leadership_.get();
    group_options.replicated = log::ReplicaOptions{replication.founders, replication.seed};
  }
  auto log = LocalLog::open(log_options, clock, logger);
  const bool of_cluster = options.replication.has_value();
  if (!log) return refused_log(log.error(), of_cluster);
  log_ = *std::move(log);
  auto group = log_->host().open_group(group_options);
  if (!group) return refused_log(group.error(), of_cluster);
  group_ = *group;
  machine_->verify();
  backend_ = std::make_unique<replicated::ReplicatedBackend>(*group_, *machine_);
  if (options.replication) {
    leadership_->attach(*backend_);
    return {};
  }
  if (machine_->configured()) return {};
  const auto configured = configure(options.settings);
  if (!configured) return base::fail(EmbeddedError::kCannotOpen, to_text(configured.error()));
  return {};
}

std::unique_ptr<coord::CoordinationFacade> EmbeddedCoordination::blocking() {
  return std::make_unique<coord::SyncOverAsync>(*backend_);
}

base::Result<void, coord::InfraError> EmbeddedCoordination::configure(
    const replicated::Settings& settings) {
  std::promise<base::Result<std::size_t, coord::InfraError>> promise;
  auto answer = promise.get_future();
  backend_->configure(settings, [promise = std::move(promise)](
                                    base::Result<std::size_t, coord::InfraError> result) mutable {
    promise.set_value(std::move(result));
  });
  (void)CAD_TRY(answer.get());
  return {};
}

base::Result<std::size_t, coord::InfraError> EmbeddedCoordination::collect_runs(
    std::uint64_t retention) {
  const auto facade = blocking();
  std::size_t forgotten = 0;
  for (;;) {
    const auto due = machine_->collectable(retention, kCollectTenants);
    for (const auto& each : due)
      forgotten += CAD_TRY(facade->gc_terminal_runs(each.tenant, each.completed_before));
    if (due.size() < kCollectTenants) return forgotten;
  }
}

bool EmbeddedCoordination::stop(std::chrono::milliseconds patience) {
  if (stopped_) return *stopped_;  // Whoever owns it stops it again.
  const bool finished = log_ == nullptr || log_->stop(patience);
  if (log_ != nullptr && finished &&
      log::entries_between(machine_->durable().index, machine_->applied().index) >=
          kReplayEntriesMax) {
    machine_->request_flush();
  }
  if (background_ != nullptr) background_->stop();
  stopped_ = finished;
  return finished;
}

}  // namespace cadastre::node
