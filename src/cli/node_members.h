// `cadastre node status|add|remove|transfer|replace`, carried out over client::ClusterAdmin.

#pragma once

#include "base/result.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/node_commands.h"

namespace cadastre::cli {

[[nodiscard]] Result<void, CommandError> run_node_status(const NodeArguments& arguments,
                                                         Context& context);
[[nodiscard]] Result<void, CommandError> run_node_add(const NodeArguments& arguments,
                                                      Context& context);
[[nodiscard]] Result<void, CommandError> run_node_remove(const NodeArguments& arguments,
                                                         Context& context);
[[nodiscard]] Result<void, CommandError> run_node_transfer(const NodeArguments& arguments,
                                                           Context& context);
[[nodiscard]] Result<void, CommandError> run_node_replace(const NodeArguments& arguments,
                                                          Context& context);

}  // namespace cadastre::cli
