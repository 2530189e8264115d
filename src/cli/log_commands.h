// `cadastre log`: a look into a log's directory.

#pragma once

#include <optional>
#include <string>

#include "cli/command.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace cadastre::cli {

// Where the parser puts what was typed.
struct LogArguments {
  std::string directory;
  std::optional<std::string> group;
  bool bodies = false;
};

// Adds the commands to `app`. Both borrowed objects outlive the parse and the chosen command.
void add_log_commands(CLI::App& app, LogArguments& arguments, Command& chosen);

}  // namespace cadastre::cli
