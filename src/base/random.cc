#include "base/random.h"

#include <cstdint>
#include <random>

namespace cadastre::base {

std::uint64_t os_seed() {
  std::random_device device;
  const std::uint64_t high = device();
  return high << 32 | device();
}

}  // namespace cadastre::base
