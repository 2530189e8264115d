#include "cli/node_commands.h"

#include <CLI/App.hpp>
#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>

#include "cli/command.h"
#include "cli/command_choice.h"
#include "cli/command_error.h"
#include "cli/node_closed.h"
#include "cli/node_members.h"
#include "cli/remote_access.h"

namespace cadastre::cli {
namespace {

using NodeCommand = Result<void, CommandError> (*)(const NodeArguments&, Context&);

CLI::App& add(CLI::App& group,
              const char* name,
              const char* what,
              NodeCommand command,
              NodeArguments& arguments,
              Command& chosen) {
  CLI::App& added = *group.add_subcommand(name, what);
  added.fallthrough();
  added.callback([&arguments, &chosen, command] {
    chosen = [&arguments, command](Context& context) {
      return command(arguments, context);
    };
  });
  return added;
}

void add_server(CLI::App& command, NodeArguments& arguments) {
  command.add_option("--server", arguments.server,
                     "HOST:PORT of any node, or of several by commas (127.0.0.1:7400)");
  add_access_options(command, arguments.access);
}

void add_patience(CLI::App& command, NodeArguments& arguments) {
  command.add_option("--timeout", arguments.timeout_seconds, "seconds to wait in all (600)");
}

void add_addresses(CLI::App& command, NodeArguments& arguments) {
  command.add_option("--peer", arguments.peer, "HOST:PORT where other nodes find it");
  command.add_option("--service", arguments.service, "HOST:PORT where clients find it");
}

void add_members(CLI::App& group, NodeArguments& arguments, Command& chosen) {
  CLI::App& status = add(group, "status",
                         "Prints the group's members, as its leader sees them\n"
                         "Example: cadastre node status --server 127.0.0.1:7400",
                         run_node_status, arguments, chosen);
  add_server(status, arguments);
  status.add_flag("--here", arguments.here, "as the node that is asked sees them");

  CLI::App& joins =
      add(group, "add",
          "Adds a node that was started with --join, as a learner; --promote makes it a voter\n"
          "Example: cadastre node add 4 --peer 10.0.0.4:7402 --service 10.0.0.4:7400 --promote",
          run_node_add, arguments, chosen);
  joins.add_option("ID", arguments.node, "its raft_id, which was never used before")->required();
  add_server(joins, arguments);
  add_addresses(joins, arguments);
  add_patience(joins, arguments);
  joins.add_flag("--promote", arguments.promote, "waits until it has caught up, and lets it vote");
  joins.add_flag("--force", arguments.force, "promotes though it has not caught up");

  CLI::App& leaves = add(group, "remove",
                         "Removes a member for ever; its raft_id is never used again\n"
                         "Example: cadastre node remove 3",
                         run_node_remove, arguments, chosen);
  leaves.add_option("ID", arguments.node, "its raft_id")->required();
  add_server(leaves, arguments);
  add_patience(leaves, arguments);
  leaves.add_flag("--force", arguments.force,
                  "though those who remain have no quorum that was heard");

  CLI::App& transfer = add(group, "transfer",
                           "Lets another voter lead\n"
                           "Example: cadastre node transfer 2",
                           run_node_transfer, arguments, chosen);
  transfer.add_option("ID", arguments.node, "its raft_id")->required();
  add_server(transfer, arguments);
  transfer.add_flag("--force", arguments.force, "though it lacks entries");

  CLI::App& replace =
      add(group, "replace",
          "Replaces a voter by a new node: adds, waits, swaps; killed at any step, run it again\n"
          "Example: cadastre node replace 3 4 --peer 10.0.0.4:7402 --service 10.0.0.4:7400",
          run_node_replace, arguments, chosen);
  replace.add_option("OLD", arguments.old_node, "the voter's raft_id")->required();
  replace.add_option("NEW", arguments.node, "the new node's, which was never used before")
      ->required();
  add_server(replace, arguments);
  add_addresses(replace, arguments);
  add_patience(replace, arguments);
}

void add_closed(CLI::App& group, NodeArguments& arguments, Command& chosen) {
  CLI::App& convert =
      add(group, "convert",
          "Makes the one voter of a cluster of a server's closed directory, or the reverse\n"
          "Example: cadastre node convert data --to raft --topology cluster.txt --node 1",
          run_node_convert, arguments, chosen);
  convert.add_option("DIR", arguments.directory, "the data directory")->required();
  convert.add_option("--to", arguments.to, "raft or local")
      ->required()
      ->check(CLI::IsMember({"raft", "local"}));
  convert.add_option("--topology", arguments.topology, "of the cluster, with this voter alone");
  convert.add_option("--node", arguments.node, "its raft_id");

  CLI::App& recover =
      add(group, "recover",
          "After the loss of a quorum: what the survivors have, and with --keep the group's\n"
          "continuation by some of them. Acknowledged writes may be lost. Work on copies.\n"
          "Example: cadastre node recover --group 1 --keep 1 --highest 1 copy1",
          run_node_recover, arguments, chosen);
  recover.add_option("DIR", arguments.directories, "copies of the survivors' data directories")
      ->required();
  recover.add_option("--group", arguments.group, "the group (1)");
  recover
      .add_option("--keep", arguments.keep,
                  "a voter from now on; several with commas, or once for each")
      ->allow_extra_args(false)
      ->delimiter(',');
  recover.add_option("--highest", arguments.highest, "the survivor that has most, as you saw");
}

}  // namespace

void add_node_commands(CLI::App& app, NodeArguments& arguments, Command& chosen) {
  CLI::App& group = *app.add_subcommand("node", "The nodes of a cluster");
  group.require_subcommand(0, 1);
  group.fallthrough();
  choose_without_subcommand(group, chosen, [](Context&) -> Result<void, CommandError> {
    return base::fail(usage_error("which command? see cadastre node --help"));
  });
  add_members(group, arguments, chosen);
  add_closed(group, arguments, chosen);
}

}  // namespace cadastre::cli
