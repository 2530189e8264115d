// Sets as files, in the portable 64-bit roaring format that other implementations read and write.

#pragma once

#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/bitmap_session.h"
#include "cli/command_error.h"
#include "cli/input_file.h"

namespace cadastre::cli {

using base::Result;

// Replaces the file.
[[nodiscard]] Result<std::string, CommandError> export_set(BitmapSession& session,
                                                           base::ByteView key,
                                                           const std::string& path);

// Adds what the file holds to the set, in one transaction.
[[nodiscard]] Result<std::string, CommandError> import_set(BitmapSession& session,
                                                           base::ByteView key,
                                                           const InputFile& file);

}  // namespace cadastre::cli
