// `cadastre node`: the members of a cluster's group, by way of any of its nodes, and what is done to closed directories.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/remote_access.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace cadastre::cli {

// Where the parser puts what was typed.
struct NodeArguments {
  std::string server = "127.0.0.1:7400";
  AccessArguments access;
  std::uint64_t node = 0;
  std::uint64_t old_node = 0;
  std::string peer;
  std::string service;
  std::uint64_t timeout_seconds = 600;
  bool promote = false;
  bool force = false;
  bool here = false;

  // Of closed directories.
  std::string directory;
  std::string topology;
  std::string to;
  std::uint64_t group = 1;
  std::vector<std::uint64_t> keep;
  std::optional<std::uint64_t> highest;
  std::vector<std::string> directories;
};

// Adds the commands to `app`. Both borrowed objects outlive the parse and the chosen command.
void add_node_commands(CLI::App& app, NodeArguments& arguments, Command& chosen);

}  // namespace cadastre::cli
