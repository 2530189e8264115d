// `cadastre key`: successors, midpoints, fair cuts and row keys.
//
// Absence is an answer: inverted or equal bounds, oversized keys and exhausted spaces give none.

#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/json_fields.h"
#include "cli/options.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace cadastre::cli {

// Where the parser puts what was typed.
struct KeyArguments {
  std::string first;  // each command's arguments in order
  std::string second;
};

// Adds the commands to `app`. Both borrowed objects outlive the parse and the chosen command.
void add_key_commands(CLI::App& app, KeyArguments& arguments, Command& chosen);

// One request of a batch: {"op":"successor","key":K} and so on.
[[nodiscard]] Result<std::string, CommandError> answer_key_request(const JsonFields& request,
                                                                   KeyForm keys);

}  // namespace cadastre::cli
