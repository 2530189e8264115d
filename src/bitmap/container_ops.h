// Set operations on two containers of one chunk.
//
// The result lies in `out`, which shares no byte with an operand; it is of any kind, of
// cardinality 0 if nothing is left, and not always canonical. `canonical` makes it so. Operands are
// well formed and need not be valid: what they hold cannot make a result leave its buffer.
//
// Pure functions.

#pragma once

#include <cstdint>

#include "bitmap/container.h"

namespace cadastre::bitmap {

[[nodiscard]] ContainerView unite(const ContainerView& a,
                                  const ContainerView& b,
                                  ContainerBuffer& out) noexcept;
[[nodiscard]] ContainerView intersect(const ContainerView& a,
                                      const ContainerView& b,
                                      ContainerBuffer& out) noexcept;
// a without b.
[[nodiscard]] ContainerView subtract(const ContainerView& a,
                                     const ContainerView& b,
                                     ContainerBuffer& out) noexcept;
[[nodiscard]] ContainerView symmetric_difference(const ContainerView& a,
                                                 const ContainerView& b,
                                                 ContainerBuffer& out) noexcept;

// The cardinality of the intersection; those of the other results follow from it.
[[nodiscard]] std::uint32_t intersection_cardinality(const ContainerView& a,
                                                     const ContainerView& b) noexcept;
[[nodiscard]] bool intersects(const ContainerView& a, const ContainerView& b) noexcept;

}  // namespace cadastre::bitmap
