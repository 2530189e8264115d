// `cadastre log dump`: one line for the node, each group, each entry and each damage.

#pragma once

#include "base/result.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/log_commands.h"

namespace cadastre::cli {

// Prints what can be read. The error `damaged_log` says, at the end, that there was damage.
[[nodiscard]] Result<void, CommandError> run_log_dump(const LogArguments& arguments,
                                                      Context& context);

}  // namespace cadastre::cli
