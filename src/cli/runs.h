// `cadastre runs`: the tenant's runs as a table that keeps itself up to date, with bars, rates and the time
// left; with --json one line for each run, and with --watch again every second.

#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/coord_commands.h"
#include "cli/coord_once.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace cadastre::cli {

// Once, or until no run is active if it watches.
[[nodiscard]] Result<std::string, CommandError> once_runs(CoordCall& call);

// Adds the command to `app`. Both borrowed objects outlive the parse and the chosen command.
void add_runs_command(CLI::App& app, CoordArguments& arguments, Command& chosen);

}  // namespace cadastre::cli
