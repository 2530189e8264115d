#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace cadastre::base {

void check_failed(CheckSite site, const char* message) noexcept {
  std::fprintf(stderr, "CAD_CHECK failed: %s\n  at %s:%d\n  %s\n", site.expression, site.file,
               site.line, message);
  std::fflush(stderr);
  std::abort();
}

}  // namespace cadastre::base
