// Containers from one kind into another, and into the kind that is stored (B-12).
//
// Results lie in `out`, which shares no byte with the operand. Operands are well formed.

#pragma once

#include <cstdint>
#include <span>

#include "bitmap/container.h"
#include "bitmap/ids.h"

namespace cadastre::bitmap {

// As an array or a bitset, by the number of slots that are really there.
[[nodiscard]] ContainerView to_plain(const ContainerView& container, ContainerBuffer& out) noexcept;
[[nodiscard]] ContainerView to_bitset(const ContainerView& container,
                                      ContainerBuffer& out) noexcept;
// `runs` is count_runs(container), and a run container of that many runs is canonical.
[[nodiscard]] ContainerView to_runs(const ContainerView& container,
                                    std::uint32_t runs,
                                    ContainerBuffer& out) noexcept;

// The container itself if its kind is canonical; else in its canonical kind, in `out`.
[[nodiscard]] ContainerView canonical(const ContainerView& container,
                                      ContainerBuffer& out) noexcept;

// The slots of ascending ids of one chunk, as an array or a bitset.
[[nodiscard]] ContainerView from_ids(std::span<const std::uint64_t> ids,
                                     ContainerBuffer& out) noexcept;
// A run container of one run.
[[nodiscard]] ContainerView from_run(std::uint64_t chunk, Run run, ContainerBuffer& out) noexcept;

}  // namespace cadastre::bitmap
