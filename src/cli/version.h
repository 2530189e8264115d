// What this binary is: version, commit, compiler, and the engines and backends built in.

#pragma once

#include <string>

#include "cli/options.h"

namespace cadastre::cli {

// {"version":V,"commit":C,"compiler":TEXT,"engines":[],"backends":[]}, or a few lines.
[[nodiscard]] std::string version_answer(Format format);

}  // namespace cadastre::cli
