// A command: what the command line asks for, once it is known to be well-formed.
//
// The classes that add commands to the parser fill in a Command while it parses; nothing happens
// before the whole line has been accepted.

#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "cli/command_error.h"
#include "cli/options.h"
#include "cli/output.h"

namespace cadastre::cli {

using base::Result;

// What a command works on.
struct Context {
  Options options;
  Output& out;
  int input = -1;  // the descriptor of standard input
  const base::Clock& clock;
  base::Random& random;
};

// On an error, nothing has been printed, except by a batch.
using Command = std::function<Result<void, CommandError>(Context&)>;

// A command that gives one answer.
using AnswerFunction = std::function<Result<std::string, CommandError>(Form)>;
[[nodiscard]] Command print_answer_of(AnswerFunction answer);

}  // namespace cadastre::cli
