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

void read_cluster(const toml::table& table, ServerConfig& config, std::string& error) {
  TableReader reader(table, "cluster.", error);
  std::int64_t node = 0;
  reader.read<std::string>("topology", config.topology);
  reader.read<std::int64_t>("node", node);
  reader.read<bool>("bootstrap", config.bootstrap);
  reader.read<bool>("join", config.join);
  reader.refuse_others({"topology", "node", "bootstrap", "join"});
  if (node < 0 && error.empty()) error = "cluster.node is a raft_id of the topology, above 0";
  if (node > 0) config.node = static_cast<std::uint64_t>(node);
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
  if (const toml::table* const kept = reader.table("retention"))
    read_retention(*kept, config, error);
  reader.refuse_others({"data", "listen", "http", "insecure", "log_json", "token_file", "tls",
                        "cluster", "retention"});
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
