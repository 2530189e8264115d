#include "cli/version.h"

#include <string>

namespace cadastre::cli {

std::string version_text() {
  return "cadastre " CAD_VERSION " (" CAD_COMMIT ", g++ " __VERSION__ ")";
}

}  // namespace cadastre::cli
