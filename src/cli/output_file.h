// Writing a file whole: it is there with all its bytes, or as it was before.

#pragma once

#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/command_error.h"

namespace cadastre::cli {

using base::Result;

// Replaces the file at `path` by `content`, synced. What is not a regular file (a pipe, a terminal) is
// written to as it stands.
[[nodiscard]] Result<void, CommandError> write_file(const std::string& path,
                                                    base::ByteView content);

}  // namespace cadastre::cli
