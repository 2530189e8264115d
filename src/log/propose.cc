#include "log/propose.h"

namespace cadastre::log {

std::string_view name_of(ProposeError error) noexcept {
  switch (error) {
    case ProposeError::kNotLeader: return "not_leader";
    case ProposeError::kOverloaded: return "overloaded";
    case ProposeError::kTooLarge: return "too_large";
    case ProposeError::kStopped: return "stopped";
    case ProposeError::kSuperseded: return "superseded";
    case ProposeError::kOutcomeUnknown: return "outcome_unknown";
  }
  return "unknown";
}

std::string_view name_of(ReadMode mode) noexcept {
  switch (mode) {
    case ReadMode::kLinearizable: return "linearizable";
    case ReadMode::kFollower: return "follower";
    case ReadMode::kLeaseIfValid: return "lease";
  }
  return "unknown";
}

}  // namespace cadastre::log
