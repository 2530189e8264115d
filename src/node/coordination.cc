#include "node/coordination.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/logger.h"
#include "base/result.h"
#include "client/address.h"
#include "coord/backend.h"
#include "coord/memory/memory_backend.h"
#include "coord/sync_over_async.h"
#include "node/embedded_coordination.h"
#include "node/etcd_coordination.h"
#include "node/etcd_settings.h"
#include "node/remote_access.h"

namespace cadastre::node {
namespace {

constexpr std::string_view kLocal = "local:";
constexpr std::string_view kEtcd = "etcd:";

// A command prints its answer and nothing else; what an operator must act on is not lost.
class ErrorsOnly final : public base::LogSink {
 public:
  void write(base::LogLevel level, std::string_view line) override {
    if (level == base::LogLevel::kError) sink_->write(level, line);
  }

 private:
  const std::unique_ptr<base::LogSink> sink_ = base::stderr_log_sink();
};

struct LocalParts {
  base::SystemClock clock;
  ErrorsOnly sink;
  base::Logger logger{sink, clock, base::LogForm::kText};
};

// A directory's coordination and the parts that it borrows, as one facade.
class LocalFacade final : public coord::SyncOverAsync {
 public:
  LocalFacade(std::unique_ptr<LocalParts> parts, std::unique_ptr<EmbeddedCoordination> coordination)
      : SyncOverAsync(coordination->async()),
        parts_(std::move(parts)),
        coordination_(std::move(coordination)) {}

 private:
  const std::unique_ptr<LocalParts> parts_;
  const std::unique_ptr<EmbeddedCoordination> coordination_;
};

OpenError translated(EmbeddedError code) noexcept {
  switch (code) {
    case EmbeddedError::kCannotOpen: return OpenError::kCannotOpen;
    case EmbeddedError::kLocked: return OpenError::kLocked;
    case EmbeddedError::kForeign: return OpenError::kForeign;
    case EmbeddedError::kNewer: return OpenError::kNewer;
    case EmbeddedError::kDamaged: return OpenError::kDamaged;
  }
  return OpenError::kCannotOpen;
}

Result<std::unique_ptr<coord::CoordinationFacade>, OpenError> open_local(std::string_view directory,
                                                                         std::uint64_t hash_seed) {
  if (directory.empty()) return base::fail(OpenError::kUnknownBackend, "local: which directory?");
  auto parts = std::make_unique<LocalParts>();
  auto opened = EmbeddedCoordination::open(
      {.directory = std::filesystem::path(directory), .settings = {}, .hash_seed = hash_seed},
      parts->clock, parts->logger);
  if (!opened) return base::fail(translated(opened.error().code), opened.error().detail);
  return std::make_unique<LocalFacade>(std::move(parts), *std::move(opened));
}

// It warns of what fails though nobody waits for it.
struct RemoteParts {
  base::SystemClock clock;
  std::unique_ptr<base::LogSink> sink = base::stderr_log_sink();
  base::Logger logger{*sink, clock, base::LogForm::kText};
};

// An etcd's coordination and the parts that it borrows, as one facade.
class EtcdFacade final : public coord::SyncOverAsync {
 public:
  EtcdFacade(std::unique_ptr<RemoteParts> parts, std::unique_ptr<EtcdCoordination> coordination)
      : SyncOverAsync(coordination->async()),
        parts_(std::move(parts)),
        coordination_(std::move(coordination)) {}

 private:
  const std::unique_ptr<RemoteParts> parts_;
  const std::unique_ptr<EtcdCoordination> coordination_;
};

OpenError translated(EtcdOpenError code) noexcept {
  switch (code) {
    case EtcdOpenError::kPlace: return OpenError::kUnknownBackend;
    case EtcdOpenError::kFile: return OpenError::kCannotOpen;
  }
  return OpenError::kCannotOpen;
}

Result<std::unique_ptr<coord::CoordinationFacade>, OpenError> open_etcd(
    std::string_view place, const EtcdSettings& settings) {
  auto parsed = parse_etcd_place(place, settings);
  if (!parsed) return base::fail(translated(parsed.error().code), parsed.error().detail);
  auto parts = std::make_unique<RemoteParts>();
  auto opened = EtcdCoordination::open(*parsed, parts->clock, &parts->logger);
  if (!opened) return base::fail(translated(opened.error().code), opened.error().detail);
  return std::make_unique<EtcdFacade>(std::move(parts), *std::move(opened));
}

}  // namespace

Result<std::unique_ptr<coord::CoordinationFacade>, OpenError> open_coordination(
    std::string_view backend,
    const coord::memory::MemoryOptions& memory,
    const RemoteAccess& access,
    const EtcdSettings& etcd) {
  if (backend == "memory") return make_memory_coordination(memory);
  if (backend.starts_with(kLocal)) {
    return open_local(backend.substr(kLocal.size()), memory.hash_seed);
  }
  if (backend.starts_with(kEtcd)) return open_etcd(backend.substr(kEtcd.size()), etcd);
  if (!client::addresses_of(backend).empty()) {
    auto remote = open_remote(std::string(backend), access);
    if (!remote) return base::fail(OpenError::kBadAccess, remote.error().detail);
    return *std::move(remote);
  }
  return base::fail(OpenError::kUnknownBackend,
                    "a backend is memory, local:DIR, etcd:HOST:PORT[/prefix] or HOST:PORT");
}

std::unique_ptr<coord::memory::MemoryBackend> make_memory_coordination(
    const coord::memory::MemoryOptions& options) {
  return std::make_unique<coord::memory::MemoryBackend>(options);
}

}  // namespace cadastre::node
