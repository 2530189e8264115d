// `cadastre node convert|recover`, carried out on closed directories.

#pragma once

#include "base/result.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/node_commands.h"

namespace cadastre::cli {

[[nodiscard]] Result<void, CommandError> run_node_convert(const NodeArguments& arguments,
                                                          Context& context);
// Without --keep a survey; with it the continuation.
[[nodiscard]] Result<void, CommandError> run_node_recover(const NodeArguments& arguments,
                                                          Context& context);

}  // namespace cadastre::cli
