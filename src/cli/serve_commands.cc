#include "cli/serve_commands.h"

#include <CLI/App.hpp>
#include <CLI/Option.hpp>

#include "cli/command.h"
#include "cli/serve.h"

namespace cadastre::cli {

void add_serve_command(CLI::App& app, ServeArguments& arguments, Command& chosen) {
  CLI::App& serve = *app.add_subcommand(
      "serve",
      "Serves coordination to workers until SIGTERM; prints its addresses as JSON when it is "
      "ready\n"
      "Example: cadastre serve --data data --listen 127.0.0.1:7400 --http 127.0.0.1:7401");
  serve.fallthrough();
  serve.add_option("--config", arguments.config, "a TOML file; flags override it");
  serve.add_option("--data", arguments.data, "the data directory (cadastre-data)");
  serve.add_option("--listen", arguments.listen, "HOST:PORT of gRPC (127.0.0.1:7400); port 0: any");
  serve.add_option("--http", arguments.http, "HOST:PORT of HTTP (127.0.0.1:7401); port 0: any");
  serve.add_option("--tls-cert", arguments.tls_cert, "the server's certificate chain, PEM");
  serve.add_option("--tls-key", arguments.tls_key,
                   "its private key, PEM, readable by its owner only");
  serve.add_option("--tls-client-ca", arguments.tls_client_ca,
                   "clients must show a certificate of this authority, PEM");
  serve.add_option("--token-file", arguments.token_file,
                   "lines of TOKEN TENANT…; readable by its owner only");
  serve.add_option("--topology", arguments.topology,
                   "the cluster's nodes and groups, protobuf text; the same file on all nodes");
  serve.add_option("--node", arguments.node, "which of them this is: its raft_id");
  serve.add_flag("--bootstrap", arguments.bootstrap,
                 "founds the cluster: once, on each of its voters");
  serve.add_flag("--join", arguments.join, "a new node, to be added to a running cluster");
  serve.add_flag("--insecure", arguments.insecure, "other addresses than loopback without TLS");
  serve.add_flag("--log-json", arguments.log_json, "the log as JSON lines");
  serve.callback([&arguments, &chosen] {
    chosen = [&arguments](Context& context) {
      return run_serve(arguments, context);
    };
  });
}

void add_backup_commands(CLI::App& app, BackupArguments& arguments, Command& chosen) {
  CLI::App& backup = *app.add_subcommand("backup",
                                         "Copies a data directory that no process has open\n"
                                         "Example: cadastre backup data backup-of-monday");
  backup.fallthrough();
  backup.add_option("DIR", arguments.from, "the data directory")->required();
  backup.add_option("TO", arguments.to, "a directory that is not there yet, or empty")->required();
  backup.callback([&arguments, &chosen] {
    chosen = [&arguments](Context& context) {
      return run_backup(arguments, context);
    };
  });
  CLI::App& restore =
      *app.add_subcommand("restore",
                          "Makes a data directory from a backup, after a look at every byte of it\n"
                          "Example: cadastre restore backup-of-monday data");
  restore.fallthrough();
  restore.add_option("FROM", arguments.from, "the backup")->required();
  restore.add_option("DIR", arguments.to, "a directory that is not there yet, or empty")
      ->required();
  restore.callback([&arguments, &chosen] {
    chosen = [&arguments](Context& context) {
      return run_restore(arguments, context);
    };
  });
}

}  // namespace cadastre::cli
