// Batches: one JSON request per line in, one JSON answer per line out, in order.
//
// An error answer takes the place of the result and the batch goes on; only a line that is not JSON
// ends it. Answers are flushed before the batch waits for more input. Memory does not grow with the
// number of lines.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/json_fields.h"
#include "cli/limits.h"

namespace cadastre::cli {

using AnswerRequest = base::FunctionRef<Result<std::string, CommandError>(const JsonFields&)>;

// A longer line than `line_bytes_max` is answered with an error, unread.
[[nodiscard]] Result<void, CommandError> run_batch(Context& context,
                                                   AnswerRequest answer,
                                                   std::size_t line_bytes_max = kBatchLineBytesMax);

// What one line is answered with: not_json ends the batch.
[[nodiscard]] Result<std::string, CommandError> answer_line(std::string_view line,
                                                            AnswerRequest answer);

}  // namespace cadastre::cli
