#include "node/etcd_coordination.h"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/etcd/core.h"
#include "coord/etcd/etcd_backend.h"
#include "coord/etcd/etcd_config.h"
#include "coord/etcd/grpc_limits.h"
#include "coord/etcd/grpc_store.h"
#include "coord/etcd/keyspace.h"
#include "coord/sync_over_async.h"
#include "node/etcd_settings.h"

namespace cadastre::node {
namespace {

namespace etcd = coord::etcd;
using base::fail;

// Empty if no file is named.
base::Result<std::string, EtcdOpenError> read_file(const std::filesystem::path& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) {
    text.resize(etcd::kPemBytesMax + 1);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
  }
  if (text.empty() || text.size() > etcd::kPemBytesMax)
    return fail(EtcdOpenError::kFile,
                fmt::format("{} is not a readable file of 1 byte to 1 MiB", path.string()));
  return text;
}

base::Result<etcd::EtcdUser, EtcdOpenError> read_user(const std::filesystem::path& path) {
  const std::string text = CAD_TRY(read_file(path));
  const std::string_view line = std::string_view(text).substr(0, text.find_first_of("\r\n"));
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos)
    return fail(EtcdOpenError::kFile,
                fmt::format("the first line of {} is not NAME:PASSWORD", path.string()));
  return etcd::EtcdUser{.name = std::string(line.substr(0, colon)),
                        .password = std::string(line.substr(colon + 1))};
}

// What the detail of a configuration's error says is all that a user needs.
base::Result<void, EtcdOpenError> checked(const etcd::EtcdConfig& config) {
  const auto valid = etcd::validate(config);
  if (!valid) return fail(EtcdOpenError::kPlace, valid.error().detail);
  return {};
}

base::Result<etcd::Keyspace, EtcdOpenError> keyspace_of(std::string_view prefix) {
  auto keyspace = etcd::Keyspace::make(prefix);
  if (!keyspace)
    return fail(EtcdOpenError::kPlace,
                "a prefix starts with /, does not end with one, and has no // in it");
  return *std::move(keyspace);
}

}  // namespace

base::Result<EtcdPlace, EtcdOpenError> parse_etcd_place(std::string_view place,
                                                        const EtcdSettings& settings) {
  EtcdPlace out;
  const bool secure =
      !settings.ca.empty() || !settings.certificate.empty() || !settings.key.empty();
  if (secure) {
    out.config.tls = etcd::EtcdTls {
      .ca = CAD_TRY(read_file(settings.ca))
      , .certificate = CAD_TRY(read_file(settings.certificate))
      , .key = CAD_TRY(read_file(settings.key))
    };
  }
  if (!settings.user_file.empty()) out.config.user = CAD_TRY(read_user(settings.user_file));
  if (settings.owner_ttl) out.config.owner_lease_ttl = *settings.owner_ttl;
  const std::size_t slash = place.find('/');
  if (slash != std::string_view::npos) {
    out.prefix = place.substr(slash);
    (void)CAD_TRY(keyspace_of(out.prefix));
  }
  std::string_view hosts = place.substr(0, slash);
  out.config.endpoints.clear();
  for (;;) {
    const std::size_t comma = hosts.find(',');
    out.config.endpoints.push_back(
        fmt::format("{}{}", secure ? "https://" : "http://", hosts.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    hosts.remove_prefix(comma + 1);
  }
  CAD_TRY(checked(out.config));
  return out;
}

base::Result<std::unique_ptr<EtcdCoordination>, EtcdOpenError> EtcdCoordination::open(
    const EtcdPlace& place, const base::Clock& clock, const base::Logger* log) {
  auto store = etcd::GrpcStore::open(place.config, clock);
  if (!store) return fail(EtcdOpenError::kPlace, store.error().detail);
  etcd::EtcdOptions options {
    .keyspace = CAD_TRY(keyspace_of(place.prefix))
    , .owner_ttl = place.config.owner_lease_ttl,
        .tick = std::chrono::milliseconds(1),  // The command line and our clients count so.
        .retries = place.config.txn_retries, .children_max = place.config.children_per_op,
        .limits = place.config.limits
  };
  return std::unique_ptr<EtcdCoordination>(
      new EtcdCoordination(*std::move(store), std::move(options), clock, log));
}

EtcdCoordination::EtcdCoordination(std::unique_ptr<etcd::GrpcStore> store,
                                   etcd::EtcdOptions options,
                                   const base::Clock& clock,
                                   const base::Logger* log)
    : timer_(clock),
      store_(std::move(store)),
      backend_(std::make_unique<etcd::EtcdBackend>(
          etcd::EtcdParts{*store_, timer_, random_, clock, log}, std::move(options))) {}

std::unique_ptr<coord::CoordinationFacade> EtcdCoordination::blocking() {
  return std::make_unique<coord::SyncOverAsync>(*backend_);
}

}  // namespace cadastre::node
