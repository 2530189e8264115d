// `cadastre coord`: runs, shards and leases, against the backend that the user names.
//
// A command opens the backend, asks once and ends; a batch keeps one open for all its requests
// (coord_batch.h). The memory backend lives as long as the process, so it is for batches.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/remote_access.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace cadastre::cli {

// Where the parser puts what was typed.
struct CoordArguments {
  // Of all commands.
  std::string backend;
  AccessArguments access;
  std::optional<std::string> tenant;
  std::optional<std::string> tenant_id;
  std::optional<std::string> now;
  std::optional<std::string> op_id;
  // Of an etcd: files, and seconds.
  std::string etcd_ca;
  std::string etcd_cert;
  std::string etcd_key;
  std::string etcd_user_file;
  std::optional<std::string> etcd_owner_ttl;

  std::string run;
  std::string shard;
  std::string worker;
  std::string lease;  // JSON
  std::string file;
  std::string lease_ms;
  std::string semantics = "completed";
  std::optional<std::string> max_retries;
  std::string before;
  std::string filter = "all";
  bool root_only = false;
  std::optional<std::string> limit;
  std::optional<std::string> after;
  std::optional<std::string> last_key;
  std::string token;
  std::string reason;
  std::vector<std::string> at;
  bool watch = false;
};

// Backend, tenant, time and op id, as every command that speaks to a backend takes them.
void add_coord_options(CLI::App& command, CoordArguments& arguments);

// Adds the commands to `app`. Both borrowed objects outlive the parse and the chosen command.
void add_coord_commands(CLI::App& app, CoordArguments& arguments, Command& chosen);

}  // namespace cadastre::cli
