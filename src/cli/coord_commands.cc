#include "cli/coord_commands.h"

#include <tuple>

#include <CLI/App.hpp>
#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>

#include "base/result.h"
#include "cli/command.h"
#include "cli/command_choice.h"
#include "cli/command_error.h"
#include "cli/coord_once.h"
#include "cli/remote_access.h"

namespace cadastre::cli {
namespace {

// Adds commands to one group.
class Adder {
 public:
  Adder(CLI::App& group, CoordArguments& arguments, Command& chosen) noexcept
      : group_(group), arguments_(arguments), chosen_(chosen) {}

  [[nodiscard]] CLI::App& add(const char* name, const char* help, CoordFunction function) {
    CLI::App& command = *group_.add_subcommand(name, help);
    command.fallthrough();
    command.callback([&arguments = arguments_, &chosen = chosen_, function] {
      chosen = [&arguments, function](Context& context) {
        return run_coord_once(function, arguments, context);
      };
    });
    return command;
  }

  [[nodiscard]] CLI::App& add_of_run(const char* name, const char* help, CoordFunction function) {
    CLI::App& command = add(name, help, function);
    command.add_option("RUN", arguments_.run, "the run's id")->required();
    return command;
  }

  [[nodiscard]] CLI::App& add_of_shard(const char* name, const char* help, CoordFunction function) {
    CLI::App& command = add_of_run(name, help, function);
    command.add_option("SHARD", arguments_.shard, "the shard's id")->required();
    return command;
  }

  [[nodiscard]] CLI::App& add_of_lease(const char* name, const char* help, CoordFunction function) {
    CLI::App& command = add(name, help, function);
    command.add_option("--lease", arguments_.lease, "the lease object as it was printed")
        ->required();
    return command;
  }

  void add_page(CLI::App& command, const char* what) {
    command.add_option("--limit", arguments_.limit, "how many at most; all of them if absent");
    command.add_option("--after", arguments_.after, what);
  }

  CLI::Option* add_cursor(CLI::App& command) {
    command.add_option("--token", arguments_.token, "the connector's bytes, in hexadecimal");
    return command.add_option("--last-key", arguments_.last_key, "the last key that is done");
  }

  // Each --at takes one key.
  CLI::Option& add_cuts(CLI::App& command, const char* what) {
    return *command.add_option("--at", arguments_.at, what)->required()->allow_extra_args(false);
  }

  [[nodiscard]] CoordArguments& arguments() noexcept { return arguments_; }

 private:
  CLI::App& group_;
  CoordArguments& arguments_;
  Command& chosen_;
};

// `cadastre coord run` and `cadastre coord shard` alone.
Result<void, CommandError> ask_for_command(Context& /*context*/) {
  return base::fail(usage_error("which command? see cadastre coord --help"));
}

CLI::App& add_group(CLI::App& coord, const char* name, const char* help, Command& chosen) {
  CLI::App& group = *coord.add_subcommand(name, help);
  group.require_subcommand(0, 1)->fallthrough();
  choose_without_subcommand(group, chosen, ask_for_command);
  return group;
}

void add_run_create(Adder& runs) {
  CoordArguments& arguments = runs.arguments();
  CLI::App& create =
      runs.add_of_run("create",
                      "A new run, which waits for its shards\n"
                      "Example: cadastre coord run create 1 --lease-ms 30000 --backend memory",
                      once_run_create);
  create.add_option("--lease-ms", arguments.lease_ms, "how long a lease runs")->required();
  create
      .add_option("--semantics", arguments.semantics,
                  "what a cursor says of the keys up to it: completed (the default) or dispatched")
      ->check(CLI::IsMember({"completed", "dispatched"}));
  create.add_option("--max-retries", arguments.max_retries,
                    "advice to orchestrators: how often a shard may change hands");
}

void add_run_commands(CLI::App& group, CoordArguments& arguments, Command& chosen) {
  Adder runs(group, arguments, chosen);
  add_run_create(runs);
  runs.add_of_run("register",
                  "Gives a run its shards, once\n"
                  "Example: cadastre coord run register 1 plan.jsonl --backend HOST:PORT",
                  once_run_register)
      .add_option("FILE", arguments.file,
                  "lines of `shard plan --json`, or - for standard input; without ids they are "
                  "numbered from 1 on")
      ->required();
  std::ignore = runs.add_of_run("show",
                                "Status, configuration, counts and watermark of a run\n"
                                "Example: cadastre coord run show 1 --backend HOST:PORT",
                                once_run_show);
  runs.add_page(runs.add("list",
                         "The tenant's runs\n"
                         "Example: cadastre coord run list --backend HOST:PORT --limit 10",
                         once_run_list),
                "goes on behind this run");
  std::ignore = runs.add_of_run("complete",
                                "Ends an active run as done\n"
                                "Example: cadastre coord run complete 1 --backend HOST:PORT",
                                once_run_complete);
  std::ignore = runs.add_of_run("fail",
                                "Ends an active run as failed\n"
                                "Example: cadastre coord run fail 1 --backend HOST:PORT",
                                once_run_fail);
  std::ignore = runs.add_of_run("cancel",
                                "Ends a run that is not over yet\n"
                                "Example: cadastre coord run cancel 1 --backend HOST:PORT",
                                once_run_cancel);
  runs.add("gc",
           "Forgets the tenant's runs that ended before a time, and their shards\n"
           "Example: cadastre coord run gc --before 1700000000000 --backend HOST:PORT",
           once_run_gc)
      .add_option("--before", arguments.before, "a time, as --now")
      ->required();
}

void add_shard_list(Adder& shards) {
  CoordArguments& arguments = shards.arguments();
  CLI::App& list =
      shards.add_of_run("list",
                        "The shards of a run by start key\n"
                        "Example: cadastre coord shard list 1 --filter parked --backend HOST:PORT",
                        once_shard_list);
  list.add_option("--filter", arguments.filter, "all (the default), active, available or parked")
      ->check(CLI::IsMember({"all", "active", "available", "parked"}));
  list.add_flag("--root-only", arguments.root_only, "no shards that came from splits");
  shards.add_page(list, "goes on behind this shard");
}

void add_owner_commands(Adder& shards) {
  CoordArguments& arguments = shards.arguments();
  shards
      .add_of_run("claim",
                  "A lease of any free shard\n"
                  "Example: cadastre coord shard claim 1 --worker 7 --backend HOST:PORT",
                  once_claim)
      .add_option("--worker", arguments.worker, "the worker's id")
      ->required();
  shards
      .add_of_shard("acquire",
                    "A lease of one shard\n"
                    "Example: cadastre coord shard acquire 1 10 --worker 7 --backend HOST:PORT",
                    once_acquire)
      .add_option("--worker", arguments.worker, "the worker's id")
      ->required();
  std::ignore = shards.add_of_lease(
      "renew",
      "A later deadline\n"
      "Example: cadastre coord shard renew --lease \"$lease\" --backend HOST:PORT",
      once_renew);
  std::ignore = shards.add_of_shard("unpark",
                                    "Back to work, under a new fence\n"
                                    "Example: cadastre coord shard unpark 1 10 --backend HOST:PORT",
                                    once_unpark);
}

void add_work_commands(Adder& shards) {
  CoordArguments& arguments = shards.arguments();
  shards.add_cursor(shards.add_of_lease(
      "checkpoint",
      "Moves the cursor forward\n"
      "Example: cadastre coord shard checkpoint --lease \"$lease\" --last-key m "
      "--backend HOST:PORT",
      once_checkpoint));
  shards.add_cursor(shards.add_of_lease(
      "complete",
      "The shard is done\n"
      "Example: cadastre coord shard complete --lease \"$lease\" --last-key y --backend HOST:PORT",
      once_complete));
  shards.add_cursor(shards.add_of_lease(
      "release",
      "Gives the shard back for others to claim, perhaps with a last checkpoint\n"
      "Example: cadastre coord shard release --lease \"$lease\" --backend HOST:PORT",
      once_release));
  shards
      .add_of_lease("park",
                    "Sets the shard aside until someone unparks it\n"
                    "Example: cadastre coord shard park --lease \"$lease\" --reason poisoned "
                    "--backend HOST:PORT",
                    once_park)
      .add_option("--reason", arguments.reason,
                  "permission_denied, not_found, poisoned, too_many_errors or other")
      ->required()
      ->check(CLI::IsMember(
          {"permission_denied", "not_found", "poisoned", "too_many_errors", "other"}));
  shards.add_cuts(shards.add_of_lease("split-replace",
                                      "Ends the shard; children take its range\n"
                                      "Example: cadastre coord shard split-replace --lease "
                                      "\"$lease\" --at g --at m --backend HOST:PORT",
                                      once_split_replace),
                  "an interior key; once for each cut, in ascending order");
  shards
      .add_cuts(
          shards.add_of_lease("split-residual",
                              "The shard keeps what is below a key; a new one takes the rest\n"
                              "Example: cadastre coord shard split-residual --lease "
                              "\"$lease\" --at m --backend HOST:PORT",
                              once_split_residual),
          "an interior key")
      .expected(1);
}

}  // namespace

void add_coord_options(CLI::App& command, CoordArguments& arguments) {
  command.add_option("--backend", arguments.backend,
                     "memory, local:DIR, etcd:HOST:PORT[/prefix] or HOST:PORT; memory forgets "
                     "everything when the command ends and is for --batch");
  CLI::Option* const by_name =
      command.add_option("--tenant", arguments.tenant, "the tenant's name; default if absent");
  command.add_option("--tenant-id", arguments.tenant_id, "its 32 bytes, in hexadecimal")
      ->excludes(by_name);
  command.add_option("--now", arguments.now,
                     "logical time; if absent, milliseconds since the epoch");
  command.add_option("--op-id", arguments.op_id,
                     "names the request: repeat it with the same one; random if absent");
  add_access_options(command, arguments.access);
  command.add_option("--etcd-ca", arguments.etcd_ca, "PEM file of etcd's authority; means TLS");
  command.add_option("--etcd-cert", arguments.etcd_cert, "PEM file of this client's certificate");
  command.add_option("--etcd-key", arguments.etcd_key, "PEM file of the certificate's key");
  command.add_option("--etcd-user-file", arguments.etcd_user_file,
                     "file whose first line is NAME:PASSWORD");
  command.add_option("--etcd-owner-ttl", arguments.etcd_owner_ttl,
                     "seconds that etcd keeps an owner who does not renew, 60 if absent; a run "
                     "with a longer lease is refused");
}

void add_coord_commands(CLI::App& app, CoordArguments& arguments, Command& chosen) {
  CLI::App& coord = *app.add_subcommand(
      "coord",
      "Who works on which shard\n"
      "Examples: cadastre coord --batch --backend memory < requests\n"
      "          cadastre coord run create 1 --lease-ms 30000 --backend memory");
  coord.require_subcommand(0, 1)->fallthrough();
  choose_without_subcommand(coord, chosen, [&arguments](Context& context) {
    return run_coord_batch(arguments, context);
  });
  add_coord_options(coord, arguments);
  // Inherited by every command below.
  coord.footer(
      "All coord commands take --backend, --tenant or --tenant-id, --now and --op-id: see cadastre "
      "coord --help.\n"
      "The memory backend forgets everything when the command ends; it is for --batch.\n" +
      coord.get_footer());
  add_run_commands(add_group(coord, "run",
                             "Runs: one pass over a data source\n"
                             "Example: cadastre coord run show 1 --backend HOST:PORT",
                             chosen),
                   arguments, chosen);
  Adder shards(add_group(coord, "shard",
                         "Shards: a range and how far it is\n"
                         "Example: cadastre coord shard claim 1 --worker 7 --backend HOST:PORT",
                         chosen),
               arguments, chosen);
  add_shard_list(shards);
  add_owner_commands(shards);
  add_work_commands(shards);
}

}  // namespace cadastre::cli
