// One request of a coordination batch: {"op":"claim","tenant":...,"now":N,...} and so on.

#pragma once

#include <string>

#include "base/result.h"
#include "cli/command_error.h"
#include "cli/coord_session.h"
#include "cli/json_fields.h"

namespace cadastre::cli {

using base::Result;

// Whatever the request holds, it is answered or refused.
[[nodiscard]] Result<std::string, CommandError> answer_coord_request(CoordSession& session,
                                                                     const JsonFields& request);

}  // namespace cadastre::cli
