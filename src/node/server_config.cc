#include "node/server_config.h"

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/result.h"
#include "log/disk_space.h"
#include "log/limits.h"
#include "server/private_file.h"

namespace cadastre::node {
namespace {

// Reads the keys of one table and remembers the first thing that is wrong.
class TableReader {
 public:
  TableReader(const toml::table& table, std::string_view prefix, std::string& error)
      : table_(table), prefix_(prefix), error_(error) {}

  template <class T, class Into>
  void read(std::string_view key, Into& into) {
    const toml::node* const node = table_.get(key);
    if (node == nullptr) return;
    if (const auto value = node->value_exact<T>()) {
      into = *value;
    } else {
      fail(fmt::format("{}{} has another type", prefix_, key));
    }
  }
  // A table of its own; nothing if it is not there.
  [[nodiscard]] const toml::table* table(std::string_view key) {
    const toml::node* const node = table_.get(key);
    if (node == nullptr) return nullptr;
    if (!node->is_table()) fail(fmt::format("{} is a table", key));
    return node->as_table();
  }
  // Call last, with every key that may occur.
  void refuse_others(std::initializer_list<std::string_view> keys) {
    for (const auto& [name, node] : table_) {
      bool found = false;
      for (const std::string_view key : keys)
        found = found || name.str() == key;
      if (!found) fail(fmt::format("there is no key {}{}", prefix_, name.str()));
    }
  }

 private:
  void fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
  }

  const toml::table& table_;
  std::string_view prefix_;
  std::string& error_;
};

void read_tls(const toml::table& table, ServerConfig& config, std::string& error) {
  TableReader reader(table, "tls.", error);
  reader.read<std::string>("cert", config.tls_cert);
  reader.read<std::string>("key", config.tls_key);
  reader.read<std::string>("client_ca", config.tls_client_ca);
  reader.refuse_others({"cert", "key", "client_ca"});
}

void read_retention(const toml::table& table, ServerConfig& config, std::string& error) {
  TableReader reader(table, "retention.", error);
  std::int64_t hours = config.terminal_runs_kept.count();
  reader.read<std::int64_t>("terminal_runs_hours", hours);
  reader.refuse_others({"terminal_runs_hours"});
  if (hours < 0 || hours > kRetentionHoursMax) {
    if (error.empty())
      error = fmt::format("retention.terminal_runs_hours is 0 to {}", kRetentionHoursMax);
    return;
  }
  config.terminal_runs_kept = std::chrono::hours(hours);
}

void read_log(const toml::table& table, ServerConfig& config, std::string& error) {
  TableReader reader(table, "log.", error);
  log::RetentionSettings& kept = config.log_retention;
  const auto number = [&](std::string_view key, std::int64_t& value) {
    reader.read<std::int64_t>(key, value);
    if ((value < 1 || value > kLogSettingMax) && error.empty())
      error = fmt::format("log.{} is 1 to {}", key, kLogSettingMax);
  };
  const auto count = [&](std::string_view key, std::uint64_t& into) {
    auto value = static_cast<std::int64_t>(into);
    number(key, value);
    into = static_cast<std::uint64_t>(value);
  };
  const auto milliseconds = [&](std::string_view key, std::chrono::nanoseconds& into) {
    std::int64_t value = std::chrono::floor<std::chrono::milliseconds>(into).count();
    number(key, value);
    if (error.empty()) into = std::chrono::milliseconds(value);
  };
  milliseconds("truncate_every_ms", kept.truncate_every);
  count("truncate_bytes", kept.truncate_bytes_min);
  count("truncate_entries", kept.truncate_entries_min);
  milliseconds("flush_after_ms", kept.unflushed_age_max);
  count("leader_trail_bytes", kept.leader_trail_bytes);
  count("leader_trail_entries", kept.leader_trail_entries);
  count("follower_trail_bytes", kept.follower_trail_bytes);
  milliseconds("peer_silent_ms", kept.peer_silent_after);
  reader.refuse_others({"truncate_every_ms", "truncate_bytes", "truncate_entries", "flush_after_ms",
                        "leader_trail_bytes", "leader_trail_entries", "follower_trail_bytes",
                        "peer_silent_ms"});
}

// A number from 0 to `most`, in units of `unit`.
struct Bounded {
  std::string_view key;
  std::int64_t most;
  std::uint64_t unit;
};

void read_bounded(TableReader& reader,
                  const Bounded& bounded,
                  std::uint64_t& into,
                  std::string& error) {
  auto value = static_cast<std::int64_t>(into / bounded.unit);
  reader.read<std::int64_t>(bounded.key, value);
  if (value >= 0 && value <= bounded.most) {
    into = static_cast<std::uint64_t>(value) * bounded.unit;
  } else if (error.empty()) {
    error = fmt::format("disk.{} is 0 to {}", bounded.key, bounded.most);
  }
}

void read_disk(const toml::table& table, ServerConfig& config, std::string& error) {
  TableReader reader(table, "disk.", error);
  log::SpaceSettings& space = config.space;
  read_bounded(reader, {"low_mib", kSpaceMibMax, log::kMiB}, space.low_bytes, error);
  read_bounded(reader, {"low_percent", 100, 1}, space.low_percent, error);
  read_bounded(reader, {"critical_mib", kSpaceMibMax, log::kMiB}, space.critical_bytes, error);
  reader.refuse_others({"low_mib", "low_percent", "critical_mib"});
}

void read_cluster(const toml::table& table, ServerConfig& config, std::string& error) {
  TableReader reader(table, "cluster.", error);
  std::int64_t node = 0;
  reader.read<std::string>("topology", config.topology);
  reader.read<std::int64_t>("node", node);
  reader.read<bool>("bootstrap", config.bootstrap);
  reader.read<bool>("join", config.join);
  auto pace = static_cast<std::int64_t>(config.checkpoint_bytes_per_second);
  reader.read<std::int64_t>("checkpoint_bytes_per_second", pace);
  reader.refuse_others({"topology", "node", "bootstrap", "join", "checkpoint_bytes_per_second"});
  config.checkpoint_bytes_per_second = static_cast<std::uint64_t>(pace);
  if ((pace < static_cast<std::int64_t>(server::kFetchPaceMin) ||
       pace > static_cast<std::int64_t>(server::kFetchPaceMax)) &&
      error.empty()) {
    error = fmt::format("cluster.checkpoint_bytes_per_second is {} to {}", server::kFetchPaceMin,
                        server::kFetchPaceMax);
  }
  if (node < 0 && error.empty()) error = "cluster.node is a raft_id of the topology, above 0";
  if (node > 0) config.node = static_cast<std::uint64_t>(node);
}

void read_raft(const toml::table& table, ServerConfig& config, std::string& error) {
  TableReader reader(table, "raft.", error);
  reader.read<bool>("lease_reads", config.lease_reads);
  reader.refuse_others({"lease_reads"});
}

ServerConfig read_all(const toml::table& root, std::string& error) {
  ServerConfig config;
  TableReader reader(root, "", error);
  reader.read<std::string>("data", config.data);
  reader.read<std::string>("listen", config.listen);
  reader.read<std::string>("http", config.http);
  reader.read<bool>("insecure", config.insecure);
  reader.read<bool>("log_json", config.log_json);
  reader.read<std::string>("token_file", config.token_file);
  if (const toml::table* const tls = reader.table("tls")) read_tls(*tls, config, error);
  if (const toml::table* const cluster = reader.table("cluster"))
    read_cluster(*cluster, config, error);
  if (const toml::table* const raft = reader.table("raft")) read_raft(*raft, config, error);
  if (const toml::table* const log = reader.table("log")) read_log(*log, config, error);
  if (const toml::table* const kept = reader.table("retention"))
    read_retention(*kept, config, error);
  if (const toml::table* const disk = reader.table("disk")) read_disk(*disk, config, error);
  reader.refuse_others({"data", "listen", "http", "insecure", "log_json", "token_file", "tls",
                        "cluster", "raft", "log", "retention", "disk"});
  return config;
}

}  // namespace

base::Result<ServerConfig, ConfigError> parse_server_config(std::string_view text) {
  try {
    const toml::table root = toml::parse(text);
    std::string error;
    ServerConfig config = read_all(root, error);
    if (!error.empty()) return base::fail(ConfigError::kMalformed, error);
    return config;
  } catch (const toml::parse_error& wrong) {  // The library has no other way to say it.
    return base::fail(ConfigError::kMalformed,
                      fmt::format("line {}: {}", wrong.source().begin.line, wrong.description()));
  }
}

base::Result<ServerConfig, ConfigError> read_server_config(const std::string& path) {
  const auto text = server::read_public_file(path.c_str(), kConfigBytesMax);
  if (!text) return base::fail(ConfigError::kUnreadable, text.error().detail);
  auto config = parse_server_config(*text);
  if (!config)
    return base::fail(config.error().code, fmt::format("{}: {}", path, config.error().detail));
  return config;
}

}  // namespace cadastre::node
