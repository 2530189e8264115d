#include "sim/coord/explorer/action.h"

#include <string>

#include <fmt/format.h>

#include "sim/coord/request.h"

namespace cadastre::sim {

std::string to_text(const Action& action) {
  switch (action.kind) {
    case ActionKind::kTick: return "tick";
    case ActionKind::kConflict:
      return fmt::format("worker {} shard {}: checkpoint of key {} with the op id of key {}",
                         action.worker, action.shard, action.key, action.other_key);
    case ActionKind::kForge:
      return fmt::format("worker {} shard {}: checkpoint under a fence it was never granted",
                         action.worker, action.shard);
    case ActionKind::kSend: break;
  }
  return fmt::format("worker {} shard {}: {} key {} fence {} op of fence {}", action.worker,
                     action.shard, name(action.call), action.key, action.fence, action.op_fence);
}

}  // namespace cadastre::sim
