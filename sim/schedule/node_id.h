// NodeId: a simulated process. Id 0 is the world around them: whatever it owns outlives every crash.

#pragma once

#include <cstdint>

#include "base/strong.h"

namespace cadastre::sim {

using NodeId = base::Strong<struct NodeIdTag>;

inline constexpr NodeId kWorld{0};
inline constexpr std::uint64_t kNodeIdMax = 4095;  // Tables of nodes are indexed by id.

}  // namespace cadastre::sim
