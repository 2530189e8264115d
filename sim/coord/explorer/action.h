// Action: one edge of the explored graph. Eight bytes, so that millions can be kept.

#pragma once

#include <cstdint>
#include <string>

#include "sim/coord/request.h"

namespace cadastre::sim {

enum class ActionKind : std::uint8_t {
  kTick,
  kSend,      // `call`: the first time it is new, later a retry
  kConflict,  // the op id of a checkpoint, for another key
  kForge,     // a checkpoint under the fence in force, by a worker that was never granted it
};

struct Action {
  ActionKind kind = ActionKind::kTick;
  Call call = Call::kAcquire;
  std::uint8_t worker = 0;
  std::uint8_t shard = 0;     // its place in the order of appearance
  std::uint8_t fence = 0;     // of the lease that is presented
  std::uint8_t op_fence = 0;  // of the lease under which the op id was first used
  std::uint8_t key = 0;
  std::uint8_t other_key = 0;  // of kConflict: the key it was used for
};
static_assert(sizeof(Action) == 8);

[[nodiscard]] std::string to_text(const Action& action);

}  // namespace cadastre::sim
