#include "bitmap/form_choice.h"

#include <cstddef>
#include <span>

#include "bitmap/ids.h"
#include "bitmap/limits.h"
#include "bitmap/portable_format.h"

namespace cadastre::bitmap {

Surroundings surroundings(std::span<const Id> before, std::span<const Id> behind, Id id) noexcept {
  Surroundings found;
  if (!before.empty()) {
    found.shares_chunk |= chunk_of(before.back()) == chunk_of(id);
    found.has_neighbour |= id.value() - before.back().value() == 1;
  }
  if (!behind.empty()) {
    found.shares_chunk |= chunk_of(behind.front()) == chunk_of(id);
    found.has_neighbour |= behind.front().value() - id.value() == 1;
  }
  return found;
}

// Form 2 pays `width` bytes for the id. In a chunk that is there, form 1 pays two bytes of an array,
// four of a lonely run, and nothing of a bitset. For a new chunk it pays ten, but only six in a bitmap
// of fewer than four containers with runs, which has no offsets.
bool portable_may_overtake(const Surroundings& found, unsigned width, std::size_t ids) noexcept {
  constexpr unsigned kSlotOfArray = 2;
  constexpr unsigned kChunkAmongRuns = 6;
  if (!found.shares_chunk) return width > kChunkAmongRuns;
  return found.has_neighbour || width > kSlotOfArray || ids > kArrayCardinalityMax;
}

// A container takes a header, an offset and one slot. Where offsets are left out there are at most
// three containers, one of them a run of six bytes, and the bitmap's own header outweighs the rest.
std::size_t portable_bytes_least(std::size_t containers) noexcept {
  constexpr std::size_t kContainerLeast = 4 + 4 + 2;
  return kMapCountBytes + containers * kContainerLeast;
}

}  // namespace cadastre::bitmap
