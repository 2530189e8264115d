// When form 1 can take the place of form 2 (B-13, B-14). Weighing both means a walk over all ids; these
// are the cases in which a change of one id, or a few counts, say that it is not needed. Pure.

#pragma once

#include <cstddef>
#include <span>

#include "bitmap/ids.h"

namespace cadastre::bitmap {

// What an id finds where it stands, or would stand, among ascending ids.
struct Surroundings {
  bool shares_chunk = false;   // with another id
  bool has_neighbour = false;  // the id before or behind it by one
};
[[nodiscard]] Surroundings surroundings(std::span<const Id> before,
                                        std::span<const Id> behind,
                                        Id id) noexcept;

// Whether an id that was added to ids in form 2, which grew no wider, can make form 1 the smaller one.
[[nodiscard]] bool portable_may_overtake(const Surroundings& found,
                                         unsigned width,
                                         std::size_t ids) noexcept;

// No payload of form 1 with this many containers is smaller.
[[nodiscard]] std::size_t portable_bytes_least(std::size_t containers) noexcept;

}  // namespace cadastre::bitmap
