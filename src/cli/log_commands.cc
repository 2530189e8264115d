#include "cli/log_commands.h"

#include <CLI/App.hpp>
#include <CLI/Option.hpp>

#include "cli/command.h"
#include "cli/command_choice.h"
#include "cli/log_dump.h"

namespace cadastre::cli {

void add_log_commands(CLI::App& app, LogArguments& arguments, Command& chosen) {
  CLI::App& group = *app.add_subcommand("log", "A look into a log's directory");
  group.require_subcommand(0, 1);
  group.fallthrough();
  choose_without_subcommand(group, chosen, [](Context&) -> Result<void, CommandError> {
    return base::fail(usage_error("which command? see cadastre log --help"));
  });
  CLI::App& dump = *group.add_subcommand(
      "dump",
      "Prints a log's groups, their state and their entries; read-only, also from a damaged log\n"
      "Example: cadastre log dump data/log --group 7");
  dump.fallthrough();
  dump.add_option("DIR", arguments.directory, "the log's directory")->required();
  dump.add_option("--group", arguments.group, "only this group");
  dump.add_flag("--bodies", arguments.bodies, "the entries' bytes too, in hexadecimal");
  dump.callback([&arguments, &chosen] {
    chosen = [&arguments](Context& context) {
      return run_log_dump(arguments, context);
    };
  });
}

}  // namespace cadastre::cli
