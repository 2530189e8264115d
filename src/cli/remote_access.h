// What a server is shown: a token and certificates, from files that the command line names.

#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/command_error.h"
#include "node/remote_access.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace cadastre::cli {

struct AccessArguments {
  std::optional<std::string> token_file;
  std::optional<std::string> tls_ca;
  std::optional<std::string> tls_cert;
  std::optional<std::string> tls_key;
};

void add_access_options(CLI::App& app, AccessArguments& arguments);

// Reads the files. A token is the first line of its file; TLS is used if any of its files is named.
[[nodiscard]] base::Result<node::RemoteAccess, CommandError> read_access(
    const AccessArguments& arguments);

}  // namespace cadastre::cli
