// One request of a batch of bitmap tables: {"op":"add","key":K,"ids":[...]} and so on.

#pragma once

#include <string>

#include "base/result.h"
#include "cli/bitmap_session.h"
#include "cli/command_error.h"
#include "cli/json_fields.h"

namespace cadastre::cli {

using base::Result;

// Whatever the request holds, it is answered or refused.
[[nodiscard]] Result<std::string, CommandError> answer_bitmap_request(BitmapSession& session,
                                                                      const JsonFields& request);

}  // namespace cadastre::cli
