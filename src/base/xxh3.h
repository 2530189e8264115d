// XXH3, 64 bits, seed 0, default secret: spreads keys over shards and guards segments against
// accidents. The stable function of xxHash 0.8.0 and later; its values reach the disk. Not for what
// an enemy may choose: take base/blake3.h there. Pure.

#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace cadastre::base {

[[nodiscard]] std::uint64_t xxh3_64(ByteView bytes) noexcept;

// With a seed of one's own, for tables in memory whose keys others choose.
[[nodiscard]] std::uint64_t xxh3_64(ByteView bytes, std::uint64_t seed) noexcept;

}  // namespace cadastre::base
