// The page /readyz of a node that has opened and is not stopping: whether callers should come here.

#pragma once

#include <string>

#include "log/disk_space.h"
#include "server/http/http_server.h"

namespace cadastre::node {

struct Readiness {
  std::string halted = {};  // Why a group does no more here (L-20); empty: all do.
  bool has_leader = true;   // Of a group of several nodes: one is known.
  log::Space space = log::Space::kPlenty;
};

[[nodiscard]] server::HttpAnswer ready_page(const Readiness& now);

}  // namespace cadastre::node
