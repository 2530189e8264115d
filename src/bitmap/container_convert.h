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
// Runs that do not fit `out` are left out: those of a container whose canonical kind is another.
[[nodiscard]] ContainerView to_runs(const ContainerView& container, ContainerBuffer& out) noexcept;

// A bitset of `cardinality` bits, as it is or, where an array is due, as an array in its place.
[[nodiscard]] ContainerView plain_from_bitset(std::uint64_t chunk,
                                              ContainerBuffer& bitset,
                                              std::uint32_t cardinality) noexcept;

// The container itself if its kind is canonical; else in its canonical kind, in `out` (B-12).
[[nodiscard]] ContainerView canonical(const ContainerView& container,
                                      ContainerBuffer& out) noexcept;

// The slots of ascending ids of one chunk, as an array or a bitset.
[[nodiscard]] ContainerView from_ids(std::span<const Id> ids, ContainerBuffer& out) noexcept;
// A run container of one run.
[[nodiscard]] ContainerView from_run(std::uint64_t chunk, Run run, ContainerBuffer& out) noexcept;

}  // namespace cadastre::bitmap
