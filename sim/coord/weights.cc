// How often each operation is chosen. The first numbers are percentages of the specification; what
// it does not know comes on top.

#include <array>
#include <span>

#include "sim/coord/driver.h"

namespace cadastre::sim {
namespace {

constexpr std::array kWarmUp{
    Weight{Operation::kAcquire, 30},    Weight{Operation::kRenew, 20},
    Weight{Operation::kCheckpoint, 25}, Weight{Operation::kComplete, 15},
    Weight{Operation::kPark, 10},
};

constexpr std::array kSafety{
    Weight{Operation::kAcquire, 13},
    Weight{Operation::kRenew, 10},
    Weight{Operation::kCheckpoint, 13},
    Weight{Operation::kComplete, 8},
    Weight{Operation::kPark, 3},
    Weight{Operation::kUnpark, 2},
    Weight{Operation::kSplitReplace, 4},
    Weight{Operation::kSplitResidual, 4},
    Weight{Operation::kReplay, 2},
    Weight{Operation::kConflict, 2},
    Weight{Operation::kZombie, 3},
    Weight{Operation::kClaim, 3},
    Weight{Operation::kSession, 8},
    Weight{Operation::kAdvance, 9},
    Weight{Operation::kPause, 8},
    Weight{Operation::kTerminateRun, 2},
    Weight{Operation::kResume, 6},
    // Beyond the hundred.
    Weight{Operation::kRelease, 4},
    Weight{Operation::kRenewMany, 2},
    Weight{Operation::kMischief, 4},
    Weight{Operation::kRetry, 4},
};

constexpr std::array kLiveness{
    Weight{Operation::kAcquire, 30},    Weight{Operation::kRenew, 10},
    Weight{Operation::kCheckpoint, 15}, Weight{Operation::kComplete, 30},
    Weight{Operation::kAdvance, 10},    Weight{Operation::kResume, 5},
};

}  // namespace

std::span<const Weight> weights_of(Stage stage) noexcept {
  switch (stage) {
    case Stage::kWarmUp: return kWarmUp;
    case Stage::kSafety: return kSafety;
    case Stage::kLiveness: return kLiveness;
  }
  return {};
}

}  // namespace cadastre::sim
