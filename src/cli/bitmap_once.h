// A command on bitmap tables outside a batch: typed arguments to one operation and its answer.

#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "cli/bitmap_commands.h"
#include "cli/bitmap_session.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/options.h"
#include "node/bitmaps.h"

namespace cadastre::cli {

// An open directory.
struct BitmapCall {
  node::Bitmaps& bitmaps;
  BitmapSession& session;
  Context& context;
};

// What a command does once its arguments are known to be right: wrong ones touch no directory.
using BitmapWork = std::function<Result<std::string, CommandError>(BitmapCall& call)>;
using PrepareBitmap = Result<BitmapWork, CommandError> (*)(const BitmapArguments& arguments,
                                                           KeyForm keys);

// Commands that only read share the directory with each other.
struct BitmapCommand {
  PrepareBitmap prepare;
  node::BitmapsAccess access = node::BitmapsAccess::kReadOnly;
};

// Opens the directory and prints what the command answers, unless that is nothing.
[[nodiscard]] Result<void, CommandError> run_bitmap_once(BitmapCommand command,
                                                         const BitmapArguments& arguments,
                                                         Context& context);

// Opens the directory and answers every line of standard input.
[[nodiscard]] Result<void, CommandError> run_bitmap_batch(const BitmapArguments& arguments,
                                                          Context& context);

[[nodiscard]] Result<BitmapWork, CommandError> prepare_add(const BitmapArguments& arguments,
                                                           KeyForm keys);
[[nodiscard]] Result<BitmapWork, CommandError> prepare_remove(const BitmapArguments& arguments,
                                                              KeyForm keys);
[[nodiscard]] Result<BitmapWork, CommandError> prepare_contains(const BitmapArguments& arguments,
                                                                KeyForm keys);
[[nodiscard]] Result<BitmapWork, CommandError> prepare_count(const BitmapArguments& arguments,
                                                             KeyForm keys);
[[nodiscard]] Result<BitmapWork, CommandError> prepare_get(const BitmapArguments& arguments,
                                                           KeyForm keys);
[[nodiscard]] Result<BitmapWork, CommandError> prepare_and(const BitmapArguments& arguments,
                                                           KeyForm keys);
[[nodiscard]] Result<BitmapWork, CommandError> prepare_or(const BitmapArguments& arguments,
                                                          KeyForm keys);
[[nodiscard]] Result<BitmapWork, CommandError> prepare_andnot(const BitmapArguments& arguments,
                                                              KeyForm keys);
[[nodiscard]] Result<BitmapWork, CommandError> prepare_xor(const BitmapArguments& arguments,
                                                           KeyForm keys);
[[nodiscard]] Result<BitmapWork, CommandError> prepare_compact(const BitmapArguments& arguments,
                                                               KeyForm keys);
[[nodiscard]] Result<BitmapWork, CommandError> prepare_erase(const BitmapArguments& arguments,
                                                             KeyForm keys);
[[nodiscard]] Result<BitmapWork, CommandError> prepare_keys(const BitmapArguments& arguments,
                                                            KeyForm keys);
[[nodiscard]] Result<BitmapWork, CommandError> prepare_stats(const BitmapArguments& arguments,
                                                             KeyForm keys);
[[nodiscard]] Result<BitmapWork, CommandError> prepare_verify(const BitmapArguments& arguments,
                                                              KeyForm keys);
[[nodiscard]] Result<BitmapWork, CommandError> prepare_export(const BitmapArguments& arguments,
                                                              KeyForm keys);
[[nodiscard]] Result<BitmapWork, CommandError> prepare_import(const BitmapArguments& arguments,
                                                              KeyForm keys);
[[nodiscard]] Result<BitmapWork, CommandError> prepare_backup(const BitmapArguments& arguments,
                                                              KeyForm keys);

}  // namespace cadastre::cli
