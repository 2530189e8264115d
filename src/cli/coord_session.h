// CoordSession: what the operations of one command, or of one batch, share.

#pragma once

#include <memory>

#include "cli/options.h"
#include "coord/backend.h"
#include "coord/snapshot.h"

namespace cadastre::cli {

struct CoordSession {
  coord::CoordinationFacade& backend;
  Form form;
  Mode mode = Mode::kOnce;
  std::unique_ptr<coord::AcquireScratch> scratch = std::make_unique<coord::AcquireScratch>();
};

}  // namespace cadastre::cli
