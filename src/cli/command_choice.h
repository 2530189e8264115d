// Ties a parser's subcommand to the function that carries it out. For the files that know CLI11.

#pragma once

#include <string>
#include <utility>

#include <CLI/App.hpp>

#include "base/result.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/options.h"

namespace cadastre::cli {

template <class Arguments>
using AnswerArguments = Result<std::string, CommandError> (*)(const Arguments&, Form);

// Once `subcommand` is parsed, the chosen command prints what `answer` makes of the arguments. Both
// references outlive the parse and the chosen command.
template <class Arguments>
void choose_answer(CLI::App& subcommand,
                   const Arguments& arguments,
                   Command& chosen,
                   AnswerArguments<Arguments> answer) {
  subcommand.callback([&arguments, &chosen, answer] {
    chosen = print_answer_of([&arguments, answer](Form form) { return answer(arguments, form); });
  });
}

// The command of a group that was named without one of its own: a batch, or wrong usage.
inline void choose_without_subcommand(CLI::App& group, Command& chosen, Command command) {
  group.callback([&group, &chosen, command = std::move(command)] {
    if (group.get_subcommands().empty()) chosen = command;
  });
}

}  // namespace cadastre::cli
