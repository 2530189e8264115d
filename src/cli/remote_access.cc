#include "cli/remote_access.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/command_error.h"
#include "cli/input_file.h"
#include "cli/limits.h"
#include "client/remote_coordination.h"
#include "node/remote_access.h"

namespace cadastre::cli {
namespace {

using base::Result;

constexpr int kNoStandardInput = -1;

// Nothing, if no file is named.
Result<std::string, CommandError> read_file(const std::optional<std::string>& name) {
  if (!name) return std::string();
  const InputFile file = CAD_TRY(InputFile::open(*name, kNoStandardInput));
  return std::string(base::as_text(CAD_TRY(file.read_all(kAccessFileBytesMax))));
}

// Only what a header may carry.
bool is_token(std::string_view token) noexcept {
  return !token.empty() && std::ranges::all_of(token, [](char c) { return c > ' ' && c <= '~'; });
}

Result<std::string, CommandError> read_token(const std::optional<std::string>& name) {
  if (!name) return std::string();
  std::string token = CAD_TRY(read_file(name));
  token.erase(std::min(token.find_first_of("\r\n"), token.size()));
  if (!is_token(token))
    return base::fail(usage_error(fmt::format("{}: its first line is no token", *name)));
  return token;
}

}  // namespace

void add_access_options(CLI::App& app, AccessArguments& arguments) {
  app.add_option("--token-file", arguments.token_file,
                 "for a server: the file whose first line is the tenant's token");
  app.add_option("--tls-ca", arguments.tls_ca,
                 "for a server: the authority (PEM) that its certificate is of");
  app.add_option("--tls-cert", arguments.tls_cert, "for a server: this client's certificate (PEM)");
  app.add_option("--tls-key", arguments.tls_key, "for a server: this client's key (PEM)");
}

Result<node::RemoteAccess, CommandError> read_access(const AccessArguments& arguments) {
  node::RemoteAccess access;
  access.token = CAD_TRY(read_token(arguments.token_file));
  if (!arguments.tls_ca && !arguments.tls_cert && !arguments.tls_key) return access;
  client::TlsOptions& tls = access.tls.emplace();
  tls.authority = CAD_TRY(read_file(arguments.tls_ca));
  tls.certificate = CAD_TRY(read_file(arguments.tls_cert));
  tls.key = CAD_TRY(read_file(arguments.tls_key));
  return access;
}

}  // namespace cadastre::cli
