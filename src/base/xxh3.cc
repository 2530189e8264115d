#include "base/xxh3.h"

#include <cstdint>

#include <xxhash.h>
#if defined(__x86_64__)
#include <xxh_x86dispatch.h>  // The same digest, with the widest registers this processor has.
#endif

#include "base/bytes.h"

namespace cadastre::base {

static_assert(XXH_VERSION_NUMBER >= 800, "XXH3 is stable from 0.8.0 on");

std::uint64_t xxh3_64(ByteView bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t xxh3_64(ByteView bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace cadastre::base
