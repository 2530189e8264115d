// Growing up, and the way back (L-27): a server's own directory becomes the one voter of a cluster, and the reverse. On a
// closed directory; no entry is rewritten. Killed at any point, the same call goes on where it stands.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "log/types.h"
#include "node/closed_group.h"

namespace cadastre::node {

struct Converted {
  log::ClusterId cluster = {};
  log::NodeId node = {};
  log::Position last = {};
};

// The topology's coordination group has exactly this node as its voter.
[[nodiscard]] base::Result<Converted, ClosedError> convert_to_raft(
    const std::filesystem::path& directory, const std::string& topology, log::NodeId node);

// The group's members are this node alone.
[[nodiscard]] base::Result<Converted, ClosedError> convert_to_local(
    const std::filesystem::path& directory);

}  // namespace cadastre::node
