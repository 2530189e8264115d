#include "cli/command.h"

#include <utility>

#include "base/result.h"
#include "cli/command_error.h"
#include "cli/options.h"

namespace cadastre::cli {

Command print_answer_of(AnswerFunction answer) {
  return [answer = std::move(answer)](Context& context) -> Result<void, CommandError> {
    if (context.options.mode == Mode::kBatch) {
      return base::fail(usage_error("a batch has its commands on standard input"));
    }
    context.out.line(CAD_TRY(answer(context.options.form)));
    return {};
  };
}

}  // namespace cadastre::cli
