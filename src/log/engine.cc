#include "log/engine.h"

namespace cadastre::log {

std::string_view name_of(Role role) noexcept {
  switch (role) {
    case Role::kFollower: return "follower";
    case Role::kPreCandidate: return "pre_candidate";
    case Role::kCandidate: return "candidate";
    case Role::kLeader: return "leader";
    case Role::kLearner: return "learner";
    case Role::kHalted: return "halted";
  }
  return "follower";
}

}  // namespace cadastre::log
