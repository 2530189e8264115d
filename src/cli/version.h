// What this binary is: version, commit, compiler, and the engines and backends built in.

#pragma once

#include <string>

namespace cadastre::cli {

[[nodiscard]] std::string version_text();

}  // namespace cadastre::cli
