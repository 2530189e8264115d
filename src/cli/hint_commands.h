// `cadastre hint`: metadata to and from hints, and what a split makes of them.
//
// Bytes are always hexadecimal here, with and without --hex.

#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/json_fields.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace cadastre::cli {

// Where the parser puts what was typed.
struct HintArguments {
  std::string first;  // each command's arguments in order
  std::string second;
  std::string third;
  std::string extra;
};

// Adds the commands to `app`. Both borrowed objects outlive the parse and the chosen command.
void add_hint_commands(CLI::App& app, HintArguments& arguments, Command& chosen);

// One request of a batch: {"op":"decode","metadata":HEX} and so on.
[[nodiscard]] Result<std::string, CommandError> answer_hint_request(const JsonFields& request);

}  // namespace cadastre::cli
