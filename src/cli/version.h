// What this binary is: version, commit, compiler, the engines and backends built in, and raft-rs or
// why it is not.

#pragma once

#include <string>

#include "cli/options.h"

namespace cadastre::cli {

// {"version":V,"commit":C,"compiler":TEXT,"engines":[],"backends":[],"raft":TEXT}, or a few lines.
[[nodiscard]] std::string version_answer(Format format);

}  // namespace cadastre::cli
