// `cadastre shard`: plans a keyspace or a manifest into shards, and checks a set of shards.

#pragma once

#include <string>

#include "cli/command.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace cadastre::cli {

// Where the parser puts what was typed.
struct ShardArguments {
  std::string start;
  std::string end;
  std::string count;
  std::string manifest;
  std::string rows;
  std::string per_shard;
  std::string file;
};

// Adds the commands to `app`. Both borrowed objects outlive the parse and the chosen command.
void add_shard_commands(CLI::App& app, ShardArguments& arguments, Command& chosen);

}  // namespace cadastre::cli
