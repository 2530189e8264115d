// The id sets of the bitmap benchmarks, from fixed seeds.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "bitmap/ids.h"

namespace cadastre::bench {

using bitmap::Id;

enum class SetShape : std::uint8_t {
  kRandom,     // uniform in 32 bits
  kRandom64,   // uniform in 64 bits
  kDense,      // six of ten ids: bitsets
  kClustered,  // a thousand neighbours at a time: runs
};

// So many distinct ids (about so many, if clustered), ascending. Two seeds give sets that share what
// chance lets them share; of clusters half.
[[nodiscard]] std::vector<Id> make_set(SetShape shape, std::size_t count, std::uint64_t seed);

[[nodiscard]] std::vector<Id> shuffled(std::vector<Id> ids, base::Random& random);

// Sizes of `keys` sets by Zipf's law, with a tail of 1 to 10 ids.
[[nodiscard]] std::vector<std::uint32_t> zipf_sizes(std::size_t keys, base::Random& random);

}  // namespace cadastre::bench
