// One slot in or out of a container. Both operands are valid and canonical and the result is too; the
// runs are counted only where a run container can win (B-14). The result lies in `out`, which shares
// no byte with the operand.

#pragma once

#include <cstdint>

#include "bitmap/container.h"

namespace cadastre::bitmap {

// `slot` is absent.
[[nodiscard]] ContainerView insert_slot(const ContainerView& container,
                                        std::uint16_t slot,
                                        ContainerBuffer& out) noexcept;
// `slot` is present. Cardinality 0 if it was the only one.
[[nodiscard]] ContainerView remove_slot(const ContainerView& container,
                                        std::uint16_t slot,
                                        ContainerBuffer& out) noexcept;

}  // namespace cadastre::bitmap
