// The command line as CLI11 reads it: global flags, and the command that was chosen.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/options.h"

namespace cadastre::cli {

using base::Result;

// Arguments for CLI11, the program's name not among them. `--name=` becomes `--name` and an empty
// value, which CLI11 would otherwise take from the argument behind it.
[[nodiscard]] std::vector<std::string> with_empty_values(std::span<char* const> arguments);

// How errors are told, found before the options are known: as JSON with --json and in a batch.
[[nodiscard]] Format format_asked_for(std::span<const std::string> arguments);

// Parses and hands the command to `run`, while its arguments live. Help and version are commands.
[[nodiscard]] Result<void, CommandError> parse_and_run(
    std::vector<std::string> arguments,
    base::FunctionRef<Result<void, CommandError>(const Options&, const Command&)> run);

}  // namespace cadastre::cli
