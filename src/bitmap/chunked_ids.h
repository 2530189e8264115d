// ChunkedIds: ascending ids as containers, one chunk after the other. Borrows the ids.

#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "bitmap/container.h"
#include "bitmap/ids.h"

namespace cadastre::bitmap {

class ChunkedIds {
 public:
  explicit ChunkedIds(std::span<const Id> sorted_unique) noexcept : rest_(sorted_unique) {}

  // The ids of the next chunk as an array or a bitset, valid until the next call; nothing at the end.
  [[nodiscard]] std::optional<ContainerView> next() noexcept;

 private:
  std::span<const Id> rest_;
  ContainerBuffer buffer_;
};

// How many ids of the first id's chunk there are at the front. Not for no ids.
[[nodiscard]] std::size_t first_chunk_count(std::span<const Id> sorted) noexcept;

}  // namespace cadastre::bitmap
