// The door of a build without the shim.

#include "log/raft/open_raft_engine.h"

namespace cadastre::log {

bool has_raft_engine() noexcept {
  return false;
}

base::Result<std::unique_ptr<Engine>, OpenError> open_raft_engine(const RaftParts& /*parts*/) {
  return base::fail(OpenError::kCannotOpen,
                    "this build has no raft engine: `cadastre --version` says why");
}

}  // namespace cadastre::log
