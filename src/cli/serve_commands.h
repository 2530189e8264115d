// `cadastre serve`, `cadastre backup` and `cadastre restore`: what is typed.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace cadastre::cli {

// Where the parser puts what was typed; what is absent comes from the file, or is the default.
struct ServeArguments {
  std::optional<std::string> config;
  std::optional<std::string> data;
  std::optional<std::string> listen;
  std::optional<std::string> http;
  std::optional<std::string> tls_cert;
  std::optional<std::string> tls_key;
  std::optional<std::string> tls_client_ca;
  std::optional<std::string> token_file;
  std::optional<std::string> topology;
  std::optional<std::uint64_t> node;
  bool bootstrap = false;
  bool join = false;
  bool insecure = false;
  bool log_json = false;
};

struct BackupArguments {
  std::string from;
  std::string to;
};

// Add the commands to `app`. The borrowed objects outlive the parse and the chosen command.
void add_serve_command(CLI::App& app, ServeArguments& arguments, Command& chosen);
void add_backup_commands(CLI::App& app, BackupArguments& arguments, Command& chosen);

}  // namespace cadastre::cli
