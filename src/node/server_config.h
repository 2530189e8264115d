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
//   checkpoint_bytes_per_second = 67108864   # to nodes that fetch this one's checkpoints, all of them together
//   [raft]
//   lease_reads = false              # not on guests whose hypervisor pauses them (docs/operations.md)
//   [log]                            # how much of the log is kept; the defaults are the specification's
//   truncate_every_ms = 10000        # not more often than this,
//   truncate_bytes = 16777216        # and only for so much,
//   truncate_entries = 10000         # or so many entries
//   flush_after_ms = 60000           # the state is flushed when it is so far behind its log
//   leader_trail_bytes = 67108864    # what a leader keeps for nodes that are behind; one further behind
//   leader_trail_entries = 100000    # gets a snapshot
//   follower_trail_bytes = 16777216
//   peer_silent_ms = 600000          # a node that was not heard from for so long is not waited for
//   [retention]
//   terminal_runs_hours = 168        # 0: for ever
//   [disk]                           # log/disk_space.h; of a small disk, parts of it
//   low_mib = 2048                   # with less room, or less than low_percent, new commands are refused
//   low_percent = 5
//   critical_mib = 1024              # with less room nothing is taken any more
//
// A key that is not among these is refused: a typing error must not become a default.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "log/disk_space.h"
#include "log/settings.h"
#include "server/limits.h"

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
  std::uint64_t checkpoint_bytes_per_second = server::kFetchPaceDefault;
  bool lease_reads = false;
  log::RetentionSettings log_retention = {};
  std::chrono::hours terminal_runs_kept{168};
  log::SpaceSettings space = {};

  friend bool operator==(const ServerConfig&, const ServerConfig&) = default;
};

enum class ConfigError : std::uint8_t {
  kUnreadable,  // The file cannot be read.
  kMalformed,  // It is no TOML, or a key is unknown or of another type; the detail names the place.
};

inline constexpr std::size_t kConfigBytesMax = std::size_t{1} << 20;
inline constexpr std::int64_t kLogSettingMax =
    1'000'000'000'000;  // Bytes, entries or milliseconds.
inline constexpr std::int64_t kRetentionHoursMax = std::int64_t{24} * 365 * 100;
inline constexpr std::int64_t kSpaceMibMax = std::int64_t{1} << 30;

// Over the defaults.
[[nodiscard]] base::Result<ServerConfig, ConfigError> parse_server_config(std::string_view text);
[[nodiscard]] base::Result<ServerConfig, ConfigError> read_server_config(const std::string& path);

}  // namespace cadastre::node
