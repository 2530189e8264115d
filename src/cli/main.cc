#include "cli/main.h"

#include <cstdio>

#include "cli/version.h"

namespace cadastre::cli {

int run(int /*argc*/, char** /*argv*/) {
  std::puts(version_text().c_str());
  return 0;
}

}  // namespace cadastre::cli
