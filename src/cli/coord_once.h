// A coordination command outside a batch: typed arguments to one operation and its answer.

#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/coord_commands.h"
#include "cli/coord_request.h"
#include "cli/coord_session.h"
#include "coord/identity.h"

namespace cadastre::cli {

struct CoordCall {
  CoordSession& session;
  const CoordArguments& arguments;
  const Context& context;
  Caller caller;
  coord::OpId op;
};

using CoordFunction = Result<std::string, CommandError> (*)(CoordCall& call);

// Opens the backend and prints what `function` answers, unless that is nothing.
[[nodiscard]] Result<void, CommandError> run_coord_once(CoordFunction function,
                                                        const CoordArguments& arguments,
                                                        Context& context);

// Opens the backend and answers every line of standard input.
[[nodiscard]] Result<void, CommandError> run_coord_batch(const CoordArguments& arguments,
                                                         Context& context);

[[nodiscard]] Result<std::string, CommandError> once_run_create(CoordCall& call);
[[nodiscard]] Result<std::string, CommandError> once_run_register(CoordCall& call);
[[nodiscard]] Result<std::string, CommandError> once_run_show(CoordCall& call);
[[nodiscard]] Result<std::string, CommandError> once_run_list(CoordCall& call);
[[nodiscard]] Result<std::string, CommandError> once_run_complete(CoordCall& call);
[[nodiscard]] Result<std::string, CommandError> once_run_fail(CoordCall& call);
[[nodiscard]] Result<std::string, CommandError> once_run_cancel(CoordCall& call);
[[nodiscard]] Result<std::string, CommandError> once_run_gc(CoordCall& call);
[[nodiscard]] Result<std::string, CommandError> once_shard_list(CoordCall& call);
[[nodiscard]] Result<std::string, CommandError> once_claim(CoordCall& call);
[[nodiscard]] Result<std::string, CommandError> once_acquire(CoordCall& call);
[[nodiscard]] Result<std::string, CommandError> once_renew(CoordCall& call);
[[nodiscard]] Result<std::string, CommandError> once_checkpoint(CoordCall& call);
[[nodiscard]] Result<std::string, CommandError> once_complete(CoordCall& call);
[[nodiscard]] Result<std::string, CommandError> once_release(CoordCall& call);
[[nodiscard]] Result<std::string, CommandError> once_park(CoordCall& call);
[[nodiscard]] Result<std::string, CommandError> once_unpark(CoordCall& call);
[[nodiscard]] Result<std::string, CommandError> once_split_replace(CoordCall& call);
[[nodiscard]] Result<std::string, CommandError> once_split_residual(CoordCall& call);

}  // namespace cadastre::cli
