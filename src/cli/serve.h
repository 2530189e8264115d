// `cadastre serve`, `cadastre backup` and `cadastre restore`, carried out.

#pragma once

#include "base/result.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/serve_commands.h"

namespace cadastre::cli {

// Until SIGTERM or SIGINT. The ready line is JSON with and without --json.
[[nodiscard]] Result<void, CommandError> run_serve(const ServeArguments& arguments,
                                                   Context& context);

[[nodiscard]] Result<void, CommandError> run_backup(const BackupArguments& arguments,
                                                    Context& context);
[[nodiscard]] Result<void, CommandError> run_restore(const BackupArguments& arguments,
                                                     Context& context);

}  // namespace cadastre::cli
