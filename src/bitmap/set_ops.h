// Set operations over streams (3.6). Each is a stream of its own: nothing is materialised, and memory
// does not depend on the sets.
//
// Operands run in one direction and are at most kOperandsMax; otherwise the first call answers
// kInvalidArgument. Intersection and difference skip what the other side does not have (B-26).

#pragma once

#include <cstddef>
#include <vector>

#include "bitmap/id_stream.h"
#include "bitmap/ids.h"

namespace cadastre::bitmap {

// The intersection; of no operands, the empty set.
[[nodiscard]] Stream all_of(std::vector<Stream> operands);
[[nodiscard]] Stream any_of(std::vector<Stream> operands);
// The same for any number of operands, as a tree; `direction` counts if there are none.
[[nodiscard]] Stream unite_many(std::vector<Stream> operands, Direction direction);
// Ids that are in at least `least` of the operands; `least` is at least 1.
[[nodiscard]] Stream at_least(std::size_t least, std::vector<Stream> operands);
[[nodiscard]] Stream minus(Stream from, Stream what);
// The symmetric difference.
[[nodiscard]] Stream either(Stream a, Stream b);
// Only ids of the range; empty if it is.
[[nodiscard]] Stream within(Stream stream, IdRange range);

}  // namespace cadastre::bitmap
