// `cadastre bitmap`: sets of 64-bit ids under keys, in the tables of a directory.
//
// A command opens the directory, asks once and ends; a batch keeps it open for all its requests
// (bitmap_batch.h).

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace cadastre::cli {

// Where the parser puts what was typed.
struct BitmapArguments {
  // Of all commands.
  std::string db;
  std::optional<std::string> table;
  std::optional<std::string> shards;
  std::optional<std::string> segment_bytes;

  std::string key;
  std::vector<std::optional<std::string>> more_keys;  // of set operations; behind the last one none
  std::string id;
  std::vector<std::string> ids;
  std::optional<std::string> from;
  std::optional<std::string> limit;
  bool count_only = false;
  std::string prefix;
  std::optional<std::string> after;
  std::string file;
  std::string directory;
};

// Adds the commands to `app`. Both borrowed objects outlive the parse and the chosen command.
void add_bitmap_commands(CLI::App& app, BitmapArguments& arguments, Command& chosen);

}  // namespace cadastre::cli
