// What a server is told: by a TOML file, and by flags that override it.
//
//   data = "/var/lib/cadastre"
//   listen = "127.0.0.1:7400"
//   http = "127.0.0.1:7401"
//   insecure = false
//   log_json = true
//   token_file = "/etc/cadastre/tokens"
//   [tls]
//   cert = "/etc/cadastre/server.pem"
//   key = "/etc/cadastre/server.key"
//   client_ca = "/etc/cadastre/clients.pem"
//   [cluster]
//   topology = "/etc/cadastre/topology"
//   node = 1                         # the raft_id in the topology
//   bootstrap = false                # founds the cluster: once, on each of its voters
//   join = false                     # a new node of a running cluster
//   [retention]
//   terminal_runs_hours = 168        # 0: for ever
//
// A key that is not among these is refused: a typing error must not become a default.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cadastre::node {

struct ServerConfig {
  std::string data = "cadastre-data";
  std::string listen = "127.0.0.1:7400";
  std::string http = "127.0.0.1:7401";
  bool insecure = false;
  bool log_json = false;
  std::optional<std::string> token_file = std::nullopt;
  std::optional<std::string> tls_cert = std::nullopt;
  std::optional<std::string> tls_key = std::nullopt;
  std::optional<std::string> tls_client_ca = std::nullopt;
  std::optional<std::string> topology = std::nullopt;  // Nothing: a server on its own.
  std::optional<std::uint64_t> node = std::nullopt;
  bool bootstrap = false;
  bool join = false;
  std::chrono::hours terminal_runs_kept{168};

  friend bool operator==(const ServerConfig&, const ServerConfig&) = default;
};

enum class ConfigError : std::uint8_t {
  kUnreadable,  // The file cannot be read.
  kMalformed,  // It is no TOML, or a key is unknown or of another type; the detail names the place.
};

inline constexpr std::size_t kConfigBytesMax = std::size_t{1} << 20;
inline constexpr std::int64_t kRetentionHoursMax = std::int64_t{24} * 365 * 100;

// Over the defaults.
[[nodiscard]] base::Result<ServerConfig, ConfigError> parse_server_config(std::string_view text);
[[nodiscard]] base::Result<ServerConfig, ConfigError> read_server_config(const std::string& path);

}  // namespace cadastre::node
