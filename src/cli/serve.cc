#include "cli/serve.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/logger.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/json_answer.h"
#include "cli/options.h"
#include "cli/serve_commands.h"
#include "node/backup.h"
#include "node/exit_watch.h"
#include "node/server_config.h"
#include "node/server_node.h"
#include "node/termination.h"

namespace cadastre::cli {
namespace {

Result<node::ServerConfig, CommandError> config_of(const ServeArguments& arguments) {
  node::ServerConfig config;
  if (arguments.config) {
    auto read = node::read_server_config(*arguments.config);
    if (!read) return base::fail(CommandError{"bad_config", std::move(read.error().detail)});
    config = *std::move(read);
  }
  if (arguments.data) config.data = *arguments.data;
  if (arguments.listen) config.listen = *arguments.listen;
  if (arguments.http) config.http = *arguments.http;
  if (arguments.tls_cert) config.tls_cert = arguments.tls_cert;
  if (arguments.tls_key) config.tls_key = arguments.tls_key;
  if (arguments.tls_client_ca) config.tls_client_ca = arguments.tls_client_ca;
  if (arguments.token_file) config.token_file = arguments.token_file;
  if (arguments.topology) config.topology = arguments.topology;
  if (arguments.node) config.node = arguments.node;
  config.bootstrap = config.bootstrap || arguments.bootstrap;
  config.join = config.join || arguments.join;
  config.insecure = config.insecure || arguments.insecure;
  config.log_json = config.log_json || arguments.log_json;
  return config;
}

CommandError from_server(base::Error<node::ServerError> error) {
  switch (error.code) {
    case node::ServerError::kBadConfig: return {"bad_config", std::move(error.detail)};
    case node::ServerError::kInsecure: return {"insecure", std::move(error.detail)};
    case node::ServerError::kCannotListen:
      return {"cannot_listen", std::move(error.detail), Retry::kLater};
    case node::ServerError::kLocked: return {"locked", std::move(error.detail), Retry::kLater};
    case node::ServerError::kCannotOpen:
      return {"cannot_open", std::move(error.detail), Retry::kLater};
    case node::ServerError::kForeign: return {"foreign_directory", std::move(error.detail)};
    case node::ServerError::kNewer: return {"newer_format", std::move(error.detail)};
    case node::ServerError::kDamaged: return {"damaged", std::move(error.detail)};
  }
  return {"cannot_open", std::move(error.detail)};
}

CommandError from_backup(base::Error<node::BackupError> error) {
  switch (error.code) {
    case node::BackupError::kLocked: return {"locked", std::move(error.detail), Retry::kLater};
    case node::BackupError::kNotEmpty: return {"not_empty", std::move(error.detail)};
    case node::BackupError::kNoData: return {"no_data", std::move(error.detail)};
    case node::BackupError::kIo: return {"cannot_copy", std::move(error.detail), Retry::kLater};
    case node::BackupError::kOfCluster: return {"of_cluster", std::move(error.detail)};
    case node::BackupError::kDamaged: return {"damaged", std::move(error.detail)};
  }
  return {"cannot_copy", std::move(error.detail)};
}

std::string absolute(const std::string& path) {
  std::error_code error;
  const auto full = std::filesystem::absolute(path, error);
  return error ? path : full.lexically_normal().string();
}

// What a backup or a restore did, in words or as JSON.
Result<void, CommandError> print_copied(const node::Copied& copied,
                                        const std::string& to,
                                        Context& context) {
  if (context.options.form.format == Format::kHuman) {
    context.out.line(fmt::format("{} files, {} bytes, in {}", copied.files, copied.bytes, to));
    return {};
  }
  JsonAnswer answer(KeyForm::kText);
  answer.text("directory", absolute(to))
      .number("files", copied.files)
      .number("bytes", copied.bytes);
  context.out.line(CAD_TRY(std::move(answer).finish()));
  return {};
}

// An orderly stop that does not end, or that somebody does not want to wait for. What was acknowledged is on the
// disk; the next start finds it as after a crash.
[[noreturn]] void give_up(const base::Logger& logger, node::ExitCause cause) {
  logger.error(
      "not stopped in an orderly way",
      {{"reason", cause == node::ExitCause::kSignal ? "a second signal" : "it took too long"}});
  std::_Exit(EXIT_FAILURE);
}

// Nobody has been promised anything while a server starts: it ends at once if it is asked to.
Result<std::unique_ptr<node::ServerNode>, CommandError> start_node(
    const node::ServerConfig& config,
    const node::ServerNodeParts& parts,
    const node::Termination& signals) {
  const node::ExitWatch watch(signals, parts.clock,
                              {.patience = std::nullopt, .act = [&parts](node::ExitCause) {
                                 parts.logger.info("stopped before it was ready");
                                 std::_Exit(EXIT_SUCCESS);
                               }});
  auto node = node::ServerNode::start(config, parts);
  if (!node) return base::fail(from_server(std::move(node.error())));
  return *std::move(node);
}

}  // namespace

Result<void, CommandError> run_serve(const ServeArguments& arguments, Context& context) {
  const node::ServerConfig config = CAD_TRY(config_of(arguments));
  const node::Termination signals;
  const auto sink = base::stderr_log_sink();
  const base::Logger logger(*sink, context.clock,
                            config.log_json ? base::LogForm::kJson : base::LogForm::kText);
  auto node = CAD_TRY(start_node(config, {context.clock, logger}, signals));
  JsonAnswer ready(KeyForm::kText);
  ready.text("grpc", node->grpc_address())
      .text("http", node->http_address())
      .text("data", absolute(config.data))
      .number("pid", static_cast<std::uint64_t>(::getpid()));
  context.out.line(CAD_TRY(std::move(ready).finish()));
  context.out.flush();
  logger.info("ready", {{"grpc", node->grpc_address()}, {"http", node->http_address()}});
  while (signals.wait() == node::Asked::kReload)
    node->reload();
  logger.info("stopping");
  const node::ExitWatch watch(
      signals, context.clock,
      {.patience = node::ServerNode::kStopMax, .act = [&logger](node::ExitCause cause) {
         give_up(logger, cause);
       }});
  const bool clean = node->stop();
  if (!clean) logger.warn("some calls were told that their outcome is unknown");
  logger.info("stopped");
  return {};
}

Result<void, CommandError> run_backup(const BackupArguments& arguments, Context& context) {
  const auto copied = node::back_up(arguments.from, arguments.to);
  if (!copied) return base::fail(from_backup(copied.error()));
  return print_copied(*copied, arguments.to, context);
}

Result<void, CommandError> run_restore(const BackupArguments& arguments, Context& context) {
  const auto sink = base::stderr_log_sink();
  const base::Logger logger(*sink, context.clock, base::LogForm::kText);
  const auto copied = node::restore(arguments.from, arguments.to, {context.clock, logger});
  if (!copied) return base::fail(from_backup(copied.error()));
  return print_copied(*copied, arguments.to, context);
}

}  // namespace cadastre::cli
