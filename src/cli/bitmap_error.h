// Errors of bitmap tables as the command line tells them: a code in snake case, a sentence that says
// what to do, and no key's bytes. The codes are those of bitmap::Error, and clearer ones where the cause
// below it says more.

#pragma once

#include "bitmap/error.h"
#include "cli/command_error.h"

namespace cadastre::cli {

[[nodiscard]] CommandError from_bitmap(const bitmap::Error& error);

// A file that should hold a portable 64-bit roaring bitmap does not.
[[nodiscard]] CommandError not_portable(bitmap::ValueFault fault);

}  // namespace cadastre::cli
